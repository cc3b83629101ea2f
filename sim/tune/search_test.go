package tune

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/seed-2cee110a/triage/policies"
	"github.com/seed-2cee110a/triage/sim"
	"github.com/seed-2cee110a/triage/traces"
)

// small is a cluster of three replicas with little KV room, so that points differ.
func small(seed uint64, speed float64) sim.Config {
	cfg := sim.Default()
	cfg.Replicas, cfg.KVTokens, cfg.Seed, cfg.Speed, cfg.Ties = 3, 60_000, seed, speed, sim.Spread
	return cfg
}

// demo is the embedded trace.
var demo = sync.OnceValues(func() (*traces.Trace, error) { return traces.Open("demo", traces.Options{}) })

// problem is a grid on so many traces: the first requests of the demo, played at different speeds.
func problem(t testing.TB, seed uint64, requests, cases int, grids ...string) Problem {
	t.Helper()
	tr, err := demo()
	if err != nil {
		t.Fatal(err)
	}
	p := Problem{Baselines: []policies.Spec{spec(t, "round-robin"), spec(t, "score")}}
	if p.Space, err = ParseSpace(spec(t, "score"), grids); err != nil {
		t.Fatal(err)
	}
	if p.Objective, err = ParseObjective("ttft.mean + 0.1 * tpot.p90"); err != nil {
		t.Fatal(err)
	}
	for i := range cases {
		cfg := small(seed, 5*float64(i+1))
		cfg.Limit = requests
		stage, err := sim.Prepare(cfg, tr)
		if err != nil {
			t.Fatal(err)
		}
		p.Cases = append(p.Cases, Case{fmt.Sprintf("t%d", i), stage})
	}
	return p
}

func searched(t testing.TB, p Problem, workers int) *Study {
	t.Helper()
	s, err := Search(context.Background(), p, Settings{Workers: workers})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// The numbers of a study do not depend on the number of workers, and are those of plain replays.
func TestSearchIsALoopOfRuns(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		seed := rapid.Uint64Range(1, 1000).Draw(rt, "seed")
		p := problem(t, seed, rapid.IntRange(20, 80).Draw(rt, "requests"), rapid.IntRange(1, 3).Draw(rt, "traces"),
			"q=0,3", "norm=work,absolute", "fit=spill,off")
		one, four := searched(t, p, 1), searched(t, p, 4)
		if d := cmp.Diff(numbersOf(one), numbersOf(four), cmpopts.EquateNaNs()); d != "" {
			rt.Fatalf("one worker and four differ: %s", d)
		}
		for row, cells := range one.Points {
			for c, cell := range cells {
				want := plain(t, p, p.Space.Spec(row), c)
				if cell.Value != want.Value || !cell.Metrics.same(&want.Metrics) {
					rt.Fatalf("point %d on trace %d: got %+v, want %+v", row, c, cell, want)
				}
			}
		}
	})
}

// plain is a cell from a replay on its own, with the whole summary.
func plain(t testing.TB, p Problem, spec policies.Spec, c int) Cell {
	stage := p.Cases[c].Stage
	tr, err := demo()
	if err != nil {
		t.Fatal(err)
	}
	r, err := sim.Run(stage.Config(), spec, tr)
	if err != nil {
		t.Fatal(err)
	}
	s := r.Summary()
	return Cell{Value: s.TTFT.Mean + 0.1*s.TPOT.P90, Metrics: measure(&s)}
}

// numbersOf is everything in a study that is not the problem.
func numbersOf(s *Study) any {
	return []any{s.Points, s.Baselines, s.Interrupted, s.Class, s.Classes, s.Done, s.Best, s.Recommended, s.Plateau, s.Edges}
}

// Two points are in one class exactly if every request was dispatched to the same replica at the same instant, or refused
// alike, on every trace.
func TestClasses(t *testing.T) {
	p := problem(t, 1, 300, 2, "aff=0,10,20", "q=0,3,6", "load=0,0.02", "kv=1,100") // kv decides nothing with fit=spill
	s := searched(t, p, 2)
	if s.Classes < 2 || s.Classes > s.Space.Len()/2 {
		t.Errorf("%d points in %d classes: the grid shows nothing", s.Space.Len(), s.Classes)
	}
	var decided [][]string
	for point := range s.Points {
		var all []string
		for _, c := range p.Cases {
			r, err := c.Stage.Run(context.Background(), p.Space.Spec(point), nil)
			if err != nil {
				t.Fatal(err)
			}
			for _, o := range r.Outcomes {
				all = append(all, fmt.Sprint(o.Row, o.Replica, o.Dispatched, o.Status, o.Reason))
			}
		}
		decided = append(decided, all)
	}
	for a := range decided {
		for b := range decided {
			if same := slices.Equal(decided[a], decided[b]); same != (s.Class[a] == s.Class[b]) {
				t.Errorf("points %d and %d: same decisions %v, classes %d and %d", a, b, same, s.Class[a], s.Class[b])
			}
		}
		if first := s.Class[a]; first > a || s.Class[first] != first {
			t.Errorf("point %d has class %d, want its first point", a, first)
		}
	}
}

