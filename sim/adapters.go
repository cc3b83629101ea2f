package sim

import (
	"slices"

	"github.com/seed-2cee110a/triage/policies"
)

// AdapterSignal says which adapters replicas tell of.
type AdapterSignal string

const (
	AdaptersActive   AdapterSignal = "active"   // those of running and waiting requests, as vLLM's lora_requests_info
	AdaptersResident AdapterSignal = "resident" // those in a slot, in use or idle
)

// AdapterSignals are the values of AdapterSignal.
var AdapterSignals = []AdapterSignal{AdaptersActive, AdaptersResident}

// adapted is a replica that serves adapters.
type adapted interface {
	Adapters(resident, active *[]int32)
}

// servesAdapters says whether adapters play a part: the trace names some and replicas have slots for them.
func (s *Stage) servesAdapters() bool {
	if !slices.ContainsFunc(s.pools, func(p ready) bool { return p.cfg.Engine.MaxLoRAs > 0 }) {
		return false
	}
	for row := range s.cfg.Limit {
		if s.trace.Adapter[row] != 0 {
			return true
		}
	}
	return false
}

// tellAdapters files which adapters a replica says it has at this instant.
func (r *run) tellAdapters(i int) {
	e, ok := r.engines[i].(adapted)
	if !ok || r.of[i].cfg.Engine.MaxLoRAs == 0 {
		return
	}
	r.resident, r.active = r.resident[:0], r.active[:0]
	e.Adapters(&r.resident, &r.active)
	told := r.active
	if r.cfg.AdapterSignal == AdaptersResident {
		told = r.resident
	}
	rep := &r.router.view.Replicas[i]
	rep.Adapters = rep.Adapters[:0]
	for _, a := range told {
		rep.Adapters = append(rep.Adapters, policies.ID(a))
	}
	rep.Signals.Have |= policies.HasAdapters
	rep.Signals.MaxAdapters = int32(r.of[i].cfg.Engine.MaxLoRAs)
}
