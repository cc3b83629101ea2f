package calibrate

import (
	"context"
	"math"
	"slices"
)

// around is the problem at x: residuals and the derivatives of their cells' means.
func (t *fitter) around(ctx context.Context, free []bool, x []float64, at *trial) (*normal, error) {
	reach, err := t.reach(ctx, free, x, at)
	if err != nil {
		return nil, err
	}
	slope, err := t.slopes(ctx, free, x, reach)
	if err != nil {
		return nil, err
	}
	return t.normal(at, slope, slope), nil
}

// apart is by how much further the second derivatives of certain go: far enough for other schedules.
const apart = 1.17

// certain is around with derivatives taken twice, so that what chance does to one has nothing to do with what it does to
// the other: their product does not take chance for information.
func (t *fitter) certain(ctx context.Context, free []bool, x []float64, at *trial) (*normal, error) {
	reach, err := t.reach(ctx, free, x, at)
	if err != nil {
		return nil, err
	}
	one, err := t.slopes(ctx, free, x, reach)
	if err != nil {
		return nil, err
	}
	for k := range reach {
		reach[k] *= apart
	}
	two, err := t.slopes(ctx, free, x, reach)
	if err != nil {
		return nil, err
	}
	return t.normal(at, one, two), nil
}

// slopes are derivatives of cells' means by coefficient: central differences, one-sided at the bound.
func (t *fitter) slopes(ctx context.Context, free []bool, x, reach []float64) ([][2][]float64, error) {
	slope := make([][2][]float64, len(x))
	for k := range x {
		h := reach[k]
		high, low := slices.Clone(x), slices.Clone(x)
		high[k], low[k] = x[k]+h, max(0, x[k]-h)
		if k == 0 { // every step takes some time
			low[k] = x[k] - min(h, float64(x[k]*0.1))
		}
		up, err := t.try(ctx, t.form.spread(high, free))
		if err != nil {
			return nil, err
		}
		down, err := t.try(ctx, t.form.spread(low, free))
		if err != nil {
			return nil, err
		}
		for kind := range slope[k] {
			a, b := t.means(kind, up.r[kind]), t.means(kind, down.r[kind])
			for c := range a {
				a[c] = (a[c] - b[c]) / (high[k] - low[k])
			}
			slope[k][kind] = a
		}
	}
	return slope, nil
}

// normal gathers the problem by windows of consecutive requests.
func (t *fitter) normal(at *trial, one, two [][2][]float64) *normal {
	q := newNormal(len(one), windows)
	a, b := make([]float64, q.n), make([]float64, q.n)
	for kind, r := range at.r {
		for i, c := range t.cells[kind].of {
			w := math.Sqrt(float64(t.weight[kind][i] * t.scale[kind]))
			if c < 0 || w == 0 {
				continue
			}
			for k := range a {
				a[k], b[k] = float64(w*one[k][kind][c]), float64(w*two[k][kind][c])
			}
			q.add(i*windows/t.n, a, b, float64(w*r[i]))
		}
	}
	return q
}
