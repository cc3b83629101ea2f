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
	most   []float64
}

const (
	tolerated = 0.03  // miss up to which squares are summed
	lean      = 0.005 // weight of a departure from the guess by a factor e, in the terms of misses
	nudge     = 0.03  // of x, for derivatives
	farthest  = 0.7   // step in any x
	rounds    = 10    // at most
	enough    = 1e-3  // improvement of the loss, as a share, that is worth another round
)

// solution is where a solver got to.
type solution struct {
	x        []float64
	missed   []float64
	jacobian *mat.Dense // of the misses, near x
	loss     float64
}

func (s *solver) solve() (*solution, error) {
	at := &solution{x: s.from}
	var err error
	if at.missed, err = s.misses(at.x); err != nil {
		return nil, err
	}
	at.loss = s.loss(at.x, at.missed)
	damping := 1e-3
	for range rounds {
		before := at.loss
		if at.jacobian, err = s.differentiate(at); err != nil {
			return nil, err
		}
		if damping, err = s.improve(at, damping); err != nil {
			return nil, err
		}
		if before-at.loss <= enough*before {
			break
		}
	}
	return at, nil
}

// improve takes a step that lessens the loss, if a few dampings find one.
func (s *solver) improve(at *solution, damping float64) (float64, error) {
	for range 6 {
		x := s.step(at, damping)
		missed, err := s.misses(x)
		if err != nil {
			return 0, err
		}
		if l := s.loss(x, missed); l < at.loss {
			at.x, at.missed, at.loss = x, missed, l
			return damping / 5, nil
		}
		damping *= 10
	}
	return damping, nil
}

// differentiate takes forward differences, backward where a bound is near.
func (s *solver) differentiate(at *solution) (*mat.Dense, error) {
	j := mat.NewDense(len(at.missed), len(at.x), nil)
	for k := range at.x {
		x := slices.Clone(at.x)
		h := nudge
		if x[k]+h > s.most[k] {
			h = -h
		}
		x[k] += h
		missed, err := s.misses(x)
		if err != nil {
			return nil, err
		}
		for i := range missed {
			j.Set(i, k, (missed[i]-at.missed[i])/h)
		}
	}
	return j, nil
}

// normal are the weighted normal equations of the misses for which in holds.
func (s *solver) normal(at *solution, in func(i int) bool) (a *mat.SymDense, b *mat.VecDense) {
	n := len(at.x)
	a, b = mat.NewSymDense(n, nil), mat.NewVecDense(n, nil)
	for i, miss := range at.missed {
		if !in(i) {
			continue
		}
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
	return a, b
}

// step returns the next x to try.
func (s *solver) step(at *solution, damping float64) []float64 {
	a, b := s.normal(at, func(int) bool { return true })
	for p := range at.x {
		a.SetSym(p, p, a.At(p, p)*(1+damping))
		b.SetVec(p, b.AtVec(p)-lean*(at.x[p]-s.guess[p]))
	}
	return s.move(at.x, a, b)
}

// without returns where the solution moves when the misses for which out holds are not there, to first order: at the
// solution their pull balances all the rest, and the rest gives way. What nothing else determines is its guess again.
func (s *solver) without(at *solution, out func(i int) bool) []float64 {
	a, _ := s.normal(at, func(i int) bool { return !out(i) })
	_, b := s.normal(at, out)
	b.ScaleVec(-1, b)
	for p := range at.x {
		if a.At(p, p) < lean {
			b.SetVec(p, -lean*(at.x[p]-s.guess[p]))
		}
	}
	return s.move(at.x, a, b)
}

// move solves (a + lean) d = b and goes that far, within bounds.
func (s *solver) move(x []float64, a *mat.SymDense, b *mat.VecDense) []float64 {
	var c mat.Cholesky
	var d mat.VecDense
	c.Factorize(leaning(a)) // lean makes it positive definite
	if err := c.SolveVecTo(&d, b); err != nil {
		return x
	}
	x = slices.Clone(x)
	for p := range x {
		x[p] = min(x[p]+max(-farthest, min(farthest, d.AtVec(p))), s.most[p])
	}
	return x
}

func leaning(a *mat.SymDense) *mat.SymDense {
	for p := range a.SymmetricDim() {
		a.SetSym(p, p, a.At(p, p)+lean)
	}
	return a
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
