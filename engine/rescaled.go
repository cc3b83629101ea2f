package engine

import (
	"fmt"
	"math"
)

// Factors say how much longer the parts of a step take than a cost model says. 1 leaves a part as it is.
type Factors struct {
	Step    float64 // of every step, whatever is in it: reading the weights, launches
	Batch   float64 // of what decoding sequences add to that, but for their KV tokens
	KV      float64 // of reading KV tokens
	Prefill float64 // of what prefill tokens add to the step without them
}

// Rescaled is a cost model whose parts take other times than those of the model that it is made of: a measured server
// that is faster or slower than the registry says.
type Rescaled struct {
	of   CostModel
	by   Factors
	idle Time // of a step with nothing in it, as of says
}

var _ CostModel = (*Rescaled)(nil)

// largestFactor bounds factors, so that steps cannot overflow.
const largestFactor = 1000

// NewRescaled returns the cost of steps that take as long as of says, times the factors.
func NewRescaled(of CostModel, by Factors) (*Rescaled, error) {
	for _, f := range []struct {
		name string
		v    float64
	}{{"step", by.Step}, {"batch", by.Batch}, {"kv", by.KV}, {"prefill", by.Prefill}} {
		if !(f.v >= 0 && f.v <= largestFactor) {
			return nil, fmt.Errorf("factor %s is %v, want 0 to %d", f.name, f.v, largestFactor)
		}
	}
	if by.Step == 0 {
		return nil, fmt.Errorf("factor step is 0, want more")
	}
	r := &Rescaled{of: of, by: by}
	r.idle, _ = of.Decode(0)
	return r, nil
}

// Parts splits a step of a cost model into what the factors multiply.
func Parts(of CostModel, b Batch) (step, batch, kv, prefill Time) {
	step, _ = of.Decode(0)
	base, slope := of.Decode(b.Decode)
	batch, kv = base-step, slope*Time(b.KVTokens)
	if b.PrefillTokens > 0 {
		prefill = max(0, of.Step(b)-base-kv)
	}
	return step, batch, kv, prefill
}

// Step is the sum of the parts. That of the KV tokens is a whole number of picoseconds for each, as in Decode.
func (r *Rescaled) Step(b Batch) Time {
	base, slope := r.Decode(b.Decode)
	t := base + slope*Time(b.KVTokens)
	if b.PrefillTokens > 0 {
		_, _, _, prefill := Parts(r.of, b)
		t += times(prefill, r.by.Prefill)
	}
	return t
}

// Decode rescales base and slope.
func (r *Rescaled) Decode(n int) (base, slope Time) {
	base, slope = r.of.Decode(n)
	return max(1, times(r.idle, r.by.Step)+times(base-r.idle, r.by.Batch)), times(slope, r.by.KV)
}

// times rounds to the nearest picosecond.
func times(t Time, by float64) Time { return Time(math.Round(float64(float64(t) * by))) }
