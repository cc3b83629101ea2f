package calibrate

import (
	"context"
	"math"

	"github.com/seed-2cee110a/triage/sim"
)

// predict plays the whole log and scores the part that was not fitted.
func (r *Result) predict(ctx context.Context, s *server, f *form, n int) error {
	l := r.Log
	if n == len(l.Requests) {
		return nil
	}
	p, err := f.params(values(r.Coefficients))
	if err != nil {
		return err
	}
	got, err := s.play(ctx, l, p, len(l.Requests))
	if err != nil {
		return err
	}
	var e [3]errorSum
	for i := n; i < len(l.Requests); i++ {
		q := &l.Requests[i]
		if math.IsNaN(q.TTFT) {
			continue
		}
		r.Held++
		e[0].add(got[i].ttft, q.TTFT)
		e[1].add(tpot(got[i].ttft, got[i].e2e, q.Output), q.TPOT())
		e[2].add(got[i].e2e, q.E2E)
	}
	for k, name := range []string{"TTFT", "TPOT", "E2E"} {
		r.score(name, &e[k])
	}
	return nil
}

func (r *Result) score(name string, e *errorSum) {
	if len(e.abs) > 0 {
		r.Errors = append(r.Errors, e.heldOut(name))
		n := float64(len(e.abs))
		r.Means = append(r.Means, Mean{name, e.measured / n, e.simulated / n})
	}
}

// errorSum gathers errors of predictions.
type errorSum struct {
	abs                 []float64
	measured, simulated float64
}

func (e *errorSum) add(simulated, measured float64) {
	if math.IsNaN(measured) || measured <= 0 {
		return
	}
	e.abs = append(e.abs, math.Abs(simulated/measured-1))
	e.measured, e.simulated = e.measured+measured, e.simulated+simulated
}

func (e *errorSum) heldOut(metric string) sim.HeldOut {
	sum := 0.0
	for _, a := range e.abs {
		sum += a
	}
	return sim.HeldOut{Metric: metric, Mean: sum / float64(len(e.abs)), Median: median(e.abs), MeanError: e.simulated/e.measured - 1}
}

func values(all []Coefficient) []float64 {
	out := make([]float64, len(all))
	for i, c := range all {
		out[i] = c.Value
	}
	return out
}