// Cells with equal hashes but other metrics are not one class, nor are points that are not done in any.
func TestClassesLookAtMetrics(t *testing.T) {
	cell := func(hash uint64, m float64) Cell { return Cell{Done: true, Decisions: hash, Metrics: Metrics{m}} }
	class, n := classes([][]Cell{{cell(1, 1)}, {cell(1, 2)}, {{}}, {cell(1, 2)}, {cell(2, 1)}, {cell(1, 1)}})
	if d := cmp.Diff([]int{0, 1, -1, 1, 4, 0}, class); d != "" || n != 3 {
		t.Errorf("%d classes, want 3: %s", n, d)
	}
}

// An interrupted study has what was done until then, unchanged, and says that it is not whole.
func TestSearchInterrupted(t *testing.T) {
	p := problem(t, 1, 40, 2, "q=0,1,3", "load=0,0.02")
	whole := searched(t, p, 2)
	for _, stop := range []int{0, 3, 4, 5, 9} {
		ctx, cancel := context.WithCancel(context.Background())
		if stop == 0 {
			cancel()
		}
		s, err := Search(ctx, p, Settings{Workers: 2, Progress: func(g Progress) {
			if g.Done == stop {
				cancel()
			}
		}})
		cancel()
		if !errors.Is(err, context.Canceled) || s == nil || !s.Interrupted {
			t.Fatalf("after %d replays: %v, study %v", stop, err, s != nil)
		}
		cells := 0
		for row, cs := range append(slices.Clone(s.Baselines), s.Points...) {
			for c, cell := range cs {
				if !cell.Done {
					continue
				}
				cells++
				if want := append(slices.Clone(whole.Baselines), whole.Points...)[row][c]; cell.Value != want.Value || !cell.Metrics.same(&want.Metrics) {
					t.Errorf("after %d replays: row %d trace %d is %v, want %v", stop, row, c, cell.Value, want.Value)
				}
			}
		}
		if cells < stop || cells > stop+1 { // one more worker may have been at its end
			t.Errorf("after %d replays the study has %d", stop, cells)
		}
		if (s.Recommended >= 0) != (s.Done > 0) || s.Done == s.Space.Len() {
			t.Errorf("after %d replays: %d points done, recommended %d", stop, s.Done, s.Recommended)
		}
	}
	if whole.Interrupted || whole.Done != whole.Space.Len() {
		t.Errorf("the whole study: interrupted %v, %d points", whole.Interrupted, whole.Done)
	}
}

