package enginetest

import (
	"fmt"

	"github.com/google/go-cmp/cmp"
	"github.com/seed-2cee110a/triage/engine"
)

// refRun is one case in progress.
type refRun struct {
	t        refTB
	d        refDraw
	c        refCase
	names    []string
	subjects []refSubject // the last one is the reference
	events   [][]engine.Event
	bounds   []engine.Time // what Next said, 0 if a submission came since
	now      engine.Time
	left     []engine.Sequence // not submitted yet
	crashed  bool              // once is enough
	watched  []*refWatch       // of the engines that are watched
	accepted int               // since the crash
	asked    int               // loads compared
}

// refTB is what a test and a rapid check have in common.
type refTB interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// refPlay plays one case to its end and returns the reference, with what it has seen.
func refPlay(t refTB, config, d refDraw, scale refScale) *Reference {
	run := newRefRun(t, config, d, scale)
	run.play()
	run.finish()
	return run.reference()
}

// newRefRun draws a replica's settings from config and everything else from d.
func newRefRun(t refTB, config, d refDraw, scale refScale) *refRun {
	c := drawRefCase(config, d, scale)
	if err := c.cfg.Check(); err != nil {
		t.Fatalf("bad case: %v", err)
	}
	r := &refRun{t: t, d: d, c: c, left: c.seqs}
	layout := engine.NewLayout(&r.c.forest, c.cfg.BlockSize)
	for _, jumps := range []bool{true, false} {
		cfg := c.cfg
		cfg.SingleStep = !jumps
		e, err := engine.New(cfg, c.cost, layout)
		if err != nil {
			t.Fatal(err)
		}
		if d.Int(0, 1, "used before") == 1 {
			r.use(e)
		}
		r.watched = append(r.watched, newRefWatch(e))
		r.add(fmt.Sprintf("jumps=%v", jumps), e)
	}
	r.add("reference", New(c.cfg, c.cost, &r.c.forest))
	return r
}

// use leaves traces of work on an engine and resets it.
func (r *refRun) use(e *engine.Engine) {
	for i, s := range r.c.seqs {
		e.Submit(engine.Time(i), s)
	}
	e.Advance(engine.Time(r.d.Int(1, 100, "steps"))*r.c.cost.Step(engine.Batch{Decode: 1, KVTokens: 1}), new([]engine.Event))
	e.Reset()
}

func (r *refRun) add(name string, s refSubject) {
	r.names = append(r.names, name)
	r.subjects = append(r.subjects, s)
	r.events = append(r.events, nil)
	r.bounds = append(r.bounds, 0)
}

func (r *refRun) reference() *Reference { return r.subjects[len(r.subjects)-1].(*Reference) }

// play submits all sequences, a few at a time, with probes before and between.
func (r *refRun) play() {
	after := engine.Time(0) // 1 once Next has closed the present instant
	for probes := 6; len(r.left) > 0 || probes > 0; {
		at := r.drawInstant(after)
		after = 0
		if r.d.Int(0, 3, "load ahead") == 0 {
			r.compareLoad(at)
		}
		r.advance(at)
		if len(r.c.seqs) > 0 && r.d.Int(0, 3, "clone") == 0 { // the copy goes on, the original is used up
			e := r.subjects[0].(*engine.Engine)
			r.subjects[0] = e.Clone()
			r.watched = r.watched[len(r.watched)-1:] // nobody watches the copy
			e.Submit(at+1, r.c.seqs[0])
			e.Advance(at+20*r.c.cost.Step(engine.Batch{Decode: 1, KVTokens: 1}), new([]engine.Event))
		}
		r.probe(at)
		switch r.d.Int(0, 15, "happening") {
		case 5, 6:
			r.setCost()
		case 9:
			r.crash()
		}
		n := 0
		if len(r.left) > 0 {
			n = r.d.Int(0, min(len(r.left), 4), "submissions")
		}
		if n == 0 {
			probes--
		}
		if probes == 0 {
			n = min(len(r.left), 1)
		}
		for range n {
			r.submit(r.left[0])
			r.left = r.left[1:]
		}
		if r.d.Int(0, 3, "ask next") > 0 {
			r.next()
			after = 1
		}
		if len(r.left) > 0 {
			probes = max(probes, 1)
		}
	}
}

