package fidelity

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// solver finds x for which weighted misses are least, by Levenberg and Marquardt's method. Misses beyond tolerated
// count linearly (Huber), so that what no coefficient explains pulls little; and x leans to a guess, so that what nothing
// determines stays there.
type solver struct {
	misses func(x []float64) ([]float64, error)
	weight []float64 // of the misses
	from   []float64 // where it starts
	guess  []float64 // what it leans to
}

const (
	tolerated = 0.03  // miss up to which squares are summed
	lean      = 0.005 // weight of a departure from the guess by a factor e, in the terms of misses: a guess is believed to a fifth where misses are 1.5 %
	nudge     = 0.03  // of x, for derivatives
	farthest  = 0.7   // step in any x
	rounds    = 20    // at most
	shortStep = 0.2   // of its standard error: steps below it in all x end the search
	tries     = 6     // of dampings a round
)

// solution is where a solver got to.
type solution struct {
	x        []float64
	missed   []float64
	jacobian *mat.Dense // of the misses, at x
	loss     float64
}

// solve ends where the next step would be small beside the standard errors, or where no step lessens the loss: what is
// simulated is not smooth, since requests meet in other batches when steps take another time.
func (s *solver) solve() (*solution, error) {
	if len(s.weight) == 0 {
		return &solution{x: s.guess}, nil
	}
	at := &solution{x: s.from}
	var err error
	if at.missed, err = s.misses(at.x); err != nil {
		return nil, err
	}
	at.loss = s.loss(at.x, at.missed)
	damping := 1e-3
	for range rounds {
		if at.jacobian, err = s.differentiate(at); err != nil {
			return nil, err
		}
		if s.arrived(at) {
			break
		}
		var better bool
		if better, err = s.improve(at, &damping); err != nil || !better {
			return at, err
		}
	}
	return at, nil
}

// arrived tells whether the next step is small beside the standard error of every x.
func (s *solver) arrived(at *solution) bool {
	next, spread := s.step(at, 0), s.spread(at)
	for i := range next {
		if math.Abs(next[i]-at.x[i]) > shortStep*spread[i] {
			return false
		}
	}
	return true
}

// improve takes a step that lessens the loss, if a few dampings find one.
func (s *solver) improve(at *solution, damping *float64) (bool, error) {
	for range tries {
		x := s.step(at, *damping)
		missed, err := s.misses(x)
		if err != nil {
			return false, err
		}
		if l := s.loss(x, missed); l < at.loss {
			at.x, at.missed, at.loss = x, missed, l
			*damping /= 5
			return true, nil
		}
		*damping *= 10
	}
	return false, nil
}

// differentiate takes differences.
func (s *solver) differentiate(at *solution) (*mat.Dense, error) {
	j := mat.NewDense(len(at.missed), len(at.x), nil)
	for k := range at.x {
		x := slices.Clone(at.x)
		x[k] += nudge
		missed, err := s.misses(x)
		if err != nil {
			return nil, err
		}
		for i := range missed {
			j.Set(i, k, (missed[i]-at.missed[i])/nudge)
		}
	}
	return j, nil
}

// normal are the weighted normal equations of the misses, with what x leans to.
func (s *solver) normal(at *solution) (a *mat.SymDense, b *mat.VecDense) {
	n := len(at.x)
	a, b = mat.NewSymDense(n, nil), mat.NewVecDense(n, nil)
	for i, miss := range at.missed {
		w := s.weight[i]
		if m := math.Abs(miss); m > tolerated {
			w *= tolerated / m
		}
		row := at.jacobian.RawRowView(i)
		for p := range n {
			b.SetVec(p, b.AtVec(p)-w*row[p]*miss)
			for q := p; q < n; q++ {
				a.SetSym(p, q, a.At(p, q)+w*row[p]*row[q])
			}
		}
	}
	for p := range n {
		a.SetSym(p, p, a.At(p, p)+lean)
		b.SetVec(p, b.AtVec(p)-lean*(at.x[p]-s.guess[p]))
	}
	return a, b
}

// step returns the next x to try.
func (s *solver) step(at *solution, damping float64) []float64 {
	a, b := s.normal(at)
	for p := range at.x {
		a.SetSym(p, p, a.At(p, p)*(1+damping))
	}
	var c mat.Cholesky
	var d mat.VecDense
	c.Factorize(a) // lean makes it positive definite
	if err := c.SolveVecTo(&d, b); err != nil {
		return at.x
	}
	x := slices.Clone(at.x)
	for p := range x {
		x[p] += max(-farthest, min(farthest, d.AtVec(p)))
	}
	return x
}

// spread is the standard error of each x.
func (s *solver) spread(at *solution) []float64 {
	a, _ := s.normal(at)
	var c mat.Cholesky
	c.Factorize(a)
	var inverse mat.SymDense
	out := make([]float64, len(at.x))
	if err := c.InverseTo(&inverse); err != nil {
		return out
	}
	scale := at.loss / float64(max(1, len(at.missed)-len(at.x)))
	for i := range out {
		out[i] = math.Sqrt(scale * inverse.At(i, i))
	}
	return out
}

func (s *solver) loss(x, missed []float64) float64 {
	sum := 0.0
	for i, miss := range missed {
		if m := math.Abs(miss); m > tolerated {
			sum += s.weight[i] * tolerated * (2*m - tolerated)
		} else {
			sum += s.weight[i] * m * m
		}
	}
	for p := range x {
		sum += lean * (x[p] - s.guess[p]) * (x[p] - s.guess[p])
	}
	return sum
}
