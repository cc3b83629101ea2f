package sim

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/seed-2cee110a/triage/engine"
	"github.com/seed-2cee110a/triage/policies"
)

// ward is what faults have done to the replicas of a run. A run without faults has none.
type ward struct {
	done     int // entries of the timeline that are over
	replicas []health
	lost     []Outcome // cut off at this instant and to be sent again
	crashes  []CrashReport
}

// health is what faults have done to one replica.
type health struct {
	dead     bool             // crashed and not restarted, or not there yet
	known    bool             // the gateway knows that it is dead
	cordoned bool             // as told, dead or alive
	mute     bool             // it reports nothing
	cost     engine.CostModel // of a replica that is not at its own pace, nil otherwise
	past     engine.Stats     // of its former lives
	crash    int              // its last one in crashes
}

// CrashReport is what a crash did.
type CrashReport struct {
	At       engine.Time
	Replica  int
	InFlight int // requests that it cut off
	Resent   int // of those, sent once more
	Failed   int // of those, given up
	Bounced  int // requests that were sent to it before the gateway knew
}

func newWard(s *Stage) *ward {
	if len(s.timeline) == 0 {
		return nil
	}
	w := &ward{replicas: make([]health, len(s.replicas))}
	for i, u := range s.unborn {
		w.replicas[i] = health{dead: u, known: u}
	}
	return w
}

// dead says whether a replica is gone.
func (w *ward) dead(i int) bool { return w != nil && w.replicas[i].dead }

// silent says whether a replica reports nothing.
func (w *ward) silent(i int) bool { return w != nil && (w.replicas[i].dead || w.replicas[i].mute) }

// nextFault returns when the next entry of the timeline is due, Never if none is.
func (r *run) nextFault() engine.Time {
	if r.ward == nil || r.ward.done == len(r.timeline) {
		return engine.Never
	}
	return r.timeline[r.ward.done].at
}

// strike lets the faults happen that are due now.
func (r *run) strike() bool {
	happened := false
	for r.nextFault() <= r.now {
		r.suffer(&r.timeline[r.ward.done])
		r.ward.done++
		happened = true
	}
	return happened
}

// suffer lets one fault happen.
func (r *run) suffer(f *incident) {
	h := &r.ward.replicas[f.replica]
	switch f.do {
	case Cordon, Uncordon:
		h.cordoned = f.do == Cordon
	case Crash:
		r.crash(f.replica)
	case learn:
		h.known = true
		for _, w := range r.routers {
			w.book.Forget(f.replica)
			if w.mover != nil {
				w.mover.Forget(f.replica)
			}
		}
	case Restart, Join:
		h.dead, h.known = false, false
	case Mute, Unmute:
		h.mute = f.do == Mute
	case Slow:
		h.cost = f.cost
		if !h.dead {
			r.pace(f.replica, f.cost)
		}
	}
	for _, w := range r.routers {
		w.view.Replicas[f.replica].Cordoned = h.cordoned || h.known
		w.sampled = -1 // what is looked at after this is not what was looked at before
	}
}

// pacer is a replica whose steps can be made to take longer.
type pacer interface {
	SetCost(now engine.Time, c engine.CostModel)
}

// pace changes how long a replica's steps take from now on.
func (r *run) pace(i int, c engine.CostModel) {
	r.engines[i].(pacer).SetCost(r.now, c)
	r.changes(i)
}

// crash ends a replica's life: what it had cached is lost, and what it had in flight is cut off.
func (r *run) crash(i int) {
	r.engines[i].Load(r.now)                       // brings it here
	if r.cfg.Signals.live() && !r.ward.silent(i) { // the last that will be heard of it
		for _, w := range r.routers {
			r.sample(w, i)
		}
	}
	w := r.ward
	h := &w.replicas[i]
	h.past = sum(h.past, r.engines[i].Stats())
	r.bury(i)
	h.dead, h.crash = true, len(w.crashes)
	w.crashes = append(w.crashes, CrashReport{At: r.now, Replica: i})
	for _, id := range r.aboard(i) {
		r.cutOff(id, &w.crashes[h.crash])
	}
}

// bury puts a cold, idle engine in the place of a dead one.
func (r *run) bury(i int) {
	if e, ok := r.engines[i].(resetter); ok {
		e.Reset()
	} else {
		r.engines[i] = r.another(i)
	}
	r.watch(i)
	if c := r.ward.replicas[i].cost; c != nil {
		r.pace(i, c)
	}
	r.changes(i)
	r.next[i], r.touched[i] = engine.Never, false
	r.transit[i] = r.transit[i][:0]
}

