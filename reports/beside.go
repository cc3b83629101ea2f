package reports

import (
	"slices"

	"github.com/seed-2cee110a/triage/policies"
	"github.com/seed-2cee110a/triage/sim"
)

// Question is what a replay beside a run answers.
type Question uint8

const (
	PerfectSignals Question = iota // what would live signals and one router be worth?
	OneMoreOwner                   // what if hot prefixes were warm on one more replica?
	Unloaded                       // how long would it take were there hardly any load?
)

// Aside is a replay beside a run that answers a question about it.
type Aside struct {
	Run    int // index in Comparison.Runs
	Asks   Question
	Config sim.Config
	Spec   policies.Spec
}

// Asides lists the replays that the findings would like to see. Those with perfect signals are many and only on request.
func (c *Comparison) Asides(perfect bool) []Aside {
	var out []Aside
	for i := range c.Runs {
		r := &c.Runs[i]
		if r.result == nil {
			continue
		}
		a := Aside{Run: i, Config: r.result.Config, Spec: r.Spec}
		a.Config.Decisions = false
		if perfect && !PerfectAlready(c.Config) {
			out = append(out, a.perfect())
		}
		if spec, ok := oneMoreOwner(c, r); ok {
			more := a
			more.Asks, more.Spec = OneMoreOwner, spec
			out = append(out, more)
		}
		if len(starving(c, r)) > 0 {
			out = append(out, a.unloaded())
		}
	}
	return slices.DeleteFunc(out, func(a Aside) bool { return c.Runs[a.Run].beside(a.Asks) != nil })
}

// PerfectAlready says that signals are live and there is one router, so that nothing is to be learnt beside a run.
func PerfectAlready(cfg sim.Config) bool { return !late(cfg) && cfg.Routers.N <= 1 }

// perfect makes it one with live signals and one router.
func (a Aside) perfect() Aside {
	a.Asks = PerfectSignals
	a.Config.Signals = sim.Signals{Fields: a.Config.Signals.Fields}
	a.Config.Routers = sim.Routers{}
	return a
}

// rarer is how many times as far apart the requests of an unloaded run are.
const rarer = 100

// unloaded makes it one with requests so far apart that hardly two meet.
func (a Aside) unloaded() Aside {
	a.Asks = Unloaded
	a.Config.Speed /= rarer
	a.Config.Ties = sim.Spread
	return a
}

// Answer takes the result of an aside. Findings follow once all are answered: see Conclude.
func (c *Comparison) Answer(a Aside, r *sim.Result) {
	s := r.Summary()
	c.Runs[a.Run].besides = append(c.Runs[a.Run].besides, beside{a.Asks, a.Spec, r, &s})
}

// Conclude draws the findings again, with the answers of asides.
func (c *Comparison) Conclude() { c.conclude() }

// beside is the answer to a question about a run.
type beside struct {
	asks   Question
	spec   policies.Spec
	result *sim.Result
	*sim.Summary
}

// beside returns the answer to a question, nil if nobody asked.
func (r *Run) beside(q Question) *beside {
	for i := range r.besides {
		if r.besides[i].asks == q {
			return &r.besides[i]
		}
	}
	return nil
}
