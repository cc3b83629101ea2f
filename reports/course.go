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
	spare    []float64 // by replica: seconds with nothing in flight while requests were held that it might have served
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
	newSweep(c, r).run(changes(r))
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
	at    engine.Time
	place int // a replica, or ^pool: the gateway's queue for it; ^pools is that of requests that never went anywhere
	by    int
}

// changes lists the moves of a run in order of time, those that come before those that leave.
func changes(r *sim.Result) []move {
	var out []move
	pools := max(1, len(r.Config.Pools))
	for i := range r.Outcomes {
		o := &r.Outcomes[i]
		left, pool := o.Finished, choose(pools > 1, pools, 0)
		if o.Dispatched >= 0 {
			left, pool = o.Dispatched, r.Replicas[o.Replica].Pool
			out = append(out, move{o.Dispatched, int(o.Replica), 1}, move{o.Finished, int(o.Replica), -1})
		}
		if o.Held {
			out = append(out, move{o.Arrived, ^pool, 1}, move{left, ^pool, -1})
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

// sweep goes through a run in order of time.
type sweep struct {
	*course
	at       float64
	pool     []int  // by replica
	steady   []bool // by replica: no fault touches it, which would be a good reason to be idle
	inFlight []int  // by replica
	held     []int  // by pool, then those of requests that never went anywhere
	total    int    // held
	busy     int    // replicas
}

func newSweep(c *course, r *sim.Result) *sweep {
	s := &sweep{course: c, at: c.from, inFlight: make([]int, len(r.Replicas)), held: make([]int, max(1, len(r.Config.Pools))+1)}
	for _, rep := range r.Replicas {
		faulty := slices.ContainsFunc(r.Config.Faults, func(f sim.Fault) bool { return f.Replica == rep.Name })
		s.pool, s.steady = append(s.pool, rep.Pool), append(s.steady, !faulty)
	}
	return s
}

func (s *sweep) run(moves []move) {
	for _, m := range moves {
		s.wait(m.at.Seconds())
		if m.place < 0 {
			s.held[^m.place] += m.by
			s.total += m.by
			continue
		}
		was := s.inFlight[m.place] > 0
		s.inFlight[m.place] += m.by
		if is := s.inFlight[m.place] > 0; is != was {
			s.busy += m.by
		}
	}
}

// wait lets time pass as things stand.
func (s *sweep) wait(until float64) {
	for s.at < until {
		w := s.window(s.at)
		end := s.span(w).to
		if end <= s.at || end > until || w == len(s.all)-1 {
			end = until
		}
		s.pass(&s.all[w], end-s.at)
		if s.at = end; end < until {
			s.all[min(w+1, len(s.all)-1)].depth = s.total
		}
	}
}

// pass adds so many seconds to a window.
func (s *sweep) pass(t *stretch, dt float64) {
	t.held += float64(dt / s.size * float64(s.total))
	t.busy += float64(dt / s.size * float64(s.busy))
	if s.total == 0 {
		return
	}
	t.queueing += dt
	for i, n := range s.inFlight {
		if n == 0 && s.steady[i] && s.held[s.pool[i]] > 0 {
			t.spare[i] += dt
		}
	}
}