// setCost changes the cost of steps from the present instant on.
func (r *refRun) setCost() {
	cost := engine.Scaled(r.c.cost, refPick(r.d, []float64{1, 2, 0.5, 1.3}, "factor"))
	if r.d.Int(0, 3, "other") == 0 {
		cost = drawRefCost(r.d)
	}
	for i, s := range r.subjects {
		s.SetCost(r.now, cost)
		r.bounds[i] = 0
	}
}

// crash makes every subject cold and idle. Some of what was lost is submitted again.
func (r *refRun) crash() {
	lost := r.c.seqs[:len(r.c.seqs)-len(r.left)]
	if r.crashed || len(lost) == 0 {
		return
	}
	r.crashed, r.accepted = true, 0
	for i, s := range r.subjects {
		s.Reset()
		r.events[i], r.bounds[i] = nil, 0
	}
	for i, w := range r.watched {
		r.watched[i] = newRefWatch(w.engine)
	}
	r.left = r.c.seqs[r.d.Int(0, len(lost), "lost for good"):]
}

// drawInstant draws the next instant of the caller, at least after beyond the present.
func (r *refRun) drawInstant(after engine.Time) engine.Time {
	step := r.c.cost.Step(engine.Batch{Decode: 1, KVTokens: 1})
	ref := r.reference()
	at := r.now
	switch k := r.d.Int(0, 9, "gap"); {
	case k < 2:
	case k < 4 && ref.stepping:
		at = ref.end // a tie with a step's end
	case k < 6:
		at += step / 2 * engine.Time(r.d.Int(1, 8, "half steps"))
	case k < 9:
		at += step * engine.Time(r.d.Int(1, 12, "steps"))
	default:
		at += engine.Time(r.d.Int(0, int(100*step), "ticks"))
	}
	return max(at, r.now+after)
}

func (r *refRun) advance(to engine.Time) {
	r.now = to
	for i, s := range r.subjects {
		n := len(r.events[i])
		s.Advance(to, &r.events[i])
		for _, e := range r.events[i][n:] {
			if e.At > to || e.At < r.bounds[i] {
				r.t.Fatalf("%s: event %+v by %d, after Next said %d", r.names[i], e, to, r.bounds[i])
			}
		}
	}
	r.same("events", func(i int) any { return r.events[i] })
}

// probe compares all that can be asked at the present instant.
func (r *refRun) probe(at engine.Time) {
	r.compareLoad(at)
	leaf := refPick(r.d, r.c.leaves, "cached")
	if leaf >= 0 {
		r.same("Cached", func(i int) any { return r.subjects[i].Cached(leaf) })
		for _, w := range r.watched {
			w.check(r, leaf)
		}
	}
	if r.d.Int(0, 3, "stats") == 0 {
		r.same("Stats", func(i int) any { return r.subjects[i].Stats() })
	}
	r.compareAdapters()
	r.checkAll()
}

func (r *refRun) compareAdapters() {
	r.same("Adapters", func(i int) any { return adaptersOf(r.subjects[i]) })
}

// adaptersOf returns the resident and the active ones, each behind something that was there before.
func adaptersOf(s refSubject) [2][]int32 {
	all := [2][]int32{{-1}, {-2}}
	s.Adapters(&all[0], &all[1])
	return all
}

func (r *refRun) compareLoad(at engine.Time) {
	r.same("Load", func(i int) any { return r.subjects[i].Load(at) })
	if r.asked++; r.asked%4 == 0 {
		r.stays(at)
	}
}