// aboard returns the flights to a replica, in the order of their arrival.
func (r *run) aboard(i int) []int32 {
	landed := make([]bool, len(r.flights))
	for _, id := range r.landed {
		landed[id] = true
	}
	var out []int32
	for id := range r.flights {
		if !landed[id] && r.flights[id].ticket.Replica == i {
			out = append(out, int32(id))
		}
	}
	slices.SortFunc(out, func(a, b int32) int {
		x, y := &r.flights[a], &r.flights[b]
		return cmp.Or(cmp.Compare(x.outcome.Arrived, y.outcome.Arrived), cmp.Compare(x.outcome.Row, y.outcome.Row))
	})
	return out
}

// cutOff ends a flight on a replica that crashed.
func (r *run) cutOff(id int32, c *CrashReport) {
	f := &r.flights[id]
	f.via.release(r.now, f)
	r.landed = append(r.landed, id)
	c.InFlight++
	o := f.outcome
	if !r.mayResend(&o) {
		c.Failed++
		r.refuse(&o, Crashed)
		return
	}
	c.Resent++
	r.ward.lost = append(r.ward.lost, o)
}

// mayResend books that a request is sent once more, if it may be.
func (r *run) mayResend(o *Outcome) bool {
	if r.cfg.OnCrash == GiveUp || o.Retries > 0 {
		return false
	}
	o.Retries++
	if o.First < 0 {
		o.Dispatched = -1 // it is back at the gateway
	}
	return true
}

// resend sends again what was cut off at this instant. It joins a queue that is not empty, as an arrival does.
func (r *run) resend() {
	w := r.ward
	if w == nil {
		return
	}
	for i := range w.lost {
		r.welcome(&w.lost[i])
	}
	w.lost = w.lost[:0]
}

// bounce is a dispatch to a replica that died without the gateway knowing: it fails at once. It reports false if the
// request has to wait.
func (r *run) bounce(w *router, o *Outcome, id int32) bool {
	f := &r.flights[id]
	*o = f.outcome
	r.ward.crashes[r.ward.replicas[o.Replica].crash].Bounced++
	f.via.release(r.now, f)
	r.landed = append(r.landed, id)
	if !r.mayResend(o) {
		r.refuse(o, Crashed)
		return true
	}
	return r.try(w, o)
}

// elsewhere asks the policy about a request that is sent again. The replica that failed it is no candidate as long as it is
// dead: a gateway that sends again does so elsewhere.
func (r *run) elsewhere(w *router, o *Outcome) *policies.Decision {
	if !r.ward.dead(int(o.Replica)) {
		return w.pick(r.now)
	}
	rep := &w.view.Replicas[o.Replica]
	was := rep.Cordoned
	rep.Cordoned = true
	d := w.pick(r.now)
	rep.Cordoned = was
	return d
}

// another returns an idle, cold engine in place of one that cannot be made so.
func (r *run) another(i int) replica {
	e, err := r.build(i)
	if err != nil {
		panic("sim: a replica that was built before cannot be built: " + err.Error())
	}
	return e
}

// sum adds up the work of two lives of a replica.
func sum(a, b engine.Stats) engine.Stats {
	return engine.Stats{
		Steps:        a.Steps + b.Steps,
		Busy:         a.Busy + b.Busy,
		Preemptions:  a.Preemptions + b.Preemptions,
		Recomputed:   a.Recomputed + b.Recomputed,
		Evicted:      a.Evicted + b.Evicted,
		AdapterLoads: a.AdapterLoads + b.AdapterLoads,
	}
}

// text says what the crash did.
func (c CrashReport) text(name string) string {
	s := fmt.Sprintf("%s crashed at %g s: %d %s in flight, %d sent again, %d failed", name, c.At.Seconds(), c.InFlight,
		choose(c.InFlight == 1, "request was", "requests were"), c.Resent, c.Failed)
	if c.Bounced > 0 {
		s += fmt.Sprintf("; %d more %s sent to it before the gateway knew", c.Bounced, choose(c.Bounced == 1, "was", "were"))
	}
	return s
}

// aftermath adds to the result what faults did. What comes after the last piece of work may have been played or not, and
// counts as not.
func (r *run) aftermath() {
	w, res := r.ward, r.result
	res.Warnings = slices.Clip(res.Warnings) // shared with other runs
	for i := range res.Replicas {
		res.Replicas[i].Stats = sum(w.replicas[i].past, res.Replicas[i].Stats)
	}
	for _, c := range w.crashes {
		if c.At <= res.End {
			res.Crashes = append(res.Crashes, c)
			res.Warnings = append(res.Warnings, c.text(res.Replicas[c.Replica].Name))
		}
	}
	late := 0
	for _, f := range r.timeline {
		if f.do != learn && f.at > res.End {
			late++
		}
	}
	if late > 0 {
		res.Warnings = append(res.Warnings, fmt.Sprintf("%d of %d faults come after the last piece of work, at %.6g s, and did not happen",
			late, len(r.cfg.Faults), res.End.Seconds()))
	}
}
