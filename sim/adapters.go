package sim

import (
	"slices"

	"github.com/seed-2cee110a/triage/engine"
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

// fit takes the slots for adapters out of a configuration if the trace names none, so that nothing is said of them.
func (s *Stage) fit(cfg Config) Config {
	slots := cfg.Engine.MaxLoRAs > 0 || slices.ContainsFunc(cfg.Pools, func(p Pool) bool { return p.Engine.MaxLoRAs > 0 })
	s.adapters = slots && slices.ContainsFunc(s.trace.Adapter[:cfg.Limit], func(a int32) bool { return a != 0 })
	if s.adapters {
		return cfg
	}
	none := func(e *engine.Config) { e.MaxLoRAs, e.AdapterLoadTime, e.MixedAdapters = 0, 0, 0 }
	none(&cfg.Engine)
	cfg.Pools = slices.Clone(cfg.Pools)
	for i := range cfg.Pools {
		none(&cfg.Pools[i].Engine)
	}
	return cfg
}

// told returns which adapters a replica says it has at this instant, nil if they play no part. It is good until the next.
func (r *run) told(i int) []policies.ID {
	e, ok := r.engines[i].(adapted)
	if !r.adapters || !ok || r.of[i].cfg.Engine.MaxLoRAs == 0 {
		return nil
	}
	r.resident, r.active = r.resident[:0], r.active[:0]
	e.Adapters(&r.resident, &r.active)
	told := r.active
	if r.cfg.AdapterSignal == AdaptersResident {
		told = r.resident
	}
	r.ids = r.ids[:0]
	for _, a := range told {
		r.ids = append(r.ids, policies.ID(a))
	}
	return r.ids
}

// tell files which adapters a replica said it has.
func (w *router) tell(p *report, slots int, resident bool) {
	rep := &w.view.Replicas[p.replica]
	rep.Adapters = append(rep.Adapters[:0], p.told...)
	rep.Signals.Have |= policies.HasAdapters
	rep.Signals.MaxAdapters, rep.Signals.Resident = int32(slots), resident
}
