package tune

import "strconv"

// Edge says that the grid should have gone further: the recommended point lies on the border of a knob, and the objective
// still improves towards it.
type Edge struct {
	Knob  string
	Value string // of the recommended point
	Upper bool   // the border is the largest value
}

// edges looks at the knobs with three or more numbers; with two a knob is a switch. It improves if the neighbour inside,
// all else equal, is worse by more than Noise. A border that the knob itself has is none.
func edges(s *Study) []Edge {
	var out []Edge
	at := s.Space.Indices(s.Recommended)
	for i, a := range s.Space.Axes {
		if len(a.Numbers) < 3 {
			continue
		}
		below, above := neighbours(a.Numbers, at[i])
		switch {
		case below < 0 && s.improves(at, i, above) && extends(s.Space, a, at[i], false):
			out = append(out, Edge{a.Knob, a.Values[at[i]], false})
		case above < 0 && s.improves(at, i, below) && extends(s.Space, a, at[i], true):
			out = append(out, Edge{a.Knob, a.Values[at[i]], true})
		}
	}
	return out
}

// neighbours returns the indices of the next smaller and the next larger number, -1 if there is none.
func neighbours(x []float64, i int) (below, above int) {
	below, above = -1, -1
	for j, v := range x {
		if v < x[i] && (below < 0 || v > x[below]) {
			below = j
		}
		if v > x[i] && (above < 0 || v < x[above]) {
			above = j
		}
	}
	return below, above
}

// improves says whether the recommended point is clearly better than the one with another value on one axis.
func (s *Study) improves(at []int, axis, value int) bool {
	inside := append([]int(nil), at...)
	inside[axis] = value
	point := s.Space.Index(inside)
	if !s.Competes(point) {
		return false
	}
	there, _ := s.Regrets(s.Points[point])
	here, _ := s.Regrets(s.Points[s.Recommended])
	return there-here > Noise
}

// extends says whether the knob takes any value beyond one of the axis.
func extends(s *Space, a Axis, i int, upper bool) bool {
	factors := []float64{0.5, 0.99}
	if upper {
		factors = []float64{2, 1.01}
	}
	x := a.Numbers[i]
	if x == 0 {
		x, factors = 1, []float64{-1}
		if upper {
			factors = []float64{1}
		}
	}
	unit := ""
	if _, duration, _ := number(a.Values[i]); duration {
		unit = "s"
	}
	for _, f := range factors {
		text := strconv.FormatFloat(float64(x*f), 'f', -1, 64) + unit
		if _, err := canonical(s.Base.Name, a.Knob, text); err == nil {
			return true
		}
	}
	return false
}
