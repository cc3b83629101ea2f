package calibrate

import (
	"context"
	"math"
	"slices"
)

// windows are the parts of consecutive requests, or steps, that the uncertainty is taken from: neighbours share their
// luck.
const windows = 30

// trial is a log played with some coefficients: residuals of TTFT and TPOT, in means of what was measured.
type trial struct {
	r    [2][]float64 // NaN where nothing was measured
	mean [2][]float64 // by cell, weighted
	loss float64
}

// fitter fits coefficients to the first n requests.
type fitter struct {
	log    *Log
	server *server
	form   *form
	n      int
	cells  [2]cells // of TTFT and TPOT

	fitted     int          // requests in use
	ttft, tpot float64      // means of what was measured, s
	use        []bool       // by request: measured, and over before the rest began
	weight     [2][]float64 // of residuals, from the trial before
	scale      [2]float64   // what a residual of each kind counts
}

// enough is the gain below which a fit ends: losses are in squares of what chance makes of one residual.
const enough = 0.01

// mostFits bounds the iterations of a fit.
const mostFits = 40

// A coefficient is moved for derivatives until TTFT or TPOT move by the share effect, which is well above the chance of
// single schedules, but at most by widest times its start.
const (
	nudge  = 0.05 // to see how much it does
	effect = 0.05
	widest = 1
)

// reach returns how far to move each coefficient for derivatives, in units of the starts.
func (t *fitter) reach(ctx context.Context, free []bool, x []float64, at *trial) ([]float64, error) {
	out := make([]float64, len(x))
	for k := range x {
		h := nudge * max(x[k], 0.2)
		y := slices.Clone(x)
		y[k] += h
		next, err := t.try(ctx, t.form.spread(y, free))
		if err != nil {
			return nil, err
		}
		most := 0.0
		for kind := range next.r {
			most = max(most, math.Abs(t.total(kind, next.r[kind])-t.total(kind, at.r[kind])))
		}
		out[k] = min(widest, max(h, h*effect/max(most, 1e-9)))
	}
	return out, nil
}

// total is the weighted mean of residuals.
func (t *fitter) total(kind int, r []float64) float64 {
	sum, weight := 0.0, 0.0
	for i, w := range t.weight[kind] {
		if w > 0 {
			sum, weight = sum+float64(w*r[i]), weight+w
		}
	}
	return sum / max(weight, 1e-9)
}

func newFitter(l *Log, s *server, f *form, n int) *fitter {
	t := &fitter{log: l, server: s, form: f, n: n, use: make([]bool, n)}
	var ttft, tpot, k, m float64
	for i := range n {
		q := &l.Requests[i]
		if math.IsNaN(q.TTFT) || n < len(l.Requests) && q.At+fromSeconds(q.E2E) > l.Requests[n].At {
			continue
		}
		t.use[i] = true
		ttft, k = ttft+q.TTFT, k+1
		if p := q.TPOT(); !math.IsNaN(p) {
			tpot, m = tpot+p, m+1
		}
	}
	t.ttft, t.tpot, t.fitted = ttft/max(k, 1), tpot/m, int(k)
	t.cells = t.group()
	return t
}

func (t *fitter) try(ctx context.Context, v []float64) (*trial, error) {
	p, err := t.form.params(v)
	if err != nil {
		return nil, err
	}
	got, err := t.server.play(ctx, t.log, p, t.n)
	if err != nil {
		return nil, err
	}
	out := &trial{}
	for kind := range out.r {
		out.r[kind] = make([]float64, t.n)
	}
	for i, g := range got {
		q := &t.log.Requests[i]
		out.r[0][i], out.r[1][i] = math.NaN(), math.NaN()
		if t.use[i] {
			out.r[0][i] = (g.ttft - q.TTFT) / t.ttft
			out.r[1][i] = (tpot(g.ttft, g.e2e, q.Output) - q.TPOT()) / t.tpot
		}
	}
	return out, nil
}

// judge takes the means by cell and sums their squares, each by the weight of its requests.
func (t *fitter) judge(x *trial) {
	x.loss = 0
	for kind, r := range x.r {
		x.mean[kind] = t.means(kind, r)
		sum := t.means(kind, nil)
		for c, m := range x.mean[kind] {
			x.loss += float64(float64(sum[c]*t.scale[kind]) * float64(m*m))
		}
	}
}

// means are the weighted means of residuals by cell, or the sums of the weights if r is nil.
func (t *fitter) means(kind int, r []float64) []float64 {
	sum, weight := make([]float64, t.cells[kind].count), make([]float64, t.cells[kind].count)
	for i, c := range t.cells[kind].of {
		if w := t.weight[kind][i]; c >= 0 && w > 0 {
			weight[c] += w
			if r != nil {
				sum[c] += float64(w * r[i])
			}
		}
	}
	if r == nil {
		return weight
	}
	for c := range sum {
		sum[c] /= max(weight[c], 1e-9)
	}
	return sum
}

// leastSpread bounds what one of the kinds of residuals may count more than the other.
const leastSpread = 0.02

// reweigh gives outliers, such as a server's first requests, less weight: that of Huber's loss, beyond three standard
// deviations as the median tells them. Each kind counts by its precision.
func (t *fitter) reweigh(x *trial) {
	for kind, r := range x.r {
		t.weight[kind] = make([]float64, t.n)
		var size []float64
		for _, v := range r {
			if !math.IsNaN(v) {
				size = append(size, math.Abs(v))
			}
		}
		spread := max(leastSpread, 1.4826*median(size))
		t.scale[kind] = 1 / float64(spread*spread)
		for i, v := range r {
			switch {
			case math.IsNaN(v):
			case math.Abs(v) > 3*spread:
				t.weight[kind][i] = 3 * spread / math.Abs(v)
			default:
				t.weight[kind][i] = 1
			}
		}
	}
}

func median(v []float64) float64 {
	if len(v) == 0 {
		return math.NaN()
	}
	v = slices.Clone(v)
	slices.Sort(v)
	return (v[(len(v)-1)/2] + v[len(v)/2]) / 2
}

// fit moves the free coefficients from x and returns the best place and the problem around it.
func (t *fitter) fit(ctx context.Context, free []bool, x []float64) (best []float64, q *normal, err error) {
	_, floor := t.form.starts(free)
	at, err := t.try(ctx, t.form.spread(x, free))
	if err != nil {
		return nil, nil, err
	}
	damp := 1e-4
	for range mostFits {
		t.reweigh(at)
		t.judge(at)
		if q, err = t.around(ctx, free, x, at); err != nil {
			return nil, nil, err
		}
		gain := 0.0
		for ; damp < 1e3; damp *= 8 {
			d := q.step(x, floor, damp)
			next, err := t.try(ctx, t.form.spread(add(x, d), free))
			if err != nil {
				return nil, nil, err
			}
			if t.judge(next); next.loss < at.loss {
				gain = at.loss - next.loss
				x, at = add(x, d), next
				damp = max(1e-9, damp/10)
				break
			}
		}
		if gain < enough {
			break
		}
	}
	q, err = t.certain(ctx, free, x, at)
	return x, q, err
}
