package fidelity

import (
	"context"
	"slices"
	"sync"
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
	Played      int // how often the refit to the others simulated them
	goals       []goal
	missed      []float64
}

// Progress is how many combinations have been left out, of how many, and which one was just now. With Done 0 the fit to
// everything begins.
type Progress struct {
	Done, Of    int
	Combination string
}

// LeaveOneOut leaves out each combination of a folder in its turn, fits to all others again and simulates what was left out.
// The fit to everything starts at the coefficients in use, and each of the others at that one. They take derivatives once,
// so they come near a minimum, not to it. s.Workers combinations are refitted at the same time; tell hears how far it is,
// one call at a time.
func LeaveOneOut(ctx context.Context, dir string, s Settings, tell func(Progress)) (*Without, error) {
	all, err := targets(dir, s)
	if err != nil {
		return nil, err
	}
	names := combinations(all)
	tell(Progress{Of: len(names)})
	_, at, err := fitTo(ctx, all, s, places(s.coefficients()))
	if err != nil {
		return nil, err
	}
	r := &Without{Left: make([]Left, len(names))}
	var mu sync.Mutex
	done := 0
	err = each(ctx, s.Workers, len(names), func(i int) (err error) {
		if r.Left[i], err = predict(ctx, all, names[i], at); err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		done++
		tell(Progress{done, len(names), names[i]})
		return nil
	})
	if err != nil {
		return nil, err
	}
	r.sum()
	return r, nil
}

// predict fits to all but a combination, from the fit to everything, and simulates that combination.
func predict(ctx context.Context, all []*target, name string, at *solution) (Left, error) {
	one := Settings{Workers: 1} // combinations are what runs at the same time
	left, rest, kept := leave(all, name)
	x, played, err := newSolver(ctx, rest, one, at.x).refit(at, kept)
	if err != nil {
		return Left{}, err
	}
	m, err := misses(ctx, left, coefficientsAt(x), one.Workers)
	g := goalsOf(left)
	return Left{name, kinds(g, m), played, g, m}, err
}

// sum puts what was left out together.
func (r *Without) sum() {
	var goals []goal
	var missed []float64
	for _, l := range r.Left {
		goals, missed = append(goals, l.goals...), append(missed, l.missed...)
	}
	r.All = kinds(goals, missed)
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
