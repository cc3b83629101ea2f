package calibrate

import (
	"errors"
	"fmt"
	"strings"

	"github.com/seed-2cee110a/triage/engine"
	"github.com/seed-2cee110a/triage/sim"
)

// form starts from the registry's cost model, if the replicas are known.
func (s *Settings) form(l *Log) (*form, error) {
	var p engine.CostModel
	if s.For != nil {
		var err error
		if p, err = engine.NewPhysical(s.Model, s.GPU, s.For.TP, s.Engine.MaxNumBatchedTokens); err != nil {
			return nil, err
		}
	}
	var f *form
	switch {
	case s.Fit == "physical" && p == nil:
		return nil, errors.New("physical rescales the registry's cost model, want --model and --gpu, or --fit linear")
	case s.Fit == "physical":
		f = physical(p, s.Engine.OverheadBefore)
	case p != nil:
		start, err := likeness(p)
		if err != nil {
			return nil, err
		}
		f = linear(start, true, s.Engine.OverheadBefore)
	case len(l.Steps) > 0:
		f = linear(sim.LinearCost{PerStep: 1000, PerToken: 10, PerContext: 1, PerDecode: 10, PerKV: 10}, false, s.Engine.OverheadBefore)
	default:
		f = linear(l.guess(), false, s.Engine.OverheadBefore)
	}
	if p != nil {
		f.bound(engine.Fastest(s.Model, s.GPU, s.For.TP, engine.Batch{Decode: 1, KVTokens: 1}))
	}
	return f, f.fix(s.Fix)
}

// bound keeps every step above what the hardware needs to read the weights.
func (f *form) bound(least engine.Time) {
	idle := f.parts(engine.Batch{Decode: 1, KVTokens: 1})[0]
	f.coefs[0].floor = min(least.Seconds()/idle, f.coefs[0].start)
}

// fix takes values that the user gives.
func (f *form) fix(values map[string]float64) error {
	n := 0
	for k := range f.coefs {
		c := &f.coefs[k]
		if v, ok := values[c.Name]; ok {
			n++
			c.start, c.Kept = v, "given"
		}
	}
	if n < len(values) {
		var have []string
		for _, c := range f.coefs {
			have = append(have, c.Name)
		}
		return fmt.Errorf("--fix names a coefficient that %s does not have, have %s", f.kind, strings.Join(have, ", "))
	}
	return nil
}

func (f *form) free() []bool {
	out := make([]bool, len(f.coefs))
	for k := range out {
		out[k] = f.coefs[k].Kept == ""
	}
	return out
}
