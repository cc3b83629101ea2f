package sim

import (
	"errors"
	"slices"
	"strings"

	"github.com/seed-2cee110a/triage/engine"
)

// check says what is wrong with the file. Its errors wrap what to print and may know a path.
func (f *CostFile) check() error {
	if f.Kind == "" {
		return bad("kind", "is missing, want one of %s", strings.Join(CostKinds, ", "))
	}
	if !slices.Contains(CostKinds, f.Kind) {
		return bad("kind", "is %q, want one of %s", f.Kind, strings.Join(CostKinds, ", "))
	}
	for _, part := range []struct {
		key, kind string
		there     bool
	}{{"linear", "linear", f.Linear != nil}, {"physical", "physical", f.Physical != nil}, {"steps", "table", len(f.Steps) > 0}} {
		switch wanted := part.kind == f.Kind; {
		case wanted && !part.there:
			return bad(part.key, "is missing or empty, and kind %s needs it", f.Kind)
		case !wanted && part.there:
			return bad(part.key, "is there, and kind is %s, want only what belongs to the kind", f.Kind)
		}
	}
	if f.Kind == "physical" && f.For == nil {
		return bad("for", "is missing: physical rescales the cost model of a model on a GPU, want for: {model: NAME, gpu: NAME, tp: N}")
	}
	if err := f.checkNumbers(); err != nil {
		return err
	}
	return f.checkSteps()
}

// Largest coefficients: steps of them fit a Time with room to spare.
const (
	mostMicro  = 1e9
	mostNano   = 1e9
	mostMilli  = 3.6e6 // an hour, as for the flags
	mostFactor = 1000
)

func (f *CostFile) checkNumbers() error {
	if l := f.Linear; l != nil {
		if err := l.check(); err != nil {
			return err
		}
	}
	if p := f.Physical; p != nil {
		err := errors.Join(within("physical.step", p.Step, 1e-3, mostFactor), within("physical.batch", p.Batch, 0, mostFactor),
			within("physical.kv", p.KV, 0, mostFactor), within("physical.prefill", p.Prefill, 0, mostFactor))
		if err := first(err); err != nil {
			return err
		}
	}
	if o := f.Overhead; o != nil {
		return first(errors.Join(within("overhead.before_ms", o.Before, 0, mostMilli), within("overhead.after_ms", o.After, 0, mostMilli)))
	}
	return nil
}

func (l *LinearCost) check() error {
	return first(errors.Join(within("linear.per_step_us", l.PerStep, 1e-3, mostMicro), within("linear.per_prefill_token_us", l.PerToken, 0, mostMicro),
		within("linear.per_context_token_ns", l.PerContext, 0, mostNano), within("linear.per_decode_us", l.PerDecode, 0, mostMicro),
		within("linear.per_kv_token_ns", l.PerKV, 0, mostNano)))
}

func (f *CostFile) checkSteps() error {
	if f.Kind != "table" {
		return nil
	}
	_, err := engine.NewTable(f.steps())
	if err != nil {
		return bad("steps", "cannot make a table: %w", err)
	}
	return nil
}

// first is the first of joined errors, nil if there are none.
func first(err error) error {
	if j, ok := err.(interface{ Unwrap() []error }); ok {
		return j.Unwrap()[0]
	}
	return err
}

func within(path string, v, low, high float64) error {
	if v >= low && v <= high {
		return nil
	}
	return bad(path, "is %v, want %v to %v", v, low, high)
}
