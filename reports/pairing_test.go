package reports

import (
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// By hand: 1, 2, 3, 4, 5 have mean 3 and squares 4+1+0+1+4 = 10, so s = sqrt(10/4) = 1.5811 and s/sqrt(5) = 0.70711. The
// 0.975 quantile of Student's t with 4 degrees of freedom is 2.776445 (NIST/SEMATECH e-Handbook, table 1.3.6.7.2: 2.776),
// so half the interval is 1.96324. Neighbours: (-2)(-1) + 0 + 0 + (1)(2) = 4, over 10.
func TestStudentInterval(t *testing.T) {
	got := studentInterval([]float64{1, 2, 3, 4, 5})
	near := func(a, b float64) bool { return math.Abs(a-b) < 1e-5 }
	if got.n != 5 || got.mean != 3 || !near(got.low, 1.03676) || !near(got.high, 4.96324) || !near(got.lag1, 0.4) {
		t.Errorf("got %+v, want 3 from 1.03676 to 4.96324, lag-1 0.4", got)
	}
	if same := studentInterval([]float64{2, 2, 2}); same.low != 2 || same.high != 2 || same.lag1 != 0 {
		t.Errorf("equal values: got %+v, want 2 to 2", same)
	}
}

// even are n arrivals a second apart.
func even(n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = float64(i)
	}
	return out
}

// 360 arrivals make 12 windows of 30; a pause before row 33 draws the first cut, one at 45 is out of reach (30 / 4 = 7).
func TestCutWindows(t *testing.T) {
	arrivals := even(360)
	for i := range arrivals {
		if i >= 33 {
			arrivals[i] += 5
		}
		if i >= 45 {
			arrivals[i] += 50
		}
	}
	cuts := cutWindows(arrivals)
	if len(cuts) != 13 || cuts[1] != 33 || cuts[2] != 60 || cuts[12] != 360 {
		t.Errorf("cuts %v, want 0, 33, 60, ..., 360", cuts)
	}
	if cuts := cutWindows(even(239)); cuts != nil {
		t.Errorf("239 arrivals are cut at %v, want none: 8 windows of 30 need 240", cuts)
	}
	if cuts := cutWindows(even(240)); len(cuts) != 9 {
		t.Errorf("240 arrivals are cut at %v, want 8 windows", cuts)
	}
}

// Windows cover every row once, in order, and none is small.
func TestCutWindowsLaw(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		arrivals := make([]float64, rapid.IntRange(240, 2000).Draw(t, "n"))
		at := 0.0
		for i := range arrivals {
			at += rapid.SampledFrom([]float64{0, 0.1, 1, 60}).Draw(t, "gap")
			arrivals[i] = at
		}
		cuts := cutWindows(arrivals)
		if cuts[0] != 0 || cuts[len(cuts)-1] != len(arrivals) {
			t.Fatalf("cuts %v do not cover %d rows", cuts, len(arrivals))
		}
		for w := 1; w < len(cuts); w++ {
			if cuts[w]-cuts[w-1] < windowSize/2 {
				t.Fatalf("window %d of %v has fewer than %d rows", w, cuts, windowSize/2)
			}
		}
	})
}

// rowsOfRun are n requests whose times are factor times those of another run of the same seed.
func rowsOfRun(n int, factor float64) []outcome {
	out := make([]outcome, n)
	for i := range out {
		base := 0.1 + 0.01*float64((i*7919)%97)
		out[i] = outcome{arrival: float64(i), ttft: base * factor, e2e: 10 * base * factor, tpot: base * factor / 10,
			prompt: 1000, hit: 500 / factor, completed: true}
	}
	return out
}

// Identical runs differ by exactly nothing, whatever the metric: never a regression, and never a doubt.
func TestIdenticalRunsNeverRegress(t *testing.T) {
	for _, metric := range pairedMetrics {
		p, err := pairRuns(metric, rowsOfRun(500, 1), rowsOfRun(500, 1))
		if err != nil {
			t.Fatal(err)
		}
		worse, doubt := p.regressed(0)
		if worse || doubt != "" || p.low != 0 || p.high != 0 || p.n != 12 {
			t.Errorf("%s: %+v, regressed %v, doubt %q", metric, p, worse, doubt)
		}
	}
}

// Times that are 5 % longer throughout, and hits that are 1 - 1/1.05 = 4.76 % fewer, are worse by just that in every window.
func TestPlantedDifference(t *testing.T) {
	for _, metric := range pairedMetrics {
		p, err := pairRuns(metric, rowsOfRun(500, 1), rowsOfRun(500, 1.05))
		if err != nil {
			t.Fatal(err)
		}
		want := 0.05
		if metric == "hit_ratio" {
			want = 1 - 1/1.05
		}
		if math.Abs(p.low-want) > 1e-9 || math.Abs(p.high-want) > 1e-9 {
			t.Errorf("%s: %+v, want %v throughout", metric, p, want)
		}
		if worse, doubt := p.regressed(0.02); !worse || doubt != "" {
			t.Errorf("%s: 5 %% worse is not worse than 2 %%: %q", metric, doubt)
		}
		if worse, _ := p.regressed(0.06); worse {
			t.Errorf("%s: 5 %% worse is worse than 6 %%", metric)
		}
		back, err := pairRuns(metric, rowsOfRun(500, 1.05), rowsOfRun(500, 1))
		if err != nil {
			t.Fatal(err)
		}
		if worse, _ := back.regressed(0); worse || back.mean >= 0 {
			t.Errorf("%s: the faster run is worse: %+v", metric, back)
		}
	}
}

func TestPairingDoubts(t *testing.T) {
	refused := rowsOfRun(500, 1)
	for i := range 6 { // 1.2 %
		refused[i*50].completed = false
	}
	unknown := rowsOfRun(500, 1)
	for i := range unknown {
		unknown[i].hit = math.NaN()
	}
	for _, test := range []struct {
		name, metric string
		base, cand   []outcome
		want         string
	}{
		{"few requests", "ttft.mean", rowsOfRun(239, 1), rowsOfRun(239, 1), "too few windows: 0, want at least 8"},
		{"other requests", "ttft.mean", rowsOfRun(500, 1), rowsOfRun(499, 1), "500 and 499 requests"},
		{"refusals", "ttft.mean", rowsOfRun(500, 1), refused, "the candidate alone 6 of 500"},
		{"unknown hits", "hit_ratio", unknown, unknown, "too few windows: 0"},
	} {
		p, err := pairRuns(test.metric, test.base, test.cand)
		if err != nil {
			t.Fatal(err)
		}
		if worse, doubt := p.regressed(0.02); worse || !strings.Contains(doubt, test.want) {
			t.Errorf("%s: regressed %v, doubt %q, want %q", test.name, worse, doubt, test.want)
		}
	}
	wide := pairing{metric: "ttft.mean", interval: interval{n: 12, mean: 0.03, low: 0.01, high: 0.05}}
	if worse, doubt := wide.regressed(0.02); worse || !strings.Contains(doubt, "+2.00 % inside") {
		t.Errorf("an interval around the slack: %v, %q", worse, doubt)
	}
	if _, err := pairRuns("ttft.p59", nil, nil); err == nil || !strings.Contains(err.Error(), `did you mean "ttft.p50"?`) {
		t.Errorf("unknown metric: %v", err)
	}
}
