package calibrate

import (
	"errors"
	"fmt"
	"math"

	"github.com/seed-2cee110a/triage/engine"
	"github.com/seed-2cee110a/triage/sim"
)

// runSteps fits a cost model to steps. Every so many of them are held out, since a file of steps is often in order of
// their size.
func runSteps(l *Log, s Settings) (*Result, error) {
	if len(l.Steps) < leastSteps {
		return nil, refuse("%s: %d steps, want at least %d", l.Name, len(l.Steps), leastSteps)
	}
	var fitted, held []Step
	for i, p := range l.Steps {
		if math.Floor(float64(i+1)*s.HoldOut) > math.Floor(float64(i)*s.HoldOut) {
			held = append(held, p)
		} else {
			fitted = append(fitted, p)
		}
	}
	r := &Result{Log: l, Settings: s, Fitted: len(fitted), Held: len(held)}
	if s.Fit == "table" {
		return r, r.table(fitted, held)
	}
	f, err := s.form(l)
	if err != nil {
		return nil, err
	}
	o := &f.coefs[len(f.coefs)-1] // steps say nothing of it
	o.start, o.Kept = s.Engine.OverheadBefore.Seconds()*1e3, "setting"
	if err := f.fitSteps(l, fitted); err != nil {
		return nil, err
	}
	r.Coefficients = f.coefs
	p, err := f.params(values(f.coefs))
	if err != nil {
		return nil, err
	}
	r.scoreSteps(p.cost, held)
	return r, r.complete(f, "steps", "least squares of relative errors of step times")
}

func (f *form) fitSteps(l *Log, steps []Step) error {
	for {
		free := f.free()
		x, floor := f.starts(free)
		q := f.stepNormal(steps, free, x)
		x = add(x, q.step(x, floor, 0))
		done, err := f.settle(x, f.stepNormal(steps, free, x))
		if err != nil {
			return fmt.Errorf("%s: %w", l.Name, err)
		}
		if done {
			return nil
		}
	}
}

func (r *Result) scoreSteps(c engine.CostModel, held []Step) {
	var e errorSum
	for _, s := range held {
		e.add(c.Step(s.Batch).Seconds(), s.Seconds)
	}
	r.score("step", &e)
}

// table makes a table of the steps and keeps its corners.
func (r *Result) table(fitted, held []Step) error {
	if len(r.Settings.Fix) > 0 {
		return errors.New("--fix has no meaning for a table")
	}
	t, err := engine.NewTable(stepTimes(fitted))
	if err != nil {
		return refuse("%s: %w", r.Log.Name, err)
	}
	r.scoreSteps(t, held)
	if err := r.complete(&form{kind: "table"}, "steps", "means by number of sequences and of prefill tokens, made to rise"); err != nil {
		return err
	}
	for _, k := range t.Knots() {
		r.File.Steps = append(r.File.Steps, sim.StepCost{PrefillTokens: k.PrefillTokens, DecodeSeqs: k.Decode, KVTokens: k.KVTokens, Seconds: k.Took.Seconds()})
	}
	return nil
}

func stepTimes(steps []Step) []engine.StepTime {
	out := make([]engine.StepTime, len(steps))
	for i, s := range steps {
		out[i] = engine.StepTime{Batch: s.Batch, Took: fromSeconds(s.Seconds)}
	}
	return out
}
