package enginetest

import (
	"fmt"
	"slices"

	"github.com/seed-2cee110a/triage/engine"
)

// refLoRAs is the adapters on the GPU: those that are resident, and of these the ones without a running sequence, in
// the order in which they became idle.
type refLoRAs struct {
	resident []int32
	idle     []int32
}

// adapter returns the adapter that s needs, 0 if adapters are ignored.
func (r *Reference) adapter(s *refSeq) int32 {
	if r.cfg.MaxLoRAs == 0 {
		return 0
	}
	return s.Adapter
}

// adaptersOf returns the distinct adapters of some sequences in ascending order.
func (r *Reference) adaptersOf(seqs []*refSeq) []int32 {
	var all []int32
	for _, s := range seqs {
		if a := r.adapter(s); a != 0 && !slices.Contains(all, a) {
			all = append(all, a)
		}
	}
	slices.Sort(all)
	return all
}

// tooMany says whether s would bring one adapter too many into the batch.
func (f *refForming) tooMany(s *refSeq) bool {
	a, in := f.adapter(s), f.adaptersOf(f.batch)
	return a != 0 && !slices.Contains(in, a) && len(in) == f.cfg.MaxLoRAs
}

// serveAdapter has the adapter of s on the GPU, now that s runs.
func (f *refForming) serveAdapter(s *refSeq) {
	a := f.adapter(s)
	if a == 0 {
		return
	}
	l := &f.loras
	if i := slices.Index(l.idle, a); i >= 0 {
		l.idle = slices.Delete(l.idle, i, i+1)
	}
	if slices.Contains(l.resident, a) {
		return
	}
	if len(l.resident) == f.cfg.MaxLoRAs {
		out := l.idle[0]
		l.idle = slices.Delete(l.idle, 0, 1)
		i := slices.Index(l.resident, out)
		l.resident = slices.Delete(l.resident, i, i+1)
		f.seen.unloads++
	}
	l.resident = append(l.resident, a)
	f.loads++
	f.stats.AdapterLoads++
	f.seen.loads++
}

// leaveAdapter notes that s runs no longer.
func (r *Reference) leaveAdapter(s *refSeq) {
	a := r.adapter(s)
	if a != 0 && !slices.Contains(r.adaptersOf(r.running), a) {
		r.loras.idle = append(r.loras.idle, a)
	}
}

// stepCost is the cost model for the batch just formed.
func (r *Reference) stepCost() engine.CostModel {
	if r.cfg.MixedAdapters == 0 || len(r.adaptersOf(r.batch)) < 2 {
		return r.cost
	}
	r.seen.mixed++
	return engine.Scaled(r.cost, r.cfg.MixedAdapters)
}

// Adapters appends the resident adapters, and those of running and waiting sequences.
func (r *Reference) Adapters(resident, active *[]int32) {
	in := slices.Clone(r.loras.resident)
	slices.Sort(in)
	*resident = append(*resident, in...)
	all := slices.Clone(r.running)
	for _, s := range r.waiting {
		if s.join <= r.now {
			all = append(all, s)
		}
	}
	*active = append(*active, r.adaptersOf(all)...)
}

// checkLoRAs: there are no more adapters than slots, all that run are resident, and the others are idle.
func (r *Reference) checkLoRAs() error {
	l, run := r.loras, r.adaptersOf(r.running)
	if len(l.resident) > r.cfg.MaxLoRAs || len(slices.Compact(slices.Sorted(slices.Values(l.resident)))) != len(l.resident) {
		return fmt.Errorf("adapters %v are resident, want at most %d different ones", l.resident, r.cfg.MaxLoRAs)
	}
	if len(run)+len(l.idle) != len(l.resident) {
		return fmt.Errorf("adapters %v run and %v are idle, %v are resident", run, l.idle, l.resident)
	}
	for _, a := range append(run, l.idle...) {
		if !slices.Contains(l.resident, a) {
			return fmt.Errorf("adapter %d runs or is idle, and %v are resident", a, l.resident)
		}
	}
	return nil
}
