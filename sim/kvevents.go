package sim

import (
	"github.com/seed-2cee110a/triage/policies"
)

// watched is a replica that can say what its prefix cache gained and lost.
type watched interface {
	Watch()
	Changes(tell func(node, was, is int32))
}

// listen lets the replicas note what they store and evict, if a policy wants to know. It is told at the instants that the
// loop visits, as vLLM publishes its KV events after a step. Only what more than one request of the trace can hit is told.
func (r *run) listen() {
	for _, w := range r.routers {
		if s, ok := w.policy.(policies.EventSink); ok && s.WantsEvents() {
			r.sinks = append(r.sinks, s)
		}
	}
	if len(r.sinks) == 0 {
		return
	}
	r.eventful = true
	for i := range r.engines {
		r.watch(i)
	}
}

// watch lets a replica with a cold cache note what it stores and evicts.
func (r *run) watch(i int) {
	if w, ok := r.engines[i].(watched); ok && len(r.sinks) > 0 {
		w.Watch()
	}
}

// publish tells the policies what a replica stored and evicted.
func (r *run) publish(i int) {
	w, ok := r.engines[i].(watched)
	if !ok || r.ward.silent(i) {
		return
	}
	f := &r.trace.Forest
	w.Changes(func(node, was, is int32) {
		if is < was {
			for _, s := range r.sinks {
				s.Evicted(r.now.Duration(), i, f.Hash[node], was-is)
			}
			return
		}
		r.stored = r.blocks(r.stored[:0], node) // all before the node is there with it: a cache is closed under prefixes
		r.stored[len(r.stored)-1].Tokens = is
		for _, s := range r.sinks {
			s.Stored(r.now.Duration(), i, r.stored)
		}
	})
}