// stays looks whether load and adapters stay what they are for as long as the engine says. Copies go there, the originals
// stay.
func (r *refRun) stays(at engine.Time) {
	for i, s := range r.subjects {
		if e, ok := s.(*engine.Engine); ok {
			was, until, copied := e.Load(at), e.Still(), e.Clone()
			last := min(until-1, at+100*r.c.cost.Step(engine.Batch{Decode: 1, KVTokens: 1}))
			if last < at {
				continue
			}
			had := adaptersOf(e)
			if is := copied.Load(last); is != was {
				r.t.Fatalf("%s: load %+v at %d is to stay until %d, but is %+v at %d", r.names[i], was, at, until, is, last)
			}
			if has := adaptersOf(copied); !cmp.Equal(has, had) {
				r.t.Fatalf("%s: adapters %v at %d are to stay until %d, but are %v at %d", r.names[i], had, at, until, has, last)
			}
		}
	}
}

func (r *refRun) submit(s engine.Sequence) {
	reasons := make([]engine.Reason, len(r.subjects))
	for i, sub := range r.subjects {
		reasons[i] = sub.Submit(r.now, s)
		r.bounds[i] = 0
	}
	r.same("Submit", func(i int) any { return reasons[i] })
	if reasons[0] == engine.Accepted {
		r.accepted++
	}
}

func (r *refRun) next() {
	for i, s := range r.subjects {
		r.bounds[i] = s.Next()
		if r.bounds[i] <= r.now {
			r.t.Fatalf("%s: Next is %d, want more than the present %d", r.names[i], r.bounds[i], r.now)
		}
	}
}

// finish lets every subject run out of work on its own, from one of its Nexts to the other, and checks the laws.
func (r *refRun) finish() {
	for i, s := range r.subjects {
		now := r.now
		for at := s.Next(); at != engine.Never; at = s.Next() {
			if at <= now {
				r.t.Fatalf("%s: Next is %d, want more than the present %d", r.names[i], at, now)
			}
			now = at
			s.Advance(at, &r.events[i])
		}
	}
	r.same("events", func(i int) any { return r.events[i] })
	r.same("Stats", func(i int) any { return r.subjects[i].Stats() })
	for _, leaf := range r.c.leaves {
		if leaf >= 0 {
			r.same("Cached", func(i int) any { return r.subjects[i].Cached(leaf) })
		}
	}
	r.compareAdapters()
	r.checkAll()
	if err := r.reference().checkDone(); err != nil {
		r.t.Fatal(err)
	}
	for i := range r.subjects {
		r.checkEvents(i)
	}
}

func (r *refRun) checkAll() {
	for i, s := range r.subjects {
		if err := s.Check(); err != nil {
			r.t.Fatalf("%s at %d: %v", r.names[i], r.now, err)
		}
	}
}

// checkEvents: one first token and one finish a sequence, in this order, in order of time.
func (r *refRun) checkEvents(i int) {
	first, finish := map[int32]int{}, map[int32]int{}
	last := engine.Time(0)
	for _, e := range r.events[i] {
		if e.At < last {
			r.t.Fatalf("%s: event %+v comes after one at %d", r.names[i], e, last)
		}
		last = e.At
		switch e.Kind {
		case engine.FirstToken:
			first[e.Seq]++
		case engine.Finish:
			if finish[e.Seq]++; first[e.Seq] != 1 {
				r.t.Fatalf("%s: sequence %d finishes after %d first tokens", r.names[i], e.Seq, first[e.Seq])
			}
		}
	}
	if len(finish) != r.accepted || len(r.events[i]) != 2*r.accepted {
		r.t.Fatalf("%s: %d events of %d sequences, want two of each of %d", r.names[i], len(r.events[i]), len(finish), r.accepted)
	}
}

// same wants the reference's answer of everyone.
func (r *refRun) same(what string, of func(i int) any) {
	r.t.Helper()
	want := of(len(r.subjects) - 1)
	for i := range r.subjects {
		if diff := cmp.Diff(want, of(i)); diff != "" {
			r.t.Fatalf("%s at %d, %s differs (-reference +%s):\n%s\n%s", what, r.now, what, r.names[i], diff, r.describe())
		}
	}
}

// describe prints the case.
func (r *refRun) describe() string {
	return fmt.Sprintf("config %+v\ncost %#v\nforest %+v\nsequences %+v", r.c.cfg, r.c.cost, r.c.forest, r.c.seqs)
}
