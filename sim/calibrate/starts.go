package calibrate

import (
	"context"
	"slices"
)

// overheads are the starts of the overhead, in those of the settings. A long way to the engine and slow steps look alike in
// TTFT, and a search that starts at one may end before it comes to the other.
var overheads = []float64{1, 4, 16}

// best fits from each start and takes the end that is closest to what was measured.
func (t *fitter) best(ctx context.Context, free []bool) (x []float64, q *normal, err error) {
	start, _ := t.form.starts(free)
	k := t.form.overhead(free)
	var least *trial
	for _, times := range overheads {
		from := slices.Clone(start)
		if k >= 0 {
			from[k] *= times
		}
		end, problem, err := t.fit(ctx, free, from)
		if err != nil {
			return nil, nil, err
		}
		if k < 0 {
			return end, problem, nil
		}
		at, err := t.try(ctx, t.form.spread(end, free))
		if err != nil {
			return nil, nil, err
		}
		if least == nil || t.closer(at, least) {
			x, q, least = end, problem, at
		}
	}
	return x, q, nil
}

// closer compares two trials by the weights and scales of the first.
func (t *fitter) closer(a, b *trial) bool {
	t.reweigh(a)
	t.judge(a)
	t.judge(b)
	return a.loss < b.loss
}

// overhead is the index of the overhead among the free coefficients, -1 if it is not free.
func (f *form) overhead(free []bool) int {
	i := 0
	for k := range f.coefs {
		switch {
		case !free[k]:
			continue
		case f.coefs[k].Name == overheadName:
			return i
		}
		i++
	}
	return -1
}
