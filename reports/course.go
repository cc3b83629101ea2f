package reports

import (
	"cmp"
	"slices"

	"github.com/seed-2cee110a/triage/engine"
	"github.com/seed-2cee110a/triage/sim"
)

// course is how a run went, window by window, as its outcomes tell. Of a request that a crash cut off only the last replica
// is known.
type course struct {
	from float64 // where the first window begins, seconds since the run began
	size float64 // of a window, seconds
	all  []stretch
}

// stretch is one window of a course.
type stretch struct {
	arrived  int
	refused  int       // for lack of room
	depth    int       // requests held at the gateway when it begins
	held     float64   // mean requests held at the gateway
	queueing float64   // seconds with any held
	busy     float64   // mean replicas with requests in flight
	spare    []float64 // by replica: seconds in which it looked idle while requests were held that it might have served
}

// courseWindows is how many windows a run is cut into.
const courseWindows = 48

// newCourse follows a run from its first arrival to its end, nil if it takes no time.
func newCourse(r *sim.Result) *course {
	from := r.Outcomes[0].Arrived
	c := &course{from: from.Seconds(), size: (r.End - from).Seconds() / courseWindows, all: make([]stretch, courseWindows)}
	if !(c.size > 0) {
		return nil
	}
	for i := range c.all {
		c.all[i].spare = make([]float64, len(r.Replicas))
	}
	newPlayback(c, r).run(visits(r))
	for i := range r.Outcomes {
		o := &r.Outcomes[i]
		c.all[c.window(o.Arrived.Seconds())].arrived++
		if lacksRoom(o) {
			c.all[c.window(o.Finished.Seconds())].refused++
		}
	}
	return c
}

// window returns the window of an instant.
func (c *course) window(at float64) int { return min(int((at-c.from)/c.size), len(c.all)-1) }

// span returns when a window is.
func (c *course) span(w int) *span {
	return &span{c.from + float64(c.size*float64(w)), c.from + float64(c.size*float64(w+1))}
}

// lacksRoom says that a request was refused because there was no room for it in time.
func lacksRoom(o *sim.Outcome) bool {
	return o.Status == sim.Rejected && (o.Reason == sim.Deadline || o.Reason == sim.QueueFull || o.Reason == sim.Shed)
}

// move is a request that comes to (1) or leaves (-1) a place.
type move struct {
	at     engine.Time
	place  int // a replica, or ^pool: the gateway's queue for it; ^pools is that of requests that never went anywhere
	by     int
	tokens int64 // that it holds there, with the sign of by; 0: it only begins or ends to wait there for its first step
}

// visits lists the moves of a run in order of time, those that come before those that leave.
func visits(r *sim.Result) []move {
	var out []move
	between := func(from, to engine.Time, place int, tokens int64) {
		out = append(out, move{from, place, 1, tokens}, move{to, place, -1, -tokens})
	}
	pools := max(1, len(r.Config.Pools))
	for i := range r.Outcomes {
		o := &r.Outcomes[i]
		left, pool := o.Finished, choose(pools > 1, pools, 0)
		tokens := int64(r.Trace.Prompt[o.Row]) + int64(max(1, r.Trace.Output[o.Row]))
		if o.Dispatched >= 0 {
			left, pool = o.Dispatched, r.Replicas[o.Replica].Pool
			between(o.Dispatched, o.Finished, int(o.Replica), tokens)
			if o.Scheduled > o.Dispatched {
				between(o.Dispatched, o.Scheduled, int(o.Replica), 0)
			}
		}
		if o.Held {
			between(o.Arrived, left, ^pool, tokens)
		}
	}
	slices.SortStableFunc(out, func(a, b move) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(b.by, a.by)) })
	return out
}

func choose[T any](yes bool, a, b T) T {
	if yes {
		return a
	}
	return b
}

// playback goes through a run in order of time.
type playback struct {
	*course
	at       float64
	now      int // window
	replicas []workplace
	held     []int // by pool, then those of requests that never went anywhere
	total    int   // held
	busy     int   // replicas
}

// workplace is what a replica has to do.
type workplace struct {
	pool     int
	room     int64 // tokens it may hold and look idle; 0 if it does only with nothing in flight
	steady   bool  // no fault touches it, which would be a good reason to be idle
	inFlight int
	waiting  int // of those, requests without a first step
	tokens   int64
}

func newPlayback(c *course, r *sim.Result) *playback {
	p := &playback{course: c, at: c.from, held: make([]int, max(1, len(r.Config.Pools))+1)}
	for _, rep := range r.Replicas {
		x := workplace{pool: rep.Pool, steady: !slices.ContainsFunc(r.Config.Faults, func(f sim.Fault) bool { return f.Replica == rep.Name })}
		if g := &r.Config.Gateway; g.InFlight == 0 && g.InFlightTokens == 0 { // a limit may keep an engine from filling up on purpose
			x.room = int64(idleKV * float64(kvTokens(r.Config, rep.Pool)))
		}
		p.replicas = append(p.replicas, x)
	}
	return p
}

// idleKV is the share of the KV capacity in use up to which a replica looks idle when no request waits there.
const idleKV = 0.5

func kvTokens(cfg sim.Config, pool int) int64 {
	if len(cfg.Pools) == 0 {
		return cfg.KVTokens
	}
	return cfg.Pools[pool].KVTokens
}

// idle says that a replica looks idle, as its metrics tell: nothing waits, and there is plenty of room.
func (x *workplace) idle() bool {
	return x.steady && (x.inFlight == 0 || x.waiting == 0 && x.tokens < x.room)
}

func (p *playback) run(all []move) {
	for _, m := range all {
		p.wait(m.at.Seconds())
		if m.place < 0 {
			p.held[^m.place] += m.by
			p.total += m.by
			continue
		}
		x := &p.replicas[m.place]
		was := x.inFlight > 0
		if m.tokens == 0 {
			x.waiting += m.by
		} else {
			x.inFlight, x.tokens = x.inFlight+m.by, x.tokens+m.tokens
		}
		if is := x.inFlight > 0; is != was {
			p.busy += m.by
		}
	}
}

// wait lets time pass as things stand. The last window has no end.
func (p *playback) wait(until float64) {
	for p.at < until {
		border := p.span(p.now).to
		if border >= until || p.now == len(p.all)-1 {
			p.pass(&p.all[p.now], until-p.at)
			p.at = until
			return
		}
		p.pass(&p.all[p.now], border-p.at)
		p.now++
		p.at, p.all[p.now].depth = border, p.total
	}
}

// pass adds so many seconds to a window.
func (p *playback) pass(t *stretch, dt float64) {
	t.held += float64(dt / p.size * float64(p.total))
	t.busy += float64(dt / p.size * float64(p.busy))
	if p.total == 0 {
		return
	}
	t.queueing += dt
	for i := range p.replicas {
		if x := &p.replicas[i]; p.held[x.pool] > 0 && x.idle() {
			t.spare[i] += dt
		}
	}
}
