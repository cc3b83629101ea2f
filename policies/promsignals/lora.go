package promsignals

import (
	"math"
	"slices"
	"strings"

	"github.com/seed-2cee110a/triage/policies"
)

const loraInfo = "vllm:lora_requests_info"

// loraList is the newest list of an engine's adapters. An older one stays on the page until the engine restarts.
type loraList struct {
	engine           string
	time             float64 // at which it was current, the value of the sample
	running, waiting string
}

// loraLists has one list an engine.
type loraLists []loraList

func (l *loraLists) add(s *sample) {
	if math.IsNaN(s.value) {
		return
	}
	list := loraList{engineOf(s), s.value, s.get("running_lora_adapters"), s.get("waiting_lora_adapters")}
	for i := range *l {
		if known := &(*l)[i]; known.engine == list.engine {
			if list.time > known.time {
				*known = list
			}
			return
		}
	}
	*l = append(*l, list)
}

// join tells the adapters of all engines.
func (l loraLists) join(m *Metrics) {
	if len(l) == 0 {
		return
	}
	m.Signals.Have |= policies.HasAdapters
	for _, list := range l {
		m.Running = append(m.Running, names(list.running)...)
		m.Waiting = append(m.Waiting, names(list.waiting)...)
	}
	m.Running, m.Waiting = unique(m.Running), unique(m.Waiting)
}

func names(list string) []string {
	var all []string
	for name := range strings.SplitSeq(list, ",") {
		if name = strings.TrimSpace(name); name != "" {
			all = append(all, name)
		}
	}
	return all
}

func unique(names []string) []string {
	slices.Sort(names)
	return slices.Compact(names)
}
