package promsignals

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-2cee110a/triage/policies"
)

const loraInfo = "vllm:lora_requests_info"

// loraList is the newest list of an engine's adapters. An older one stays on the page until the engine restarts.
type loraList struct {
	engine           string
	time             float64 // at which it was current, the value of the sample
	running, waiting string
	slots            int64 // adapter slots, 0 if it does not say
}

// loraLists has one list an engine.
type loraLists []loraList

func (l *loraLists) add(s *sample) error {
	if math.IsNaN(s.value) {
		return nil
	}
	list := loraList{engine: engineOf(s), time: s.value, running: s.get("running_lora_adapters"), waiting: s.get("waiting_lora_adapters")}
	var err error
	if text := s.get("max_lora"); text != "" {
		if list.slots, err = strconv.ParseInt(text, 10, 32); err != nil || list.slots < 0 {
			return s.errorf("label max_lora is %q, want a whole number, at least 0", text)
		}
	}
	for i := range *l {
		if known := &(*l)[i]; known.engine == list.engine {
			if list.time > known.time {
				*known = list
			}
			return nil
		}
	}
	*l = append(*l, list)
	return nil
}

// join tells the adapters of all engines, and the sum of their slots if each says how many it has.
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
	m.Signals.MaxAdapters = l.slots(m.Engines)
}

func (l loraLists) slots(engines int) int32 {
	if len(l) < engines {
		return 0
	}
	sum := int64(0)
	for _, list := range l {
		if list.slots == 0 {
			return 0
		}
		sum += list.slots
	}
	return int32(min(sum, math.MaxInt32))
}

// inUse returns the adapters with a request running or waiting, each once: vLLM may have one in both lists.
func (m *Metrics) inUse() []string { return unique(slices.Concat(m.Running, m.Waiting)) }

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
