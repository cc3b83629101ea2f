package tune

import (
	"math"
	"slices"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// made concludes a study from values by point and trace; a NaN is a replay that was not done.
func made(t testing.TB, grids []string, values ...[]float64) *Study {
	t.Helper()
	space, err := ParseSpace(spec(t, "score"), grids)
	if err != nil {
		t.Fatal(err)
	}
	if space.Len() != len(values) {
		t.Fatalf("%d values for %d points", len(values), space.Len())
	}
	s := &Study{Problem: Problem{Space: space, Cases: make([]Case, len(values[0])), Objective: objective(t, DefaultObjective)}}
	for p, row := range values {
		var cells []Cell
		for _, v := range row {
			cells = append(cells, Cell{Done: !math.IsNaN(v), Value: v, Decisions: uint64(p)})
		}
		s.Points = append(s.Points, cells)
	}
	return conclude(s)
}

func TestRegret(t *testing.T) {
	for _, test := range []struct{ value, best, want float64 }{
		{2, 2, 0}, {3, 2, 0.5}, {1, 2, -0.5}, // seconds: 3 is 50 % more than 2
		{-0.3, -0.4, 0.25}, {-0.4, -0.4, 0}, {0.1, -0.4, 1.25}, // a negated ratio: 0.3 is a quarter less than 0.4
		{0, 0, 0}, {0.2, 0, 0.2}, // nothing to compare with: the value itself
	} {
		if got := Regret(test.value, test.best); math.Abs(got-test.want) > 1e-12 {
			t.Errorf("regret of %v against %v is %v, want %v", test.value, test.best, got, test.want)
		}
	}
}

// Trace A is served best by q=0, trace B by q=3; q=1 loses 10 % on either, and is the one to roll out.
func TestRecommendIsMinimax(t *testing.T) {
	s := made(t, []string{"q=0,1,3,9"}, []float64{1, 28}, []float64{1.1, 22}, []float64{2, 20}, []float64{1.1, 24})
	if d := cmp.Diff([]int{0, 2}, s.Best); d != "" || s.Recommended != 1 {
		t.Fatalf("recommended %d, best %s", s.Recommended, d)
	}
	for p, want := range [][2]float64{{0.4, 0.2}, {0.1, 0.1}, {1, 0.5}, {0.2, 0.15}} {
		worst, mean := s.Regrets(s.Points[p])
		if math.Abs(worst-want[0]) > 1e-12 || math.Abs(mean-want[1]) > 1e-12 {
			t.Errorf("point %d has regrets %v and %v, want %v", p, worst, mean, want)
		}
	}
}

// The best are 1 and 1.25. Worst regrets are 0.5 three times, then 0.6; means 0.35, 0.25, 0.25, 0.3.
func TestRecommendBreaksTies(t *testing.T) {
	values := [][]float64{{1.5, 1.5}, {1.5, 1.25}, {1.5, 1.25}, {1, 2}}
	if s := made(t, []string{"q=0,1,2,9"}, values...); s.Recommended != 1 {
		t.Errorf("recommended %d, want 1: the smaller mean, then the lower index", s.Recommended)
	}
	s := made(t, []string{"q=0,1,3,9"}, values...)
	if d := cmp.Diff([]int{3, 2}, s.Best); d != "" || s.Recommended != 2 {
		t.Errorf("recommended %d, want 2, which keeps q=3 of the base; best %s", s.Recommended, d)
	}
}

// Within 2 % is the plateau; just outside is not.
func TestPlateau(t *testing.T) {
	s := made(t, []string{"q=0,1,3,9,10"}, []float64{1.019}, []float64{1.03}, []float64{1}, []float64{1.021}, []float64{math.NaN()})
	if d := cmp.Diff([]int{0, 2}, s.Plateau); d != "" {
		t.Error(d)
	}
	if !s.Interrupted || s.Done != 4 {
		t.Errorf("interrupted %v with %d done, want true with 4", s.Interrupted, s.Done)
	}
}

// A point that is done on one trace only does not compete.
func TestHalfDonePointsDoNotCompete(t *testing.T) {
	s := made(t, []string{"q=0,1"}, []float64{0.1, math.NaN()}, []float64{1, 1})
	if d := cmp.Diff([]int{1, 1}, s.Best); d != "" || s.Recommended != 1 || s.Class[0] != -1 {
		t.Errorf("recommended %d, classes %v, best %s", s.Recommended, s.Class, d)
	}
}

func TestNothingDone(t *testing.T) {
	s := made(t, []string{"q=0,1"}, []float64{math.NaN()}, []float64{math.NaN()})
	if s.Recommended != -1 || s.Plateau != nil || s.Edges != nil || !s.Interrupted {
		t.Errorf("%+v", s)
	}
}

// No point has a smaller worst regret than the recommended one, every regret is at least 0, and the best of a trace has
// none there.
func TestRecommendProperties(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(1, 3).Draw(rt, "traces")
		var values [][]float64
		for range 6 {
			values = append(values, rapid.SliceOfN(rapid.Float64Range(-3, 3), n, n).Draw(rt, "values"))
		}
		s := made(t, []string{"q=0,1,3", "fit=spill,off"}, values...)
		least, _ := s.Regrets(s.Points[s.Recommended])
		for p, cells := range s.Points {
			if worst, mean := s.Regrets(cells); worst < least || worst < 0 || mean < 0 || mean > worst+1e-9 {
				rt.Fatalf("point %d has regrets %v and %v, the recommended one %v", p, worst, mean, least)
			}
		}
		for trace, p := range s.Best {
			if r := s.Regret(s.Points[p][trace], trace); r != 0 {
				rt.Fatalf("the best of trace %d has regret %v there", trace, r)
			}
		}
		if !slices.Contains(s.Plateau, s.Recommended) {
			rt.Fatal("the recommended point is not on its plateau")
		}
	})
}

