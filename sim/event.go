package sim

import (
	"slices"

	"github.com/seed-2cee110a/triage/engine"
)

// kind is something that can happen at an instant. They happen in this order: tokens that are delivered are safe from a
// crash and free room before replicas report, they report before a held request is tried again, and that before a new one
// looks.
type kind uint8

const (
	delivery kind = iota // tokens reach the gateway, by replica
	fault                // replicas crash, slow down, come back, are cordoned; in the order of the timeline
	scrape               // replicas are asked, by replica and router
	receipt              // reports reach the routers, in order of time
	deadline             // held requests give up, in queue order
	repick               // held requests are tried again, in queue order, then those that a crash cut off, if anything above happened
	arrival              // requests arrive, in trace order
	numKinds
)

// instant returns the next instant at which more can happen than that tokens are delivered, Never when no work is left.
// Deliveries in between wait until then: they change nothing that anybody looks at sooner, unless a request is held. With
// jumps switched off nothing waits, so that such a run is a plain one, event by event, to compare with; nor does it where
// every delivery has an effect elsewhere (run.eventful).
func (r *run) instant() engine.Time {
	if r.streams.next != engine.Never && !r.everyScrape {
		r.skipScrapes()
	}
	t := min(r.giveUp(), r.look())
	switch {
	case t == engine.Never: // no request will look at a report any more
		return r.drained()
	case r.holding():
		t = min(t, slices.Min(r.next))
	case r.eventful:
		t = min(t, slices.Min(r.next))
	}
	return min(t, r.streams.next, r.streams.arrival()) // a report is filed before what is delivered after it
}

// drained returns an instant soon after the next delivery, Never if there is none. A stretch of time is taken at once,
// not all that is left, so that events do not pile up.
func (r *run) drained() engine.Time {
	soonest := slices.Min(r.next)
	if soonest >= lastInstant || r.eventful {
		return soonest
	}
	return min(soonest+stretch, lastInstant)
}

// stretch is how much of the time after the last arrival is played at once.
const stretch = 10 * engine.Second

// look returns the first instant, as far as is known, at which the router may look at the replicas although no request
// is held: the next arrival, what a delivery may bring about with closed sessions, or a fault while there is work.
func (r *run) look() engine.Time {
	t := r.coming()
	if r.chain == nil && r.ward == nil {
		return t
	}
	soonest := slices.Min(r.next)
	if r.chain != nil {
		t = min(t, soonest)
	}
	if min(t, soonest, r.giveUp()) < engine.Never {
		t = min(t, r.nextFault())
	}
	return t
}

// coming returns when the next request arrives, Never if none does or none is known to.
func (r *run) coming() engine.Time {
	if r.chain != nil {
		return r.chain.next()
	}
	if r.arrived == len(r.arrivals) {
		return engine.Never
	}
	return r.arrivals[r.arrived]
}

// happen lets everything of a kind happen that is due now and reports whether anything did.
func (r *run) happen(k kind) bool {
	switch k {
	case delivery:
		return r.deliver()
	case fault:
		return r.strike()
	case scrape:
		return r.scrape()
	case receipt:
		return r.receive()
	case deadline:
		return r.expire()
	case repick:
		return r.retry()
	case arrival:
		return r.arrive()
	}
	panic("sim: unknown kind of event")
}
