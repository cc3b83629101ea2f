package tune

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// refusing concludes a study anew with these shares of requests refused, by point and trace; the last row is a baseline of
// value 1.
func refusing(s *Study, shares ...[]float64) *Study {
	again := &Study{Problem: s.Problem, Points: s.Points}
	base := make([]Cell, len(s.Cases))
	for t := range base {
		base[t] = Cell{Done: true, Value: 1}
	}
	again.Baselines = [][]Cell{base}
	for row, cells := range append(again.Points[:len(again.Points):len(again.Points)], base) {
		for t := range cells {
			cells[t].Metrics[Rejected] = shares[row][t]
		}
	}
	return conclude(again)
}

// Whoever refuses more than a thousandth above the least on any trace is not recommended, however fast.
func TestRefusingPointsDoNotCompete(t *testing.T) {
	grid := []string{"q=0,1,3,9"}
	one := func(x ...float64) (rows [][]float64) {
		for _, v := range x {
			rows = append(rows, []float64{v})
		}
		return rows
	}
	for _, test := range []struct {
		name        string
		values      [][]float64
		shares      [][]float64
		refusing    []int
		recommended int
		excess      float64
	}{
		{"nothing is refused", one(1, 2, 3, 4), one(0, 0, 0, 0, 0), nil, 0, 0},
		{"the fastest refuses", one(1, 2, 3, 4), one(0.2, 0, 0, 0, 0), []int{0}, 1, 0},
		{"a thousandth is allowed, more is not", one(2, 1, 3, 4), one(0.051, 0.0511, 0.05, 0.05, 0.06), []int{1}, 0, 0},
		{"the baseline refuses least", one(1, 2, 3, 4), one(0.001, 0.002, 0.0011, 0.001, 0), []int{1, 2}, 0, 0.001},
		{"no point refuses little enough: those that refuse least", one(1, 2, 3, 4), one(0.5, 0.302, 0.301, 0.3, 0), []int{0, 1}, 2, 0.3},
		{"on one trace of two", [][]float64{{1, 1}, {2, 2}, {3, 3}, {4, 4}}, [][]float64{{0, 0.1}, {0, 0}, {0.1, 0}, {0, 0}, {0, 0}},
			[]int{0, 2}, 1, 0},
		{"a point without value sets the bound, and is not counted", one(math.NaN(), 1, 2, 3), one(0, 0.1, 0.1, 0.2, 0.2), []int{3}, 1, 0.1},
	} {
		m := made(t, grid, test.values...)
		for _, cells := range m.Points {
			cells[0].Done = true
		}
		s := refusing(m, test.shares...)
		if d := cmp.Diff(test.refusing, s.Refusing); d != "" || s.Recommended != test.recommended || math.Abs(s.Excess-test.excess) > 1e-12 {
			t.Errorf("%s: recommended %d, want %d; excess %v, want %v; refusing: %s", test.name, s.Recommended, test.recommended, s.Excess, test.excess, d)
		}
		for _, p := range append(append([]int{s.Recommended}, s.Best...), s.Plateau...) {
			if !s.Competes(p) {
				t.Errorf("%s: point %d does not compete, but is best or on the plateau", test.name, p)
			}
		}
	}
}

// The neighbour of a border that refuses says nothing about where the objective goes.
func TestEdgesLookAtPointsThatCompete(t *testing.T) {
	m := made(t, []string{"q=0,1,3"}, []float64{3}, []float64{2}, []float64{1})
	if s := refusing(m, []float64{0}, []float64{0}, []float64{0}, []float64{0}); len(s.Edges) != 1 {
		t.Errorf("the sample has edges %v", s.Edges)
	}
	if s := refusing(m, []float64{0}, []float64{0.5}, []float64{0}, []float64{0}); s.Edges != nil {
		t.Errorf("edges %v next to a point that refuses half", s.Edges)
	}
}

// An objective that says itself what a refused request costs is taken at its word.
func TestObjectiveCountsRefusals(t *testing.T) {
	for text, want := range map[string]bool{
		"ttft.p90": false, "-hit_ratio": false, "-requests_per_s": false,
		"ttft.p90 + 0*rejected_ratio": true, "rejected": true, "-goodput(2, 0.05)": true, "ttft.mean * requests / completed": true,
		"max(ttft.p90, rejected_ratio > 0.1 ? 9 : 0)": true,
	} {
		m := made(t, []string{"q=0,1"}, []float64{1}, []float64{2})
		m.Objective = objective(t, text)
		s := refusing(m, []float64{0.5}, []float64{0}, []float64{0})
		if m.Objective.CountsRefusals() != want || (s.Recommended == 0) != want {
			t.Errorf("%s: counts refusals %v, recommended %d", text, m.Objective.CountsRefusals(), s.Recommended)
		}
	}
}
