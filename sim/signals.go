package sim

import (
	"slices"
	"time"

	"github.com/seed-2cee110a/triage/engine"
	"github.com/seed-2cee110a/triage/policies"
)

// Signals says how the replicas' numbers reach the routers. Without Scrape and Push they are live: the numbers of the very
// instant at which a router looks.
type Signals struct {
	Scrape time.Duration  // interval at which a replica is asked
	Push   time.Duration  // a replica tells whenever something changed, and is heard so much later
	Delay  time.Duration  // from a scrape to its arrival at the router
	Phase  Phase          // of scrapes
	Fields policies.Field // what is reported; 0 is all
}

// Phase says when replicas are scraped within an interval.
type Phase string

const (
	Apart    Phase = "spread" // evenly over the interval, by replica and router
	Together Phase = "same"   // all at once
)

func (s *Signals) live() bool { return s.Scrape == 0 && s.Push == 0 }

// report is what a replica said of itself, on its way to a router.
type report struct {
	router  *router // nil: to all
	replica int
	taken   engine.Time
	due     engine.Time
	load    engine.Load
	told    []policies.ID // adapters, if they play a part
}

// streams are the reports of a run. With scrapes every router asks every replica on its own; stream k%n is that of replica
// k/routers%replicas to router k%routers, and report k is taken in round k/n.
type streams struct {
	n     int64       // streams
	taken int64       // reports taken or left out
	next  engine.Time // when the next is taken, Never without scrapes
	inbox []report    // on their way, in order of arrival
	read  int         // those of inbox that have arrived
	fresh []bool      // by replica: it has something to push
}

func newStreams(s *Stage) streams {
	st := streams{n: int64(len(s.replicas) * s.routers()), next: engine.Never, fresh: make([]bool, len(s.replicas))}
	if s.cfg.Signals.Scrape > 0 {
		st.next = 0
	}
	return st
}

// scrape takes the reports that are due.
func (r *run) scrape() bool {
	happened := false
	st := &r.streams
	delay := engine.FromDuration(r.cfg.Signals.Delay)
	for st.next <= r.now {
		k := int(st.taken % st.n)
		w, i := r.routers[k%len(r.routers)], k/len(r.routers)
		switch {
		case r.ward.silent(i):
		case delay == 0:
			r.sample(w, i)
		default:
			st.inbox = append(st.inbox, r.heard(w, i, r.now+delay))
		}
		st.taken++
		st.next = r.scrapeTime(st.taken)
		happened = happened || delay == 0
	}
	return happened
}

// receive files the reports that have arrived by now.
func (r *run) receive() bool {
	st := &r.streams
	before := st.read
	for st.arrival() <= r.now {
		p := &st.inbox[st.read]
		for _, w := range r.routers {
			if p.router == nil || p.router == w {
				r.file(w, p)
			}
		}
		st.read++
	}
	happened := st.read > before
	if st.read == len(st.inbox) {
		st.inbox, st.read = st.inbox[:0], 0
	} else if st.read > 1024 && 2*st.read > len(st.inbox) {
		st.inbox, st.read = slices.Delete(st.inbox, 0, st.read), 0
	}
	return happened
}

// arrival returns when the next report on its way arrives, Never if none is.
func (st *streams) arrival() engine.Time {
	if st.read == len(st.inbox) {
		return engine.Never
	}
	return st.inbox[st.read].due
}

// push sends what a replica says after a request came to it, got its first token or left.
func (r *run) push(i int) {
	if !r.streams.fresh[i] {
		return
	}
	r.streams.fresh[i] = false
	if !r.ward.silent(i) {
		r.streams.inbox = append(r.streams.inbox, r.heard(nil, i, r.now+engine.FromDuration(r.cfg.Signals.Push)))
	}
}

// heard returns what a replica says of itself at this instant.
func (r *run) heard(w *router, i int, due engine.Time) report {
	return report{w, i, r.now, due, r.engines[i].Load(r.now), slices.Clone(r.told(i))}
}

// sample files what a replica says of itself at this instant. Most replicas of a large cluster are in the middle of a step
// then, and say what they said before.
func (r *run) sample(w *router, i int) {
	k := &r.loads[i]
	if r.now >= k.until {
		k.load, k.asked = r.engines[i].Load(r.now), k.asked+1
		k.until = r.engines[i].Still()
	}
	if w.filed[i] == k.asked {
		w.again(i, r.now, &r.of[i].cfg.Engine)
		return
	}
	w.filed[i] = k.asked
	p := report{w, i, r.now, r.now, k.load, r.told(i)}
	r.file(w, &p)
}

// known is the load that a replica told of last, and until when it and the adapters stay what they are.
type known struct {
	load  engine.Load
	until engine.Time
	asked int // times that it was asked
}

// changes notes that something other than time has changed a replica.
func (r *run) changes(i int) {
	r.touched[i] = true
	r.loads[i].until = 0
}

// file gives a router a report.
func (r *run) file(w *router, p *report) {
	c := &r.of[p.replica].cfg.Engine
	w.signal(p, c, r.cfg.Signals.Fields)
	if r.adapters && c.MaxLoRAs > 0 {
		w.tell(p, c.MaxLoRAs, r.cfg.AdapterSignal == AdaptersResident)
	}
}

// skipScrapes leaves out reports that nobody will look at: with nothing held the next look is that of the next arrival, and
// a report whose successor is there before it is forgotten by then. One that dies at a fault may have no successor at that
// instant.
func (r *run) skipScrapes() {
	st, interval := &r.streams, engine.FromDuration(r.cfg.Signals.Scrape)
	last := min(r.look(), r.nextFault()-1)
	if last >= engine.Never-1 || r.holding() {
		return
	}
	if last -= engine.FromDuration(r.cfg.Signals.Delay); r.scrapeTime(st.taken+st.n) > last {
		return
	}
	k := max(st.taken, int64((last-interval)/interval)*st.n)
	for r.scrapeTime(k+st.n) <= last {
		k++
	}
	st.taken, st.next = k, r.scrapeTime(k)
}

// scrapeTime returns when report k is taken.
func (r *run) scrapeTime(k int64) engine.Time {
	interval := engine.FromDuration(r.cfg.Signals.Scrape)
	at := engine.Time(k/r.streams.n) * interval
	if r.cfg.Signals.Phase == Together {
		return at
	}
	i, of := engine.Time(k%r.streams.n), engine.Time(r.streams.n)
	return at + interval/of*i + interval%of*i/of
}
