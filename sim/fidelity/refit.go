package fidelity

import (
	"slices"

	"gonum.org/v1/gonum/mat"
)

// A descent simulates at most Retries times, and ends when a step lessens the loss by a share below Settled.
const (
	Retries = 12
	Settled = 2e-3
)

// refit fits again from a solution that was found with more misses: those for which kept holds are left in s. It descends
// by that solution's derivatives, then once more by those where it got to. It returns where that is and how many
// simulations it took.
func (s *solver) refit(from *solution, kept []bool) (x []float64, played int, err error) {
	if len(s.weight) == 0 {
		return s.guess, 0, nil
	}
	at := from.only(kept)
	at.loss = s.loss(at.x, at.missed)
	first, err := s.descend(at)
	if err != nil {
		return nil, 0, err
	}
	if at.jacobian, err = s.differentiate(at); err != nil {
		return nil, 0, err
	}
	second, err := s.descend(at)
	return at.x, first + len(at.x) + second, err
}

// descend lessens the loss by derivatives that are corrected by what each step finds, which takes a simulation a step
// instead of one a coefficient. It returns how many steps it tried.
func (s *solver) descend(at *solution) (tried int, err error) {
	damping := 1e-3
	for tried < Retries && damping <= 1e3 {
		x := s.step(at, damping)
		missed, err := s.misses(x)
		if err != nil {
			return tried, err
		}
		tried++
		at.correct(x, missed)
		l, before := s.loss(x, missed), at.loss
		if l >= before {
			damping *= 10
			continue
		}
		at.x, at.missed, at.loss = x, missed, l
		damping /= 5
		if before-l <= Settled*before {
			break
		}
	}
	return tried, nil
}

// only copies what is about the misses that are kept, of which there is at least one.
func (at *solution) only(kept []bool) *solution {
	var missed, rows []float64
	for i, k := range kept {
		if k {
			missed, rows = append(missed, at.missed[i]), append(rows, at.jacobian.RawRowView(i)...)
		}
	}
	return &solution{x: slices.Clone(at.x), missed: missed, jacobian: mat.NewDense(len(missed), len(at.x), rows)}
}

// correct makes the derivatives say what was found at x, and changes them across that direction only (Broyden's rule).
// Those that are 0 stay 0 (Schubert's), so that what nothing kept determines goes to its guess and stays there.
func (at *solution) correct(x, missed []float64) {
	for i := range missed {
		row := at.jacobian.RawRowView(i)
		off, length := missed[i]-at.missed[i], 0.0
		for p := range row {
			if d := x[p] - at.x[p]; row[p] != 0 {
				off -= row[p] * d
				length += d * d
			}
		}
		if length == 0 {
			continue
		}
		for p := range row {
			if row[p] != 0 {
				row[p] += off * (x[p] - at.x[p]) / length
			}
		}
	}
}
