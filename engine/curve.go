package engine

import (
	"cmp"
	"math"
	"slices"
)

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
