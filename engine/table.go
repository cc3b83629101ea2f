package engine

import (
	"fmt"
	"math"
)

// StepTime is a measured step.
type StepTime struct {
	Batch
	Took Time
}

// Table is a cost model made of measured steps. A step takes
//
//	base(decoding sequences) + slope * KV tokens + added(prefill tokens)
//
// base and added never fall and are straight between the points that were measured; beyond the last they go on as
// between the first and the last. The slope is the line of least squares through the steps that only decode. What
// prefill tokens add does not depend on their context.
type Table struct {
	base, added curve
	slope       Time
}

var _ CostModel = (*Table)(nil)

// NewTable returns the cost model of measured steps, in any order. At least one must be of decoding sequences alone.
func NewTable(steps []StepTime) (*Table, error) {
	var decode, prefill []StepTime
	for i, s := range steps {
		if err := s.check(); err != nil {
			return nil, fmt.Errorf("step %d: %w", i+1, err)
		}
		if s.PrefillTokens > 0 {
			prefill = append(prefill, s)
		} else {
			decode = append(decode, s)
		}
	}
	if len(decode) == 0 {
		return nil, fmt.Errorf("no step of decoding sequences alone among %d, want at least one", len(steps))
	}
	t := &Table{slope: slope(decode)}
	t.base = newCurve(decode, func(s StepTime) (float64, float64) {
		return float64(s.Decode), float64(s.Took - t.slope*Time(s.KVTokens))
	}, 1)
	prefill = append(prefill, StepTime{})
	t.added = newCurve(prefill, func(s StepTime) (float64, float64) {
		if s.PrefillTokens == 0 {
			return 0, 0 // nothing adds nothing
		}
		return float64(s.PrefillTokens), float64(s.Took - t.decode(s.Batch))
	}, 0)
	return t, nil
}

// mostTokens bounds a measured step, and mostStep its time.
const (
	mostTokens = 1 << 40
	mostStep   = 1000 * Second
)

func (s StepTime) check() error {
	switch {
	case s.Took < 1 || s.Took > mostStep:
		return fmt.Errorf("it took %v s, want above 0 up to %v", s.Took.Seconds(), mostStep.Seconds())
	case min(s.Decode, s.PrefillTokens) < 0 || s.KVTokens < 0 || max(int64(s.Decode), int64(s.PrefillTokens), s.KVTokens) > mostTokens:
		return fmt.Errorf("a count in %+v is out of range, want 0 to %d", s.Batch, int64(mostTokens))
	case s.Decode == 0 && s.PrefillTokens == 0:
		return fmt.Errorf("it has neither decoding sequences nor prefill tokens")
	case s.Decode == 0 && s.KVTokens > 0:
		return fmt.Errorf("it has %d KV tokens and no decoding sequence to read them", s.KVTokens)
	}
	return nil
}

// slope is what a KV token costs, at least 0: least squares within the steps of equally many sequences, so that it does
// not stand for what the sequences cost.
func slope(steps []StepTime) Time {
	groups := map[int][]StepTime{}
	var order []int
	for _, s := range steps {
		if groups[s.Decode] == nil {
			order = append(order, s.Decode)
		}
		groups[s.Decode] = append(groups[s.Decode], s)
	}
	var xy, xx float64
	for _, n := range order {
		var x, y float64
		for _, s := range groups[n] {
			x, y = x+float64(s.KVTokens), y+float64(s.Took)
		}
		size := float64(len(groups[n]))
		x, y = x/size, y/size
		for _, s := range groups[n] {
			dx, dy := float64(s.KVTokens)-x, float64(s.Took)-y
			xy, xx = xy+float64(dx*dy), xx+float64(dx*dx)
		}
	}
	if xx == 0 {
		return 0
	}
	return Time(math.Round(max(0, xy/xx)))
}

// Step is the sum of the parts.
func (t *Table) Step(b Batch) Time { return t.decode(b) + t.added.at(b.PrefillTokens) }

func (t *Table) decode(b Batch) Time {
	base, slope := t.Decode(b.Decode)
	return base + slope*Time(b.KVTokens)
}

// Decode reads the table.
func (t *Table) Decode(n int) (base, slope Time) { return t.base.at(n), t.slope }

// Knots returns steps of which NewTable makes the same table again, up to rounding.
func (t *Table) Knots() []StepTime {
	var out []StepTime
	for _, k := range t.base {
		for _, kv := range []int64{0, 1 << 20} {
			if k.x > 0 {
				out = append(out, StepTime{Batch{Decode: int(k.x), KVTokens: kv}, Time(math.Round(k.y)) + t.slope*Time(kv)})
			}
		}
	}
	for _, k := range t.added[1:] {
		out = append(out, StepTime{Batch{PrefillTokens: int(k.x), PrefillSeqs: 1}, t.base.at(0) + Time(math.Round(k.y))})
	}
	return out
}
