package fidelity

import (
	"context"
	"slices"
)

// Without says how well combinations of model, GPU, tp and weights are predicted by a fit to all others.
type Without struct {
	All  []FitErrors // of all that were left out, each in its turn
	Left []Left
}

// Left is one combination.
type Left struct {
	Combination string
	Errors      []FitErrors
}

// LeaveOneOut leaves out each combination of a folder in its turn, fits to all others again and simulates what was left out.
// The fit to everything starts at the coefficients in use, and each of the others at that.
func LeaveOneOut(ctx context.Context, dir string, s Settings) (*Without, error) {
	all, err := targets(dir, s)
	if err != nil {
		return nil, err
	}
	_, at, err := fitTo(ctx, all, s, places(s.coefficients()))
	if err != nil {
		return nil, err
	}
	r := &Without{}
	var goals []goal
	var missed []float64
	for _, name := range combinations(all) {
		left, rest, kept := leave(all, name)
		x, err := newSolver(ctx, rest, s, at.x).refit(at, kept)
		if err != nil {
			return nil, err
		}
		m, err := misses(ctx, left, coefficientsAt(x), s.Workers)
		if err != nil {
			return nil, err
		}
		g := goalsOf(left)
		r.Left = append(r.Left, Left{name, kinds(g, m)})
		goals, missed = append(goals, g...), append(missed, m...)
	}
	r.All = kinds(goals, missed)
	return r, nil
}

// combinations are in the order of their first targets.
func combinations(all []*target) []string {
	var names []string
	for _, t := range all {
		if !slices.Contains(names, t.combination) {
			names = append(names, t.combination)
		}
	}
	return names
}

// leave returns the targets of a combination and the rest, and which goals of all are of the rest.
func leave(all []*target, name string) (left, rest []*target, kept []bool) {
	for _, t := range all {
		theirs := t.combination == name
		if theirs {
			left = append(left, t)
		} else {
			rest = append(rest, t)
		}
		for range t.goals {
			kept = append(kept, !theirs)
		}
	}
	return left, rest, kept
}