func TestEdges(t *testing.T) {
	for _, test := range []struct {
		name  string
		grid  string
		value []float64
		want  []Edge
	}{
		{"still falling at the top", "q=0,1,3", []float64{3, 2, 1}, []Edge{{"q", "3", true}}},
		{"still falling at the bottom", "q=1,3,9", []float64{1, 2, 3}, []Edge{{"q", "1", false}}},
		{"the order of the values does not matter", "q=3,9,1", []float64{2, 3, 1}, []Edge{{"q", "1", false}}},
		{"an optimum inside", "q=0,1,3", []float64{3, 1, 2}, nil},
		{"flat towards the top", "q=0,1,3", []float64{3, 1.015, 1}, nil},
		{"just not flat", "q=0,1,3", []float64{3, 1.025, 1}, []Edge{{"q", "3", true}}},
		{"two values are a switch", "q=1,3", []float64{2, 1}, nil},
		{"words have no border", "stale_as=unknown,last,full", []float64{3, 2, 1}, nil},
		{"the knob ends there: a weight is at least 0", "q=0,1,3", []float64{1, 2, 3}, nil},
		{"the knob ends there: margin is at most 1", "margin=0,0.5,1", []float64{3, 2, 1}, nil},
		{"the knob ends there: owners are at least 1", "k=1,2,4", []float64{1, 2, 3}, nil},
		{"room below for whole numbers", "k=2,3,4", []float64{1, 2, 3}, []Edge{{"k", "2", false}}},
		{"margin can grow a little", "margin=0,0.4,0.9", []float64{3, 2, 1}, []Edge{{"margin", "0.9", true}}},
		{"durations", "ttl=1s,10s,1m", []float64{3, 2, 1}, []Edge{{"ttl", "1m0s", true}}},
		{"durations end at 0", "ttl=0s,10s,1m", []float64{1, 2, 3}, nil},
	} {
		var values [][]float64
		for _, v := range test.value {
			values = append(values, []float64{v})
		}
		if d := cmp.Diff(test.want, made(t, []string{test.grid}, values...).Edges); d != "" {
			t.Errorf("%s: %s", test.name, d)
		}
	}
}

// The neighbour is the one with every other knob equal.
func TestEdgesLookAlongOneKnob(t *testing.T) {
	s := made(t, []string{"fit=spill,off", "q=1,3,9"}, []float64{1}, []float64{1}, []float64{9}, []float64{5}, []float64{3}, []float64{0.9})
	if d := cmp.Diff([]Edge{{"q", "9", true}}, s.Edges); d != "" {
		t.Error(d)
	}
}

// The weights file has the recommended point's settings and where they come from.
func TestWeights(t *testing.T) {
	p := problem(t, 1, 40, 2, "q=3,0,1", "fit=spill,off")
	s := searched(t, p, 2)
	w, ok := s.Weights("triage test")
	if !ok {
		t.Fatal("no weights")
	}
	at := p.Space.Spec(s.Recommended)
	if _, err := w.Encode(); err != nil {
		t.Fatal(err)
	}
	if got := fmtFloat(w.Config.Weights.Queue); got != at.Knob("q") || string(w.Config.Fit) != at.Knob("fit") {
		t.Errorf("q=%v fit=%v, want %s", got, w.Config.Fit, at.Text)
	}
	worst, _ := s.Regrets(s.Points[s.Recommended])
	mean := (s.Points[s.Recommended][0].Value + s.Points[s.Recommended][1].Value) / 2
	v := w.Provenance
	if v.Regret != worst || math.Abs(v.Value-mean) > 1e-12 || v.Points != 6 || v.Objective != p.Objective.Text || len(v.Traces) != 2 || v.Seed != 1 {
		t.Errorf("%+v", v)
	}
	if b := v.Bounds[0]; b.Knob != "q" || b.Min != "0" || b.Max != "3" {
		t.Errorf("bounds %+v", b)
	}
	p.Space, p.Cases = mustSpace(t, "random", "seed=1,2"), p.Cases[:1]
	if _, ok := searched(t, p, 1).Weights(""); ok {
		t.Error("a policy without weights has a weights file")
	}
}

func mustSpace(t testing.TB, policy string, grids ...string) *Space {
	t.Helper()
	s, err := ParseSpace(spec(t, policy), grids)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func fmtFloat(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
