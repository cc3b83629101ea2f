package engine

import (
	"cmp"
	"fmt"
	"math"
	"slices"
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

// knot is a point of a curve.
type knot struct{ x, y, weight float64 }

// curve is points in order of x whose y never fall.
type curve []knot

// newCurve takes the mean at each x and then, where it falls, the mean of neighbours: the rising curve with the least
// squared distance. No y is below least.
func newCurve(steps []StepTime, point func(StepTime) (x, y float64), least float64) curve {
	all := make([]knot, len(steps))
	for i, s := range steps {
		x, y := point(s)
		all[i] = knot{x, max(least, y), 1}
	}
	slices.SortStableFunc(all, func(a, b knot) int { return cmp.Compare(a.x, b.x) })
	var c curve
	for _, k := range all {
		if n := len(c); n > 0 && c[n-1].x == k.x {
			c[n-1] = pooled(c[n-1], k)
			continue
		}
		c = append(c, k)
	}
	return c.rising()
}

// rising pools neighbours until no y falls.
func (c curve) rising() curve {
	type block struct {
		knot
		first, last int
	}
	var blocks []block
	for i, k := range c {
		b := block{k, i, i}
		for n := len(blocks); n > 0 && blocks[n-1].y > b.y; n-- {
			b = block{pooled(blocks[n-1].knot, b.knot), blocks[n-1].first, i}
			blocks = blocks[:n-1]
		}
		blocks = append(blocks, b)
	}
	for _, b := range blocks {
		for i := b.first; i <= b.last; i++ {
			c[i].y = b.y
		}
	}
	return c
}

// pooled is the mean of two points, at the first one's place.
func pooled(a, b knot) knot {
	w := a.weight + b.weight
	return knot{a.x, (float64(a.y*a.weight) + float64(b.y*b.weight)) / w, w}
}

// at returns the curve at n, rounded. Before the first point it is that point's.
func (c curve) at(n int) Time {
	x := float64(n)
	i, found := slices.BinarySearchFunc(c, x, func(k knot, x float64) int { return cmp.Compare(k.x, x) })
	switch last := len(c) - 1; {
	case found:
		return Time(math.Round(c[i].y))
	case i == 0:
		return Time(math.Round(c[0].y))
	case i <= last:
		return straight(c[i-1], c[i], x)
	case last == 0:
		return Time(math.Round(c[0].y))
	default:
		return Time(math.Round(c[last].y)) + straight(knot{}, knot{x: c[last].x - c[0].x, y: c[last].y - c[0].y}, x-c[last].x)
	}
}

// straight is the line through two points, at x.
func straight(a, b knot, x float64) Time {
	share := (x - a.x) / (b.x - a.x)
	return Time(math.Round(a.y + float64(share*(b.y-a.y))))
}
