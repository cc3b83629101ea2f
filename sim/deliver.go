package sim

import (
	"github.com/seed-2cee110a/triage/engine"
)

// deliver takes the tokens that have reached the gateway by now, replica by replica and each one's in order of time.
func (r *run) deliver() bool {
	happened := false
	for i, n := range r.next {
		if n > r.now {
			continue
		}
		r.touched[i] = true
		r.events = r.events[:0]
		r.engines[i].Advance(r.now, &r.events)
		for k := range r.events {
			if v := &r.events[k]; v.Kind == engine.FirstToken {
				r.firstToken(v)
			} else {
				r.lastToken(v)
			}
		}
		if len(r.events) > 0 {
			happened, r.streams.fresh[i] = true, true
		}
	}
	return happened
}

func (r *run) firstToken(v *engine.Event) {
	f := &r.flights[v.Seq]
	o := &f.outcome
	f.found = v.Hit
	if o.First < 0 { // of a request that is sent again, the first token ever stands
		o.First, o.Scheduled, o.Hit = v.At, v.Scheduled, v.Hit
	}
	f.via.book.FirstToken(v.At.Duration(), &f.ticket)
	if f.via.truth {
		r.transit.remove(f.ticket.Replica, r.trace.Leaf[o.Row])
	}
	if f.via.observer != nil {
		f.via.observer.FirstToken(v.At.Duration(), &f.request, f.ticket.Replica)
	}
}

func (r *run) lastToken(v *engine.Event) {
	f := &r.flights[v.Seq]
	o := &f.outcome
	o.Finished, o.Preemptions = v.At, v.Preemptions
	r.end(o)
	f.ticket.Output = r.trace.Output[o.Row]
	if r.limiter != nil {
		r.limiter.Charge(v.At.Duration(), f.request.Tenant, max(1, f.ticket.Output))
	}
	f.via.release(v.At, f)
	if f.via.finisher != nil {
		f.via.finisher.Finished(v.At.Duration(), &f.request, f.ticket.Replica, f.ticket.Output)
	}
	if f.via.believes() {
		r.result.Believed += int64(f.hit)
	}
	rep := &r.result.Replicas[o.Replica]
	rep.Requests++
	rep.PromptTokens += int64(f.request.PromptTokens)
	rep.HitTokens += int64(f.found)
	r.landed = append(r.landed, v.Seq)
}
