package fidelity

import (
	"slices"

	"gonum.org/v1/gonum/mat"
)

const (
	retries = 12   // simulations of everything else that a refit may take
	settled = 2e-3 // improvement of the loss, as a share, that is worth another
)

// refit fits again from a solution that was found with more misses: those for which kept holds are left in s. Derivatives
// are that solution's, corrected by what each step finds (Broyden's rule), which takes a simulation a step instead of one
// a coefficient.
func (s *solver) refit(from *solution, kept []bool) ([]float64, error) {
	at := from.only(kept)
	at.loss = s.loss(at.x, at.missed)
	damping := 1e-3
	for range retries {
		x := s.step(at, damping)
		missed, err := s.misses(x)
		if err != nil {
			return nil, err
		}
		at.correct(x, missed)
		l, before := s.loss(x, missed), at.loss
		if l >= before {
			if damping *= 10; damping > 1e3 {
				break
			}
			continue
		}
		at.x, at.missed, at.loss = x, missed, l
		damping /= 5
		if before-l <= settled*before {
			break
		}
	}
	return at.x, nil
}

// only copies what is about the misses that are kept.
func (at *solution) only(kept []bool) *solution {
	var missed, rows []float64
	for i, k := range kept {
		if k {
			missed, rows = append(missed, at.missed[i]), append(rows, at.jacobian.RawRowView(i)...)
		}
	}
	return &solution{x: slices.Clone(at.x), missed: missed, jacobian: mat.NewDense(len(missed), len(at.x), rows)}
}

// correct makes the derivatives say what was found at x, and changes them across that direction only.
func (at *solution) correct(x, missed []float64) {
	d := make([]float64, len(x))
	length := 0.0
	for p := range x {
		d[p] = x[p] - at.x[p]
		length += d[p] * d[p]
	}
	if length == 0 {
		return
	}
	for i := range missed {
		row := at.jacobian.RawRowView(i)
		off := missed[i] - at.missed[i]
		for p := range d {
			off -= row[p] * d[p]
		}
		for p := range d {
			row[p] += off * d[p] / length
		}
	}
}
