package policies

import "time"

// Wrapper describes a policy that changes how another one picks.
type Wrapper struct {
	Name  string
	Doc   string // what it does, one line
	Knobs []Knob // the first may be given without its name

	check func(values []string) ([]string, error)
	build func(values []string, inner Policy) Policy
}

// wrappers has one row a wrapper.
var wrappers = []Wrapper{
	wrapper("sample", "picks among k replicas only, chosen by a hash of the request", Sample{K: 2},
		func(c Sample, p Policy) Policy { c.forward = around(p); return &c }, sampleKnobs),
	wrapper("hysteresis", "stays with the session's replica unless the gain in score exceeds delta", Hysteresis{Delta: 1},
		func(c Hysteresis, p Policy) Policy { c.forward = around(p); return &c }, hysteresisKnobs),
	wrapper("bounded", "leaves out replicas with more than load times the mean of own requests in flight", Bounded{Load: 1.25},
		func(c Bounded, p Policy) Policy { c.forward = around(p); return &c }, boundedKnobs),
	wrapper("sticky", "keeps to replicas with most of the prompt cached, until they are saturated; after llm-d's prefix-cache-affinity-filter",
		Sticky{Share: 0.8, Penalty: 18 * time.Second, Rate: 15928},
		func(c Sticky, p Policy) Policy { c.forward = around(remember(p)); return &c }, stickyKnobs),
}

// Wrappers lists the wrappers with their knobs. The caller must not change it.
func Wrappers() []Wrapper { return wrappers }

// wrapper makes a row: def holds the defaults, build wraps a policy by the settings, fields are the knobs.
func wrapper[C any](name, doc string, def C, build func(C, Policy) Policy, fields []field[C]) Wrapper {
	e := row(name, doc, def, func(C) Policy { return nil }, fields)
	return Wrapper{Name: name, Doc: doc, Knobs: e.Knobs, check: e.check,
		build: func(values []string, inner Policy) Policy {
			c := def
			for i := range fields {
				if err := fields[i].set(&c, values[i]); err != nil {
					panic("policies: a checked value is refused: " + err.Error())
				}
			}
			p := build(c, inner).(wrapped)
			if b := p.believer(); b != nil {
				return believing{p, b}
			}
			return p
		}}
}

// around returns the entry of a policy wrapped in w, whose knobs come first, named after the wrapper.
func (w *Wrapper) around(inner *Entry) *Entry {
	n := len(w.Knobs)
	e := &Entry{Name: w.Name + ":" + inner.Name, Doc: w.Doc + ": " + inner.Doc}
	for _, k := range w.Knobs {
		k.Name = w.Name + "." + k.Name
		e.Knobs = append(e.Knobs, k)
	}
	e.Knobs = append(e.Knobs, inner.Knobs...)
	e.check = func(values []string) ([]string, error) {
		own, err := w.check(values[:n])
		if err != nil {
			return nil, err
		}
		rest, err := inner.check(values[n:])
		return append(own, rest...), err
	}
	e.build = func(values []string) Policy { return w.build(values[:n], inner.build(values[n:])) }
	return e
}

// wrapped is what every wrapper is, whatever it wraps.
type wrapped interface {
	Policy
	Observer
	Finisher
	Mover
	TruthUser
	EventSink
	FeedbackUser
	BeliefReporter
	delayed

	believer() Believer // of the wrapped policy, nil if it believes nothing
}

// believing is a wrapper of a policy that holds a belief.
type believing struct {
	wrapped
	Believer
}

// forward passes on to the wrapped policy what it has an interface for.
type forward struct {
	inner    Policy
	observer Observer // these are nil if it has none
	finisher Finisher
	mover    Mover
	truth    TruthUser
	events   EventSink
	feedback FeedbackUser
	reporter BeliefReporter

	narrow narrow
}

func around(p Policy) forward {
	f := forward{inner: p}
	f.observer, _ = p.(Observer)
	f.finisher, _ = p.(Finisher)
	f.mover, _ = p.(Mover)
	f.truth, _ = p.(TruthUser)
	f.events, _ = p.(EventSink)
	f.feedback, _ = p.(FeedbackUser)
	f.reporter, _ = p.(BeliefReporter)
	return f
}

func (f *forward) believer() Believer {
	b, _ := f.inner.(Believer)
	return b
}

// Dispatched tells the wrapped policy.
func (f *forward) Dispatched(r *Request, v *View, d *Decision) {
	if f.observer != nil {
		f.observer.Dispatched(r, v, d)
	}
}

// FirstToken tells the wrapped policy.
func (f *forward) FirstToken(now time.Duration, r *Request, replica int) {
	if f.observer != nil {
		f.observer.FirstToken(now, r, replica)
	}
}

// Completed tells the wrapped policy.
func (f *forward) Completed(now time.Duration, r *Request, replica int) {
	if f.observer != nil {
		f.observer.Completed(now, r, replica)
	}
}

// Finished tells the wrapped policy.
func (f *forward) Finished(now time.Duration, r *Request, replica int, outputTokens int32) {
	if f.finisher != nil {
		f.finisher.Finished(now, r, replica, outputTokens)
	}
}

// Forget tells the wrapped policy.
func (f *forward) Forget(replica int) {
	if f.mover != nil {
		f.mover.Forget(replica)
	}
}

// Move tells the wrapped policy.
func (f *forward) Move(from, to int) {
	if f.mover != nil {
		f.mover.Move(from, to)
	}
}

// WantsTruth asks the wrapped policy.
func (f *forward) WantsTruth() bool { return f.truth != nil && f.truth.WantsTruth() }

// WantsEvents asks the wrapped policy.
func (f *forward) WantsEvents() bool { return f.events != nil && f.events.WantsEvents() }

// Stored tells the wrapped policy.
func (f *forward) Stored(now time.Duration, replica int, blocks []Block) {
	if f.events != nil {
		f.events.Stored(now, replica, blocks)
	}
}

// Evicted tells the wrapped policy.
func (f *forward) Evicted(now time.Duration, replica int, hash uint64, tokens int32) {
	if f.events != nil {
		f.events.Evicted(now, replica, hash, tokens)
	}
}

// Feedback asks the wrapped policy.
func (f *forward) Feedback() (halfLife time.Duration, wanted bool) {
	if f.feedback == nil {
		return 0, false
	}
	return f.feedback.Feedback()
}

// BeliefStats asks the wrapped policy.
func (f *forward) BeliefStats(hot int) BeliefStats {
	if f.reporter == nil {
		return BeliefStats{}
	}
	return f.reporter.BeliefStats(hot)
}
