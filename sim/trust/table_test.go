package trust

import (
	"bytes"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-2cee110a/triage/engine"
	"github.com/seed-2cee110a/triage/sim/fidelity"
)

const shared = "../../../shared/fidelity"

// remake says how to get the table again.
const remake = "make fidelity-table makes it again from the measurements"

// The table is what the measurements and this program's step times give, byte for byte.
func TestEmbeddedIsWhatTheDataGives(t *testing.T) {
	if _, err := os.Stat(shared); err != nil {
		t.Skip("no measurements beside the checkout")
	}
	r, err := fidelity.Run(t.Context(), shared, fidelity.Settings{Workers: 2, Seed: Embedded().Seed})
	if err != nil {
		t.Fatal(err)
	}
	sum, files, err := fidelity.Digest(shared)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := New(r, sum, files).Write(&b); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(strings.Split(string(embedded), "\n"), strings.Split(b.String(), "\n")); d != "" {
		t.Errorf("errors.json is not what comes out now; %s; - it, + now:\n%s", remake, d)
	}
}

// Even without the measurements, a table of other step times is found out.
func TestEmbeddedIsOfThisCostModel(t *testing.T) {
	if got := CostDigest(); got != Embedded().Cost {
		t.Errorf("errors.json is about the step times %s, this program has %s; %s", Embedded().Cost, got, remake)
	}
}

// Each total is what its rows come to: as many, their weighted mean, a median between theirs, and their ranges together; and
// each row is in one total of each kind.
func TestTotalsFollowFromRows(t *testing.T) {
	kinds := map[string]int{}
	for _, total := range Embedded().Totals {
		var n int
		sum, least, most := [4][3]float64{}, [4]float64{1e9, 1e9, 1e9, 1e9}, [4]float64{}
		want := Group{Of: total.Of, Regime: total.Regime, GPU: total.GPU, Class: total.Class, Model: total.Model, Calibrated: true}
		for _, row := range Embedded().Rows {
			if !in(&row, &total) {
				continue
			}
			n++
			want.Calibrated = want.Calibrated && row.Calibrated
			want.Stages += row.Stages
			want.Prompt, want.Output, want.InFlight = spans(want.Prompt, row.Prompt), spans(want.Output, row.Output), spans(want.InFlight, row.InFlight)
			if row.PerS != (Range{}) {
				low := row.PerS[0]
				if want.PerS != (Range{}) {
					low = min(low, want.PerS[0])
				}
				want.PerS = Range{low, max(row.PerS[1], want.PerS[1])}
			}
			for m, e := range row.metrics() {
				if e.N > 0 {
					sum[m][0], sum[m][1], sum[m][2] = sum[m][0]+float64(e.N), sum[m][1]+float64(e.N)*e.Mean, sum[m][2]+float64(e.N)*e.Bias
					least[m], most[m] = min(least[m], e.Median), max(most[m], e.Median)
				}
			}
		}
		kinds[strings.Join(total.Of, "+")] += n
		for m, e := range total.metrics() {
			if float64(e.N) != sum[m][0] || e.N > 0 && (!near(e.Mean, sum[m][1]/sum[m][0]) || !near(e.Bias, sum[m][2]/sum[m][0])) {
				t.Errorf("%s: metric %d is %+v, its rows come to n %v, mean %v, bias %v", name(&total), m, *e, sum[m][0], sum[m][1]/sum[m][0], sum[m][2]/sum[m][0])
			}
			if e.N > 0 && (e.Median < least[m] || e.Median > most[m]) {
				t.Errorf("%s: metric %d has median %v, its rows have %v to %v", name(&total), m, e.Median, least[m], most[m])
			}
		}
		want.TTFT, want.TPOT, want.E2E, want.Served = total.TTFT, total.TPOT, total.E2E, total.Served
		if d := cmp.Diff(want, total); d != "" {
			t.Errorf("%s, from its rows - and as it is +:\n%s", name(&total), d)
		}
	}
	if len(kinds) != 5 {
		t.Errorf("%d kinds of totals, want 5", len(kinds))
	}
	for kind, n := range kinds {
		if n != len(Embedded().Rows) {
			t.Errorf("totals by %s cover %d rows, want all %d once", kind, n, len(Embedded().Rows))
		}
	}
}

// near allows for errors that are rounded to a millionth.
func near(a, b float64) bool { return math.Abs(a-b) <= 2e-6 }

func name(g *Group) string { return strings.Join([]string{g.Regime, g.GPU, g.Class, g.Model}, "/") }

// in says whether a row belongs to a total.
func in(row, total *Group) bool {
	for _, field := range total.Of {
		if get := map[string]func(*Group) string{"regime": func(g *Group) string { return g.Regime }, "gpu": func(g *Group) string { return g.GPU },
			"class": func(g *Group) string { return g.Class }, "model": func(g *Group) string { return g.Model }}[field]; get(row) != get(total) {
			return false
		}
	}
	return true
}

func spans(a, b Span) Span {
	if a == (Span{}) {
		return b
	}
	return Span{min(a[0], b[0]), max(a[1], b[1])}
}

// What counts as calibrated was measured, and rows say so of themselves.
func TestCalibratedIsMeasured(t *testing.T) {
	for _, model := range engine.Models() {
		for _, gpu := range engine.GPUs() {
			m, err := engine.LookupModel(model)
			if err != nil {
				t.Fatal(err)
			}
			g, err := engine.LookupGPU(gpu)
			if err != nil {
				t.Fatal(err)
			}
			rows := 0
			for _, row := range Embedded().Rows {
				if row.Class != m.Class() || row.GPU != g.Name {
					continue
				}
				rows++
				if row.Calibrated != engine.Measured(m, g) {
					t.Errorf("a row of models with %s on %s is calibrated: %v, want %v", row.Class, row.GPU, row.Calibrated, engine.Measured(m, g))
				}
			}
			if engine.Measured(m, g) && rows == 0 && !slices.Contains(onlyOverload, m.Class()+" on "+g.Name) {
				t.Errorf("%s on %s counts as calibrated, and the table has no errors for such", model, gpu)
			}
		}
	}
}

// onlyOverload were measured under overload alone, where means of latencies say little.
var onlyOverload = []string{"experts on A100-80GB"}

func TestTableRoundTrip(t *testing.T) {
	var b bytes.Buffer
	if err := Embedded().Write(&b); err != nil {
		t.Fatal(err)
	}
	if b.String() != string(embedded) {
		t.Error("the table written again is another text than the one it was read from")
	}
	for _, test := range []struct{ old, new, want string }{
		{SchemaName, "triage/trust/v0", `schema is "triage/trust/v0"`},
		{`"seed"`, `"sead"`, "unknown field"},
	} {
		if _, err := read([]byte(strings.Replace(b.String(), test.old, test.new, 1))); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s for %s: got error %v, want %s", test.new, test.old, err, test.want)
		}
	}
}
