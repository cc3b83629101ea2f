package fidelity

import (
	"context"
	"math"

	"github.com/seed-2cee110a/triage/engine"
)

// Fit is the coefficients that fit a folder's measurements best.
type Fit struct {
	Coefficients engine.Coefficients // to three digits
	Terms        []Term
	Errors       []FitErrors // with Coefficients before rounding
}

// Term is a coefficient with its standard error, in Unit, if misses were independent of one another.
type Term struct {
	Coefficient
	Fitted, Error float64
}

// FitErrors are the errors of one kind of goal.
type FitErrors struct {
	What string // TPOT or TTFT of stages, TPOT at constant concurrency
	Errors
}

// FitCoefficients fits the physical cost model to a folder.
func FitCoefficients(ctx context.Context, dir string, s Settings) (*Fit, error) {
	all, err := targets(dir, s)
	if err != nil {
		return nil, err
	}
	v, at, err := fitTo(ctx, all, s, guesses())
	if err != nil {
		return nil, err
	}
	f := &Fit{Coefficients: rounded(coefficientsAt(at.x)), Errors: kinds(goalsOf(all), at.missed)}
	spread := v.spread(at)
	for i, k := range coefficients {
		value := k.Value(f.Coefficients)
		f.Terms = append(f.Terms, Term{k, value, float64(value * spread[i] * k.slope(at.x[i]))})
	}
	return f, nil
}

func fitTo(ctx context.Context, all []*target, s Settings, from []float64) (*solver, *solution, error) {
	v := newSolver(ctx, all, s, from)
	at, err := v.solve()
	return v, at, err
}

func newSolver(ctx context.Context, all []*target, s Settings, from []float64) *solver {
	v := &solver{from: from, guess: guesses()}
	for _, g := range goalsOf(all) {
		v.weight = append(v.weight, g.weight)
	}
	v.misses = func(x []float64) ([]float64, error) { return misses(ctx, all, coefficientsAt(x), s.Workers) }
	return v
}

func goalsOf(all []*target) []goal {
	var out []goal
	for _, t := range all {
		out = append(out, t.goals...)
	}
	return out
}

// kinds sums misses up by the kind of their goals.
func kinds(goals []goal, missed []float64) []FitErrors {
	var out []FitErrors
	for _, k := range []struct {
		what, metric string
		closed       bool
	}{{"TPOT, stage means", "tpot", false}, {"TTFT, stage means", "ttft", false}, {"TPOT, constant concurrency", "tpot", true}} {
		var errors []float64
		for i, g := range goals {
			if g.Metric == k.metric && g.closed == k.closed {
				errors = append(errors, math.Expm1(missed[i]))
			}
		}
		if len(errors) > 0 {
			out = append(out, FitErrors{k.what, summarise(errors)})
		}
	}
	return out
}
