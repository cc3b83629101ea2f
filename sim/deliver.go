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
		happened = happened || len(r.events) > 0
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
	r.router.book.FirstToken(v.At.Duration(), &f.ticket)
	if r.router.truth {
		r.transit.remove(f.ticket.Replica, r.trace.Leaf[o.Row])
	}
	if r.router.observer != nil {
		r.router.observer.FirstToken(v.At.Duration(), &f.request, f.ticket.Replica)
	}
}

func (r *run) lastToken(v *engine.Event) {
	f := &r.flights[v.Seq]
	o := &f.outcome
	o.Finished, o.Preemptions = v.At, v.Preemptions
	r.end(o)
	r.router.release(v.At, f)
	if r.router.believes() {
		r.result.Believed += int64(f.hit)
	}
	rep := &r.result.Replicas[o.Replica]
	rep.Requests++
	rep.PromptTokens += int64(f.request.PromptTokens)
	rep.HitTokens += int64(f.found)
	r.landed = append(r.landed, v.Seq)
}

// report takes the replicas' reports that are due. Replica i of n reports at (i/n + m)*interval.
func (r *run) report() bool {
	happened := false
	for r.nextScrape <= r.now {
		i := int(r.scrapes % int64(len(r.engines)))
		if !r.ward.dead(i) {
			r.sample(i)
		}
		r.scrapes++
		r.nextScrape = r.scrapeTime(r.scrapes)
		happened = true
	}
	return happened
}

// skipScrapes leaves out reports that nobody will look at: with nothing held the next look is that of the next arrival, and
// a report whose successor comes before it is forgotten by then. One that dies at a fault may have no successor at that
// instant.
func (r *run) skipScrapes() {
	n, interval := int64(len(r.engines)), engine.FromDuration(r.cfg.Signals.Scrape)
	last := min(r.look(), r.nextFault()-1)
	if last >= engine.Never-1 || r.gate.len() > 0 || r.scrapeTime(r.scrapes+n) > last {
		return
	}
	k := max(r.scrapes, int64((last-interval)/interval)*n)
	for r.scrapeTime(k+n) <= last {
		k++
	}
	r.scrapes, r.nextScrape = k, r.scrapeTime(k)
}

func (r *run) scrapeTime(k int64) engine.Time {
	n := int64(len(r.engines))
	interval := engine.FromDuration(r.cfg.Signals.Scrape)
	i, of := engine.Time(k%n), engine.Time(n)
	return engine.Time(k/n)*interval + interval/of*i + interval%of*i/of
}

// expire lets held requests give up.
func (r *run) expire() bool {
	happened := false
	for r.gate.deadline() <= r.now {
		r.refuse(&r.result.Outcomes[r.gate.pop(r.gate.next())], Deadline)
		happened = true
	}
	return happened
}

// retry tries the held requests again, each line until one has to go on waiting: nobody overtakes in a line.
func (r *run) retry() bool {
	happened := false
	for l := r.gate.next(); l != nil; l = r.gate.next() {
		if l.stuck = !r.try(&r.result.Outcomes[l.front()]); !l.stuck {
			r.gate.pop(l)
			happened = true
		}
	}
	r.gate.unstick()
	r.resend()
	return happened
}

// sample files what a replica says of itself at this instant.
func (r *run) sample(i int) {
	r.router.signal(i, r.now, r.engines[i].Load(r.now), &r.of[i].cfg.Engine)
	if r.adapters {
		r.tellAdapters(i)
	}
}