func objective(t testing.TB, text string) *Objective {
	t.Helper()
	o, err := ParseObjective(text)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// A search in which no point has a value is an error that names the first, for any number of workers.
func TestSearchWithoutValues(t *testing.T) {
	p := problem(t, 1, 30, 1, "q=0,1,3")
	p.Objective = objective(t, "ttft.p90 / (requests - requests)")
	for _, workers := range []int{1, 3} {
		_, err := Search(context.Background(), p, Settings{Workers: workers})
		want := "no point has a value on every trace: point 0, score:q=0 on t0: " +
			`objective "ttft.p90 / (requests - requests)" is +Inf, want a finite number`
		if err == nil || err.Error() != want {
			t.Errorf("%d workers: got %v, want %s", workers, err, want)
		}
	}
	if _, err := Search(context.Background(), Problem{Space: p.Space}, Settings{}); err == nil {
		t.Error("a problem without traces is accepted")
	}
}

// A point or a baseline without a value does not end the search: the others are compared as if it were not there.
func TestSearchSkipsPointsWithoutValue(t *testing.T) {
	p := problem(t, 1, 300, 1, "q=0,3", "norm=work,absolute")
	plain := searched(t, p, 1)
	value := func(c Cell) string { return fmtFloat(c.Metrics[TTFTMean]) }
	for _, lost := range []int{0, plain.Recommended} {
		p.Objective = objective(t, fmt.Sprintf("ttft.mean / (ttft.mean == %s || ttft.mean == %s ? 0 : 1)",
			value(plain.Points[lost][0]), value(plain.Baselines[0][0])))
		var last Progress
		s, err := Search(context.Background(), p, Settings{Progress: func(g Progress) { last = g }})
		if err != nil {
			t.Fatal(err)
		}
		if c := s.Points[lost][0]; !c.Done || !math.IsNaN(c.Value) || !strings.HasSuffix(c.Why, "is +Inf, want a finite number") {
			t.Errorf("point %d has %+v", lost, c)
		}
		if c := s.Baselines[0][0]; !c.Done || !math.IsNaN(c.Value) {
			t.Errorf("the baseline has %+v", c)
		}
		if s.Interrupted || s.Done != 4 || !slices.Contains(s.Valueless, lost) || s.Competes(lost) || !s.Competes(s.Recommended) ||
			s.Best[0] == lost || slices.Contains(s.Plateau, lost) {
			t.Errorf("point %d of %d without value: %v, recommended %d, best %v, plateau %v", lost, s.Done, s.Valueless, s.Recommended, s.Best, s.Plateau)
		}
		if last.Points != 4 || slices.Contains(s.Valueless, last.Best) || math.IsNaN(last.Value) {
			t.Errorf("point %d without value: progress ends with %+v", lost, last)
		}
	}
}

// Two replays fail, the later one sooner: with any number of workers the error is that of the first.
func TestSearchErrorDoesNotDependOnWorkers(t *testing.T) {
	p := problem(t, 1, 1000, 1, "q=0,1,3")
	p.Cases = append(p.Cases, problem(t, 1, 2, 1, "q=0").Cases[0])
	p.Cases[1].Name = "short"
	p.Objective = objective(t, "[0.0][int(requests)]")
	want := ""
	for _, workers := range []int{1, 2, 8} {
		_, err := Search(context.Background(), p, Settings{Workers: workers})
		if err == nil || !strings.HasPrefix(err.Error(), "round-robin on t0: ") {
			t.Fatalf("%d workers: got %v, want that of the first replay", workers, err)
		}
		if want == "" {
			want = err.Error()
		}
		if err.Error() != want {
			t.Errorf("%d workers: got %v, one worker %s", workers, err, want)
		}
	}
}

// Progress counts every replay once and ends with the best point of all.
func TestProgress(t *testing.T) {
	p := problem(t, 1, 40, 1, "q=0,1,3", "load=0,0.02")
	var last Progress
	calls := 0
	s, err := Search(context.Background(), p, Settings{Workers: 3, Progress: func(g Progress) {
		calls++
		if g.Done != calls {
			t.Errorf("call %d says %d are done", calls, g.Done)
		}
		last = g
	}})
	if err != nil {
		t.Fatal(err)
	}
	best := s.Points[s.Best[0]][0].Value
	if last.Done != 8 || last.Total != 8 || last.Points != 6 || last.Value != best || s.Points[last.Best][0].Value != best {
		t.Errorf("got %+v, want 8 replays, 6 points, and the best value %v", last, best)
	}
}

func TestObjective(t *testing.T) {
	p := problem(t, 1, 40, 1, "q=0,1")
	r, err := p.Cases[0].Stage.Run(context.Background(), spec(t, "score"), nil)
	if err != nil {
		t.Fatal(err)
	}
	s := r.Summary()
	good := 0
	for o := range r.Joined() {
		if o.TTFTs <= s.TTFT.P50 {
			good++
		}
	}
	for text, want := range map[string]float64{
		"ttft.p90":                        s.TTFT.P90,
		"-hit_ratio":                      -s.HitRatio,
		"max(e2e.max, 0) + 2 * imbalance": s.E2E.Max + 2*s.Imbalance,
		"1":                               1,
		"-goodput(1e9, 1e9)":              -1,
		"goodput(ttft.p50, 1e9)":          float64(good) / float64(len(r.Outcomes)),
		"goodput(1e9, 0)":                 0,
	} {
		o, err := ParseObjective(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got, err := o.Value(r, &s); err != nil || got != want {
			t.Errorf("%s is %v, want %v (%v)", text, got, want, err)
		}
	}
}

func TestParseObjectiveRefuses(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"", "the objective is empty"},
		{"ttft.p91", `objective "ttft.p91", column 6: unknown field p91 (have TIME.mean, `},
		{"1 + tftt.p90", `column 5: unknown name tftt (have `},
		{"ttft.p90 +", "column 10: unexpected token EOF"},
		{"ttft", `objective "ttft" is not a number, want one such as ttft.p90`},
		{"ttft.p90 > 1", `is not a number`},
		{"goodput(1)", "column 1: not enough arguments to call goodput"},
	} {
		if _, err := ParseObjective(test.text); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got %v, want %s", test.text, err, test.want)
		}
	}
}

// On an hour of real traffic the grid finds a point that beats round robin by far, and counting work beats counting requests.
func TestMooncake(t *testing.T) {
	if testing.Short() {
		t.Skip("seven replays of an hour")
	}
	space, err := ParseSpace(spec(t, "score"), []string{"q=0.3,3", "norm=absolute,work"})
	if err != nil {
		t.Fatal(err)
	}
	objective, err := ParseObjective("ttft.mean")
	if err != nil {
		t.Fatal(err)
	}
	s := searched(t, Problem{Cases: []Case{conversation(t)}, Space: space, Objective: objective, Baselines: []policies.Spec{spec(t, "round-robin")}}, 2)
	best := s.Points[s.Recommended][0]
	if g := Gain(s.Baselines[0][0], best); !(g < -0.3) {
		t.Errorf("the best point changes mean TTFT by %v over round robin, want 30 %% less", g)
	}
	if got := space.Values(s.Recommended)[1]; got != "work" {
		t.Errorf("the best point has norm=%s", got)
	}
	if s.Classes != 4 {
		t.Errorf("four points make %d classes", s.Classes)
	}
}
