package reports

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/parquet-go/parquet-go"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/seed-2cee110a/triage/policies"
	"github.com/seed-2cee110a/triage/sim"
	"github.com/seed-2cee110a/triage/sim/tune"
	"github.com/seed-2cee110a/triage/traces"
)

// studied is a search on so many traces, the demo's first requests at different speeds. It is interrupted after stop
// replays, 0 is never.
func studied(t *testing.T, cases, stop int, objective string, grids ...string) *tune.Study {
	t.Helper()
	tr, err := traces.Open("demo", traces.Options{Limit: 300})
	if err != nil {
		t.Fatal(err)
	}
	base, rr := parsed(t, "score"), parsed(t, "round-robin")
	p := tune.Problem{Baselines: []policies.Spec{rr, base}}
	if p.Space, err = tune.ParseSpace(base, grids); err != nil {
		t.Fatal(err)
	}
	if p.Objective, err = tune.ParseObjective(objective); err != nil {
		t.Fatal(err)
	}
	for i := range cases {
		cfg := sim.Default()
		cfg.ReuseOutput = sim.ReuseOff
		cfg.Replicas, cfg.KVTokens, cfg.Speed = 3, 60_000, 5*float64(i+1)
		stage, err := sim.Prepare(cfg, tr)
		if err != nil {
			t.Fatal(err)
		}
		p.Cases = append(p.Cases, tune.Case{Name: fmt.Sprintf("t%d", i), Stage: stage})
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	s, err := tune.Search(ctx, p, tune.Settings{Workers: 1, Progress: func(g tune.Progress) {
		if g.Done == stop {
			cancel()
		}
	}})
	if (err != nil) != (stop > 0) {
		t.Fatal(err)
	}
	return s
}

func parsed(t *testing.T, text string) policies.Spec {
	t.Helper()
	s, err := policies.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func tuningOf(t *testing.T, s *tune.Study) *Tuning {
	t.Helper()
	var replays []string
	for _, c := range s.Cases {
		replays = append(replays, "triage replay "+c.Name)
	}
	r, err := NewTuning(s, "triage tune", replays)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func written(t *testing.T, write func(io.Writer, *Tuning) error, r *Tuning) string {
	t.Helper()
	var b bytes.Buffer
	if err := write(&b, r); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func tuneSchemaOf(t *testing.T) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(TuneSchema()))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("tune.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("tune.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestTuningJSONFollowsItsSchema(t *testing.T) {
	schema := tuneSchemaOf(t)
	for name, s := range map[string]*tune.Study{
		"one trace":      studied(t, 1, 0, "ttft.mean", "q=0,1,3", "fit=spill,off"),
		"several":        studied(t, 3, 0, "-hit_ratio", "q=0,1,3", "ttl=0s,10s"),
		"interrupted":    studied(t, 2, 9, "ttft.mean", "q=0,1,3"),
		"without hits":   studied(t, 1, 0, "ttft.p90", "aff=0", "q=1"),
		"edge":           studied(t, 1, 0, "-hit_ratio", "aff=0,1,10", "load=2"),
		"a single point": studied(t, 1, 0, "0", "q=1"),
		"without values": studied(t, 1, 0, "ttft.mean / (hit_ratio > 0.4 ? 1 : 0)", "aff=0,10", "q=0.1,3"),
	} {
		doc, err := jsonschema.UnmarshalJSON(strings.NewReader(written(t, TuningJSON, tuningOf(t, s))))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if err := schema.Validate(doc); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The schema must be tight enough to notice what breaks its readers.
func TestTuneSchemaRefuses(t *testing.T) {
	schema := tuneSchemaOf(t)
	text := written(t, TuningJSON, tuningOf(t, studied(t, 1, 0, "ttft.mean", "q=0,1,3")))
	for _, test := range []struct{ name, old, new string }{
		{"another schema", TuneSchemaName, "triage/tune/v2"},
		{"another status", `"status": "complete"`, `"status": "done"`},
		{"an unknown field", `"plateau"`, `"plateaux"`},
		{"an unknown metric", `"ttft_mean_s"`, `"ttft_mean_ms"`},
		{"a number as text", `"points": 3`, `"points": "3"`},
		{"a value as a number", `"0",`, `0,`},
		{"a negative class", `"class": `, `"class": -1`},
	} {
		if !strings.Contains(text, test.old) {
			t.Errorf("%s: the sample has no %s", test.name, test.old)
			continue
		}
		doc, err := jsonschema.UnmarshalJSON(strings.NewReader(strings.Replace(text, test.old, test.new, 1)))
		if err != nil {
			t.Fatal(err)
		}
		if schema.Validate(doc) == nil {
			t.Errorf("the schema accepts %s", test.name)
		}
	}
}

// CSV and Parquet have the same columns in the same order and a row for every replay of a point, with its numbers.
func TestSweep(t *testing.T) {
	for _, stop := range []int{0, 9} { // 2 baselines and 2.5 points on two traces
		s := studied(t, 2, stop, "ttft.mean", "q=0,3", "fit=spill,off", "ttl=0s,1m30s")
		r := tuningOf(t, s)
		if stop == 0 && len(s.Refusing) != 4 { // all with fit=spill
			t.Fatalf("%d points of the sample refuse requests", len(s.Refusing))
		}
		rows := rowsOf(t, written(t, TuningCSV, r))
		file := written(t, TuningParquet, r)
		f, err := parquet.OpenFile(strings.NewReader(file), int64(len(file)))
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, c := range f.Schema().Fields() {
			names = append(names, c.Name())
		}
		head, _, _ := strings.Cut(written(t, TuningCSV, r), "\n")
		if d := cmp.Diff(strings.Split(head, ","), names); d != "" {
			t.Errorf("columns of CSV and Parquet differ: %s", d)
		}
		if want := either(stop == 0, "point,trace,q,fit,ttl_s,class,status,objective,regret,ttft_mean_s", ""); !strings.HasPrefix(head, want) {
			t.Errorf("columns are %s", head)
		}
		if want := map[int]int{0: 16, 9: 5}[stop]; len(rows) != want || f.NumRows() != int64(want) {
			t.Fatalf("%d rows of CSV and %d of Parquet, want %d", len(rows), f.NumRows(), want)
		}
		data := parquet.NewReader(f)
		for i, row := range rows {
			p, trace := i/2, i%2
			c := s.Points[p][trace]
			values := s.Space.Values(p)
			want := map[string]string{"point": fmt.Sprint(p), "trace": s.Cases[trace].Name, "q": values[0], "fit": values[1],
				"ttl_s": map[string]string{"0s": "0", "1m30s": "90"}[values[2]], "class": fmt.Sprint(s.Class[p]), "status": "full",
				"objective": csvFloat(c.Value), "regret": csvFloat(s.Regret(c, trace))}
			if s.Class[p] < 0 {
				want["class"], want["status"] = "", "partial"
			}
			if slices.Contains(s.Refusing, p) {
				want["regret"], want["status"] = "", "refuses"
			}
			for m, name := range tune.MetricNames() {
				want[name] = csvFloat(c.Metrics[m])
			}
			if d := cmp.Diff(want, row); d != "" {
				t.Errorf("row %d of the CSV: %s", i, d)
			}
			one := []parquet.Row{nil}
			if n, err := data.ReadRows(one); n != 1 {
				t.Fatal(err)
			}
			for j, v := range one[0] {
				text := v.String()
				switch {
				case v.IsNull():
					text = ""
				case v.Kind() == parquet.Double:
					text = csvFloat(v.Double())
				}
				if text != row[names[j]] {
					t.Errorf("row %d: Parquet has %s %q, CSV %q", i, names[j], text, row[names[j]])
				}
			}
		}
	}
}

// What a reader acts on is in the text, in Markdown and in JSON alike.
func TestTuningWords(t *testing.T) {
	s := studied(t, 2, 0, "-hit_ratio", "aff=0,1,10", "load=2", "fit=off")
	if len(s.Edges) == 0 {
		t.Fatal("the sample has no edge")
	}
	r := tuningOf(t, s)
	spec := s.Space.Spec(s.Recommended).Text
	for name, write := range map[string]func(io.Writer, *Tuning) error{"table": TuningText, "md": TuningMarkdown, "json": TuningJSON} {
		text := strings.Join(strings.Fields(written(t, write, r)), " ")
		for _, want := range []string{spec, "no interval: one deterministic replay per point",
			"aff=10 is the largest value of its grid, and -hit_ratio still improves towards it: add larger ones",
			"against round-robin", "plateau: ", "classes: "} {
			if !strings.Contains(text, want) {
				t.Errorf("%s lacks %q:\n%s", name, want, text)
			}
		}
		if name != "json" && !strings.Contains(text, "triage replay t1 -p round-robin -p "+spec) &&
			!strings.Contains(text, `triage replay t1 -p round-robin \ -p `+spec) {
			t.Errorf("%s lacks the next command", name)
		}
	}
}

// The words about several traces, the plateau and the classes follow the numbers.
func TestTuningFindings(t *testing.T) {
	s := studied(t, 2, 0, "ttft.mean", "q=0,1,3", "fit=off")
	for i, values := range [][2]float64{{1, 2}, {1.01, 1.01}, {2, 1}} { // by point: the first is best on t0, the last on t1
		for trace, v := range values {
			s.Points[i][trace].Value = v
		}
	}
	s.Best, s.Recommended, s.Plateau, s.Class, s.Classes = []int{0, 2}, 1, []int{1}, []int{0, 0, 2}, 2
	for want, change := range map[string]func(){
		"tuned on t0 alone (score:q=0,fit=off) it loses 100 % on t1":                                       func() {},
		"tuned on t1 alone (score:q=3,fit=off) it loses 100 % on t0":                                       func() {},
		"the recommended point loses at most 1.0 % against the best point of each, 1.0 % on average":       func() {},
		"plateau: none of the other 2 points is within 2 % of the best: a spike":                           func() {},
		"classes: 2 of 3 points decide differently":                                                        func() {},
		"plateau: 2 of 3 points within 2 % of the best, which decide in 1 different way; on it q is not 3": func() { s.Plateau = []int{0, 1} },
		"on it q is 1":                           func() { s.Plateau, s.Class = []int{1, 1}, []int{0, 1, 2} },
		"one point is the best on every trace":   func() { s.Best = []int{1, 1} },
		"classes: no two points decide alike":    func() { s.Classes = 3 },
		"classes: every point decides alike":     func() { s.Classes = 1 },
		"nothing says how steep it is around it": func() { s.Done = 1 },
	} {
		kept := *s
		change()
		got := strings.Join(tuningFindings(tuningOf(t, s)), "\n")
		if !strings.Contains(got, want) {
			t.Errorf("want %q in\n%s", want, got)
		}
		*s = kept
	}
}

// A policy that is as good as the recommended point, or better, is told to be kept.
func TestTuningKeep(t *testing.T) {
	for _, test := range []struct {
		name   string
		factor float64 // the defaults' objective over the best point's
		want   string
	}{
		{"just on the plateau", 1.019, "score is on the plateau: if that is what runs, keep it"},
		{"just off it", 1.021, ""},
		{"better than all", 0.999, "score is better than every point of the grid: keep it, or search around it"},
	} {
		s := studied(t, 1, 0, "ttft.mean", "q=0,3")
		s.Baselines[1][0] = s.Points[s.Recommended][0] // as many refused
		s.Baselines[1][0].Value *= test.factor
		got := strings.Join(tuningOf(t, s).keep(), "; ")
		if got != test.want {
			t.Errorf("%s: got %q, want %q", test.name, got, test.want)
		}
	}
}

func TestTuningSaysInterrupted(t *testing.T) {
	r := tuningOf(t, studied(t, 1, 4, "ttft.mean", "q=0,1,3"))
	want := "interrupted: only 2 of 3 points were replayed on every trace; the answer is the best of those"
	if w := tuningWarnings(r); len(w) == 0 || w[0] != want {
		t.Errorf("got %q, want %q first", w, want)
	}
	var doc struct {
		Status       string
		Points, Done int
	}
	if err := json.Unmarshal([]byte(written(t, TuningJSON, r)), &doc); err != nil {
		t.Fatal(err)
	}
	if doc.Status != "interrupted" || doc.Points != 3 || doc.Done != 2 {
		t.Errorf("JSON has %+v", doc)
	}
	if _, err := NewTuning(studied(t, 1, 2, "ttft.mean", "q=0,1,3"), "", nil); err == nil {
		t.Error("a study without a point is reported")
	}
}

// shares sets what a row refused, on every trace.
func shares(cells []tune.Cell, refused float64) {
	for i := range cells {
		cells[i].Metrics[tune.Rejected] = refused
	}
}

// Rows over clearly different requests are marked wherever they are compared, unless the objective itself has what a
// refused request costs, and are not told to be kept.
func TestTuningMarksRefusals(t *testing.T) {
	for _, test := range []struct {
		objective   string
		best, other float64 // requests refused by the points, and by score
		marked      bool
	}{
		{"ttft.mean", 0, 0, false},
		{"ttft.mean", 0, 0.009, false},
		{"ttft.mean", 0, 0.011, true},
		{"ttft.mean", 0.3, 0, true},
		{"ttft.mean + 0 * rejected", 0, 0.5, false},
	} {
		for traces := 1; traces <= 2; traces++ {
			s := studied(t, traces, 0, test.objective, "q=0,3", "fit=off")
			for _, rows := range [][][]tune.Cell{s.Points, s.Baselines} {
				for _, cells := range rows {
					shares(cells, test.best)
				}
			}
			shares(s.Baselines[1], test.other)
			for trace := range s.Cases {
				s.Baselines[1][trace].Value = s.BestValue(trace) / 2
			}
			r := tuningOf(t, s)
			for name, write := range map[string]func(io.Writer, *Tuning) error{"table": TuningText, "md": TuningMarkdown} {
				text := written(t, write, r)
				for _, want := range []string{either(name == "md", `-50 %\*`, "-50 %*"), "* do not compare: ", "(do not compare: it refused"} {
					words := strings.Join(strings.Fields(text), " ")
					if strings.Contains(words, want) != test.marked {
						t.Errorf("%+v on %d traces: %s has %q %v", test, traces, name, want, !test.marked)
					}
				}
				if kept := strings.Contains(text, "score is better than every point"); kept == test.marked {
					t.Errorf("%+v on %d traces: %s tells to keep score: %v", test, traces, name, kept)
				}
				if test.marked && strings.Contains(text, "score beats") {
					t.Errorf("%+v on %d traces: %s says that score beats what it does not compare with", test, traces, name)
				}
			}
			for trace := range s.Cases {
				s.Baselines[1][trace].Value = s.BestValue(trace)
			}
			if kept := slices.Contains(r.keep(), "score is on the plateau: if that is what runs, keep it"); kept == test.marked {
				t.Errorf("%+v on %d traces: score is said to be on the plateau: %v", test, traces, kept)
			}
		}
	}
}

// Which points were not considered, and why, is said; and that all of them refuse.
func TestTuningRuledOut(t *testing.T) {
	s := studied(t, 1, 0, "ttft.mean", "q=0,3", "fit=spill,off")
	want := "2 of 4 points ruled out, over 0.1 % more of the requests refused than by the point or baseline that refuses least: their times are over an easier set"
	if got := tuningOf(t, s).ruledOut(); !slices.Equal(got, []string{want}) || !s.Competes(s.Recommended) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := tuningOf(t, studied(t, 1, 0, "ttft.mean", "q=0,3", "fit=off")).ruledOut(); got != nil {
		t.Errorf("nothing is refused: %q", got)
	}
	all := tuningOf(t, studied(t, 1, 0, "ttft.mean", "q=0,3", "fit=spill"))
	if w := strings.Join(tuningWarnings(all), "\n"); !strings.Contains(w, "every point refuses on some trace at least 41 %") {
		t.Errorf("every point refuses 41 %%, round robin nothing: %q", w)
	}
	s = studied(t, 1, 0, "ttft.mean / (hit_ratio > 0.4 ? 1 : 0)", "aff=0,10", "fit=off")
	if len(s.Valueless) == 0 || len(s.Valueless) == s.Done {
		t.Fatalf("%d of %d points of the sample lack a value", len(s.Valueless), s.Done)
	}
	r := tuningOf(t, s)
	for _, want := range []string{`1 point has no value (objective "ttft.mean / (hit_ratio > 0.4 ? 1 : 0)" is +Inf, want a finite number)`,
		"- against round-robin, which has no value", "plateau: every other point is ruled out or has no value"} {
		if got := strings.Join(tuningFindings(r), "\n"); !strings.Contains(got, want) {
			t.Errorf("want %q in\n%s", want, got)
		}
	}
	if text := written(t, TuningJSON, r); !strings.Contains(text, `"objective": null`) || !strings.Contains(text, `"valueless": 1`) {
		t.Error("JSON does not say what has no value")
	}
}

// Regrets are percentages however large, and differences where the best is 0.
func TestTuningRegretTexts(t *testing.T) {
	s := studied(t, 2, 0, "ttft.mean", "q=0,1,3", "fit=off")
	values := func(best float64, other ...float64) *Tuning {
		for p, cells := range s.Points {
			for trace := range cells {
				cells[trace].Value = append([]float64{best}, other...)[p]
			}
		}
		s.Best, s.Recommended = []int{0, 0}, 0
		return tuningOf(t, s)
	}
	for _, test := range []struct {
		values      []float64 // of the best point and two others
		table, loss string    // of the second
	}{
		{[]float64{1, 10.61, 1}, "+961 %", "961 %"},
		{[]float64{1, 1.994, 1}, "+99 %", "99 %"},
		{[]float64{1, 13.3, 1}, "+1,230 %", "1,230 %"},
		{[]float64{2, 2.1, 2}, "+5 %", "5.0 %"},
		{[]float64{-0.4, -0.3, -0.4}, "+25 %", "25 %"},
		{[]float64{0, 1.5, 0}, "+1.50 s (best is 0)", "1.50 s (best is 0)"},
		{[]float64{0, 0, 0}, "0 %", "0 %"},
	} {
		r := values(test.values[0], test.values[1:]...)
		c := s.Points[1][1]
		if got := r.against(c, 1); got != test.table {
			t.Errorf("%v: %q in the table, want %q", test.values, got, test.table)
		}
		if got := r.loss(s.Regret(c, 1), 1); got != test.loss {
			t.Errorf("%v: a loss of %q, want %q", test.values, got, test.loss)
		}
		if worst, mean := r.regrets(s.Points[1]); worst != test.table || mean != test.table {
			t.Errorf("%v: regrets over the traces %q and %q, want %q", test.values, worst, mean, test.table)
		}
	}
}

// A gain of an objective below 0 is told in words, as its sign would mislead.
func TestTuningGain(t *testing.T) {
	r := tuningOf(t, studied(t, 1, 0, "-hit_ratio", "q=0", "fit=off"))
	for _, test := range []struct {
		from, to float64
		want     string
	}{
		{2, 1, "-50 %"}, {2, 3, "+50 %"}, {1, 10.61, "+961 %"}, {2, 2.001, "0 %"},
		{-0.4, -0.6, "better by 50 %"}, {-0.6, -0.4, "worse by 33 %"}, {-0.4, -0.4, "0 %"}, {-0.4, -4, "better by 900 %"},
		{0, -0.25, "-0.250"}, {0, 0.01, "+0.01"},
	} {
		if got := r.gain(tune.Cell{Value: test.from}, tune.Cell{Value: test.to}); got != test.want {
			t.Errorf("from %v to %v is %q, want %q", test.from, test.to, got, test.want)
		}
	}
}

// A baseline that clearly beats the recommended point on one trace is named, by the sign of the objective.
func TestTuningKeepSaysWhereABaselineWins(t *testing.T) {
	for _, test := range []struct {
		objective string
		factor    float64 // on t1, over the recommended point's
		refused   float64 // on t0, where it is worse
		want      string
	}{
		{"ttft.mean", 0.9, 0.5, "on t1 score beats the recommended point: ttft.mean -10 %"},
		{"ttft.mean", 0.9, 0, "on t1 score beats the recommended point: ttft.mean -10 %"},
		{"ttft.mean", 0.985, 0, ""},
		{"-hit_ratio", 1.1, 0, "on t1 score beats the recommended point: -hit_ratio better by 10 %"},
		{"-hit_ratio", 0.9, 0, ""},
	} {
		s := studied(t, 2, 0, test.objective, "q=0,3", "fit=off")
		best := s.Points[s.Recommended]
		s.Baselines[1][0].Value = best[0].Value + math.Abs(best[0].Value)
		s.Baselines[1][1].Value = best[1].Value * test.factor
		shares(s.Baselines[1][:1], test.refused)
		shares(s.Baselines[1][1:], 0)
		got := slices.DeleteFunc(tuningOf(t, s).keep(), func(text string) bool { return !strings.Contains(text, "score") })
		if strings.Join(got, "; ") != test.want {
			t.Errorf("%s x %v: got %q, want %q", test.objective, test.factor, got, test.want)
		}
	}
}

// The picture has no colour for a point that does not compete, drawn from the search or from its folder.
func TestSweepLeavesOutPointsThatDoNotCompete(t *testing.T) {
	for name, s := range map[string]*tune.Study{
		"refusing":      studied(t, 2, 0, "ttft.mean", "q=0,3", "fit=spill,off"),
		"without value": studied(t, 2, 0, "ttft.mean / (hit_ratio > 0.4 ? 1 : 0)", "aff=0,10", "fit=off"),
	} {
		r, dir := tuningOf(t, s), t.TempDir()
		drawn := NewSweep(r)
		out := 0
		for p, regret := range drawn.Regret {
			if known(regret) != s.Competes(p) {
				t.Errorf("%s: point %d has regret %v, competes %v", name, p, regret, s.Competes(p))
			}
			if !s.Competes(p) {
				out++
			}
		}
		if out == 0 || out == len(s.Points) {
			t.Fatalf("%s: %d of %d points of the sample do not compete", name, out, len(s.Points))
		}
		text := written(t, TuningCSV, r)
		for status, points := range map[string][]int{"refuses": s.Refusing, "valueless": s.Valueless} {
			if n := strings.Count(text, ","+status+","); n != 2*len(points) {
				t.Errorf("%s: %d rows say %s, want %d", name, n, status, 2*len(points))
			}
		}
		for file, write := range map[string]func(io.Writer, *Tuning) error{"result.json": TuningJSON, "sweep.parquet": TuningParquet} {
			if err := os.WriteFile(filepath.Join(dir, file), []byte(written(t, write, r)), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		read, err := readSweep(filepath.Join(dir, "result.json"))
		if err != nil {
			t.Fatal(err)
		}
		if err := read.fill(filepath.Join(dir, "sweep.parquet")); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(drawn, read, cmpopts.EquateNaNs()); d != "" {
			t.Errorf("%s: the picture of the folder differs: %s", name, d)
		}
	}
}
