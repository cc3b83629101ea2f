package sim

import (
	"math"

	"github.com/seed-2cee110a/triage/engine"
	"github.com/seed-2cee110a/triage/policies"
)

// arrive takes the requests that arrive now.
func (r *run) arrive() bool {
	happened := false
	for r.coming() <= r.now {
		o := Outcome{Row: r.take(), Replica: -1, Arrived: r.now, Dispatched: -1, Scheduled: -1, First: -1, Finished: -1}
		happened = true
		if r.result.Decided != nil {
			r.result.Decided[o.Row] = Decided{Affinity: math.NaN(), Score: math.NaN(), Margin: math.NaN(), RunnerUp: -1}
		}
		if reason := r.refusal(o.Row); reason != None {
			r.refuse(&o, reason)
			continue
		}
		if r.admit(&o) {
			r.welcome(&o)
		}
	}
	return happened
}

// line returns the line that a request waits in at the gateway.
func (s *Stage) line(row int32) int32 {
	if s.asks == nil {
		return 0
	}
	return s.asks[row].line
}

// refusal says why no replica would ever serve a request; None if one would.
func (r *run) refusal(row int32) Reason {
	if r.asks != nil {
		return r.asks[row].refused
	}
	switch r.engines[0].Refuse(r.sequence(row, 0)) {
	case engine.Accepted:
		return None
	case engine.TooLong:
		return TooLong
	}
	return NeverFits
}

// welcome lets a request's router pick for it, or holds it there. It joins a queue that is not empty rather than overtake
// it, unless the queue's own order puts it in front.
func (r *run) welcome(o *Outcome) {
	w := r.routerOf(o.Row)
	if !w.queue.Waits(policies.ID(r.line(o.Row))) && r.try(w, o) {
		return
	}
	if r.hold(w, o) && r.reorders {
		r.release(w)
	}
}

// take returns the row of the request that arrives.
func (r *run) take() int32 {
	r.arrived++
	if r.chain != nil {
		return r.chain.take()
	}
	return int32(r.arrived - 1)
}

// try asks the policy where a request is to go and reports false if it has to wait.
func (r *run) try(w *router, o *Outcome) bool {
	row := o.Row
	r.request(&w.request, row, o.Arrived)
	if r.cfg.Signals.live() && w.sampled < r.now {
		w.sampled = r.now
		for i := range r.engines {
			if !r.ward.silent(i) { // what it said last stands
				r.sample(w, i)
			}
		}
	}
	if w.truth {
		r.reveal(w, row)
	}
	d := r.pick(w, o)
	r.decided(row, d)
	switch d.Action {
	case policies.Dispatch:
		return r.dispatch(w, o, d)
	case policies.Shed:
		r.refuse(o, Shed)
	case policies.Fail:
		r.refuse(o, NoReplica)
	default:
		return false
	}
	return true
}

// pick asks the policy about a request.
func (r *run) pick(w *router, o *Outcome) *policies.Decision {
	if o.Retries > 0 {
		return r.elsewhere(w, o)
	}
	return w.pick(r.now)
}

// dispatch sends a request to the replica that was picked. It reports false if that is dead and the request has to wait.
func (r *run) dispatch(w *router, o *Outcome, d *policies.Decision) bool {
	row := o.Row
	if !r.cfg.Signals.live() {
		r.ages = append(r.ages, w.age(d.Replica, r.now))
	}
	r.result.GivenUp += int64(max(0, d.BestHit-d.Hit))
	id := r.place()
	f := &r.flights[id]
	f.outcome, f.hit, f.via = *o, d.Hit, w
	f.outcome.Replica = int32(d.Replica)
	if o.First < 0 {
		f.outcome.Dispatched = r.now
	}
	f.ticket = w.book.Dispatched(r.now.Duration(), &w.request, d)
	if w.observer != nil {
		w.observer.Dispatched(&w.request, &w.view, d)
	}
	f.request, w.request = w.request, f.request // each keeps a buffer for blocks
	if r.ward.dead(d.Replica) {
		return r.bounce(w, o, id)
	}
	if w.truth {
		r.transit.add(d.Replica, r.trace.Leaf[row])
	}
	if reason := r.engines[d.Replica].Submit(r.now, r.sequence(row, id)); reason != engine.Accepted {
		panic("sim: a replica refuses what it had accepted: " + reason.String())
	}
	r.changes(d.Replica)
	r.streams.fresh[d.Replica] = true
	return true
}

// place returns a free place in flights.
func (r *run) place() int32 {
	if n := len(r.landed); n > 0 {
		id := r.landed[n-1]
		r.landed = r.landed[:n-1]
		return id
	}
	r.flights = append(r.flights, flight{})
	return int32(len(r.flights) - 1)
}

// decided keeps a decision for the result.
func (r *run) decided(row int32, d *policies.Decision) {
	if r.result.Decided == nil {
		return
	}
	r.result.Decided[row] = Decided{Affinity: d.Affinity, Score: d.Score, Margin: d.Margin, RunnerUp: int32(d.RunnerUp), Terms: d.Terms}
}

// refuse ends a request that is not served.
func (r *run) refuse(o *Outcome, reason Reason) {
	o.Status, o.Reason, o.Finished = Rejected, reason, r.now
	r.end(o)
}

// end files the outcome of a request that is over.
func (r *run) end(o *Outcome) {
	r.result.Outcomes[o.Row] = *o
	r.result.End = max(r.result.End, o.Finished)
	r.over++
	if r.chain != nil {
		r.chain.ended(o.Row, o.Finished)
	}
}
