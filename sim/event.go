package sim

import "github.com/seed-2cee110a/triage/engine"

// kind is something that can happen at an instant. They happen in this order: tokens that are delivered free room
// before replicas report, they report before a held request is tried again, and that before a new one looks.
type kind uint8

const (
	delivery kind = iota // tokens reach the gateway, by replica
	scrape               // a replica reports, by replica
	deadline             // held requests give up, in queue order
	repick               // held requests are tried again, in queue order, if anything above happened
	arrival              // requests arrive, in trace order
	numKinds
)

// instant returns the next instant at which anything can happen, Never when no work is left.
func (r *run) instant() engine.Time {
	if r.nextScrape != engine.Never && !r.everyScrape {
		r.skipScrapes()
	}
	t := min(r.gate.deadline(), r.coming())
	if t != engine.Never { // a report that no request can look at any more is not taken
		t = min(t, r.nextScrape)
	}
	soonest := engine.Never
	for i, n := range r.next {
		if n < soonest {
			soonest, r.soonest = n, i
		}
	}
	return min(t, soonest)
}

// coming returns when the next request arrives, Never if none does.
func (r *run) coming() engine.Time {
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
	case scrape:
		return r.report()
	case deadline:
		return r.expire()
	case repick:
		return r.retry()
	case arrival:
		return r.arrive()
	}
	panic("sim: unknown kind of event")
}
