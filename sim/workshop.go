package sim

import (
	"github.com/seed-2cee110a/triage/engine"
	"github.com/seed-2cee110a/triage/policies"
)

// workshop is what a run works with and leaves as it found it but for its size, so that the next run on the stage need
// not allocate it again: between runs all flights have landed.
type workshop struct {
	engines []replica
	next    []engine.Time // by replica: nothing is delivered before
	touched []bool        // by replica: next has to be asked again
	loads   []known       // by replica: what is known of its load
	flights []flight
	landed  []int32 // free places in flights
	transit transit
	events  []engine.Event

	resident, active []int32       // adapters of a replica
	ids              []policies.ID // likewise
}

// flight is a request on a replica; its place is the sequence's ID.
type flight struct {
	outcome Outcome
	hit     int32 // believed at dispatch
	found   int32 // truly hit on this replica
	ticket  policies.Ticket
	via     *router
	request policies.Request
}

// resetter is a replica that can be made cold and idle again.
type resetter interface{ Reset() }

// borrow returns a workshop with cold, idle replicas.
func (s *Stage) borrow() (*workshop, error) {
	if w, ok := s.idle.Get().(*workshop); ok {
		return w, nil
	}
	n := s.cfg.Replicas
	w := &workshop{next: make([]engine.Time, n), touched: make([]bool, n), loads: make([]known, n), transit: make(transit, n)}
	for i := range n {
		e, err := s.build(i)
		if err != nil {
			return nil, err
		}
		w.engines = append(w.engines, e)
		w.next[i] = engine.Never
	}
	return w, nil
}

// giveBack keeps the workshop of a run that went to its end.
func (s *Stage) giveBack(w *workshop) {
	clear(w.loads)
	for _, e := range w.engines {
		r, ok := e.(resetter)
		if !ok {
			return
		}
		r.Reset()
	}
	s.idle.Put(w)
}
