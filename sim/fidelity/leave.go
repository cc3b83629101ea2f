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
		left, rest := leave(all, name)
		_, without, err := fitTo(ctx, rest, s, at.x)
		if err != nil {
			return nil, err
		}
		m, err := misses(ctx, left, coefficientsAt(without.x), s.Workers)
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

// leave returns the targets of a combination and the rest.
func leave(all []*target, name string) (left, rest []*target) {
	for _, t := range all {
		if t.combination == name {
			left = append(left, t)
		} else {
			rest = append(rest, t)
		}
	}
	return left, rest
}
