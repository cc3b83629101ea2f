package reports

import (
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// By hand: 1, 2, 3, 4, 5 have mean 3 and squares 4+1+0+1+4 = 10, so s = sqrt(10/4) = 1.5811 and s/sqrt(5) = 0.70711. The
// 0.975 quantile of Student's t with 4 degrees of freedom is 2.776445 (NIST/SEMATECH e-Handbook, table 1.3.6.7.2: 2.776),
// so half the interval is 1.96324 before it is widened. Neighbours: (-2)(-1) + 0 + 0 + (1)(2) = 4, over 10, is 0.4; of five
// values that stands for (5*0.4 + 1) / (5-4) = 3, kept to 0.9, which is sqrt(1.9/0.1) = 4.358899 times wider: 8.55757.
func TestStudentInterval(t *testing.T) {
	got := studentInterval([]float64{1, 2, 3, 4, 5})
	near := func(a, b float64) bool { return math.Abs(a-b) < 1e-5 }
	if got.n != 5 || got.mean != 3 || !near(got.low, 3-8.55757) || !near(got.high, 3+8.55757) || !near(got.lag1, 0.4) {
		t.Errorf("got %+v, want 3 from -5.55757 to 11.55757, lag-1 0.4", got)
	}
	// Reordered, neighbours are (-2)(1) + (1)(-1) + (-1)(2) + (2)(0) = -5, over 10: nothing is widened.
	if apart := studentInterval([]float64{1, 4, 2, 5, 3}); !near(apart.low, 1.03676) || !near(apart.high, 4.96324) || !near(apart.lag1, -0.5) {
		t.Errorf("got %+v, want 3 from 1.03676 to 4.96324, lag-1 -0.5", apart)
	}
	if same := studentInterval([]float64{2, 2, 2}); same.low != 2 || same.high != 2 || same.lag1 != 0 {
		t.Errorf("equal values: got %+v, want 2 to 2", same)
	}
}

// By hand, for 12 values: 0.25 stands for (12*0.25 + 1) / (12-4) = 0.5, so sqrt(1.5/0.5) = 1.732051; 0.05 for 0.2; -1/12 is what
// independent values show, so 1.
func TestWidening(t *testing.T) {
	for _, test := range []struct{ lag1, want float64 }{{0.25, 1.7320508}, {0.05, 1.2247449}, {-1.0 / 12, 1}, {-0.5, 1}, {0.5, 3.8729833}, {1, 4.3588989}} {
		if got := widening(test.lag1, 12); math.Abs(got-test.want) > 1e-6 {
			t.Errorf("lag-1 %v: %v times wider, want %v", test.lag1, got, test.want)
		}
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

// 480 arrivals make 12 windows of 40; a pause before row 45 draws the first cut, one at 55 is out of reach (40 / 4 = 10).
func TestCutWindows(t *testing.T) {
	arrivals := even(480)
	for i := range arrivals {
		if i >= 45 {
			arrivals[i] += 5
		}
		if i >= 55 {
			arrivals[i] += 50
		}
	}
	cuts := cutWindows(arrivals, 30)
	if len(cuts) != 13 || cuts[1] != 45 || cuts[2] != 80 || cuts[12] != 480 {
		t.Errorf("cuts %v, want 0, 45, 80, ..., 480", cuts)
	}
	// A cut at 31 would leave 329 for eleven windows of 30.
	arrivals = even(360)
	for i := 31; i < len(arrivals); i++ {
		arrivals[i] += 5
	}
	if cuts := cutWindows(arrivals, 30); cuts[1] != 30 {
		t.Errorf("cuts %v, want the first at 30", cuts)
	}
	if cuts := cutWindows(even(239), 30); cuts != nil {
		t.Errorf("239 arrivals are cut at %v, want none: 8 windows of 30 need 240", cuts)
	}
	if cuts := cutWindows(even(240), 30); len(cuts) != 9 {
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
		size := rapid.SampledFrom([]int{30, 50, 200}).Draw(t, "size")
		cuts := cutWindows(arrivals, size)
		if len(arrivals) < windowLeast*size {
			if cuts != nil {
				t.Fatalf("cuts %v of %d rows, want none with %d in each", cuts, len(arrivals), size)
			}
			return
		}
		if cuts[0] != 0 || cuts[len(cuts)-1] != len(arrivals) {
			t.Fatalf("cuts %v do not cover %d rows", cuts, len(arrivals))
		}
		for w := 1; w < len(cuts); w++ {
			if cuts[w]-cuts[w-1] < size {
				t.Fatalf("window %d of %v has fewer than %d rows", w, cuts, size)
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
		p, err := pairRuns(metric, rowsOfRun(12000, 1), rowsOfRun(12000, 1))
		if err != nil {
			t.Fatal(err)
		}
		worse, doubt := p.regressed(0)
		if worse || doubt != "" || p.low != 0 || p.high != 0 || p.n != 12 {
			t.Errorf("%s: %+v, regressed %v, doubt %q", metric, p, worse, doubt)
		}
	}
}

// Times that are 5 % longer throughout, and a hit ratio of 0.5/1.05 after 0.5, are worse by just that in every window.
func TestPlantedDifference(t *testing.T) {
	for _, metric := range pairedMetrics {
		p, err := pairRuns(metric, rowsOfRun(12000, 1), rowsOfRun(12000, 1.05))
		if err != nil {
			t.Fatal(err)
		}
		want := 0.05
		if metric == "hit_ratio" {
			want = 0.5 - 0.5/1.05
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
		back, err := pairRuns(metric, rowsOfRun(12000, 1.05), rowsOfRun(12000, 1))
		if err != nil {
			t.Fatal(err)
		}
		if worse, _ := back.regressed(0); worse || back.mean >= 0 {
			t.Errorf("%s: the faster run is worse: %+v", metric, back)
		}
	}
}

// noisy rows take up to a fifth longer or shorter than others, at random.
func noisy(t *rapid.T, rows []outcome) []outcome {
	out := append([]outcome(nil), rows...)
	for i := range out {
		f := rapid.Float64Range(0.8, 1.25).Draw(t, "factor")
		out[i].ttft, out[i].e2e, out[i].tpot, out[i].hit = out[i].ttft*f, out[i].e2e*f, out[i].tpot*f, out[i].hit/f
	}
	return out
}

// How much worse B is than A is how much better A is than B: ends of intervals of times are each other's inverse, those of
// the hit ratio each other's negative.
func TestPairingMirrors(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		base := rowsOfRun(300, 1)
		cand := noisy(t, base)
		metric := rapid.SampledFrom([]string{"ttft.mean", "e2e.p50", "hit_ratio"}).Draw(t, "metric")
		there, err := pairRuns(metric, base, cand)
		if err != nil {
			t.Fatal(err)
		}
		back, err := pairRuns(metric, cand, base)
		if err != nil {
			t.Fatal(err)
		}
		mirror := func(v float64) float64 { return 1/(1+v) - 1 }
		if metric == "hit_ratio" {
			mirror = func(v float64) float64 { return 0 - v }
		}
		near := func(a, b float64) bool { return math.Abs(a-b) < 1e-9 }
		if there.doubt != back.doubt || !near(there.low, mirror(back.high)) || !near(there.high, mirror(back.low)) || !near(there.mean, mirror(back.mean)) {
			t.Fatalf("%s: %+v one way and %+v back", metric, there, back)
		}
	})
}

// drifting rows are slower by a share that grows from window to window: neighbours are alike.
func drifting(n int) []outcome {
	out := rowsOfRun(n, 1)
	for i := range out {
		out[i].ttft *= 1 + 0.5*float64(i)/float64(n)
	}
	return out
}

func TestPairingNeedsWindows(t *testing.T) {
	short := rowsOfRun(500, 1) // the first windows have outputs of one token, so no TPOT
	for i := range 80 {
		short[i].tpot = math.NaN()
	}
	for _, test := range []struct {
		name, metric string
		base, cand   []outcome
		want         string // of words and doubt together
	}{
		{"neighbours alike", "ttft.mean", rowsOfRun(500, 1), drifting(500), "the 12 windows of ttft.mean do not tell: neighbours move together, with a lag-1 autocorrelation of 0."},
		{"empty windows", "tpot.mean", short, short, "10 windows and 2 without a value"},
		{"p99 of few", "ttft.p99", rowsOfRun(7999, 1), rowsOfRun(7999, 1), "too few windows: 0, want at least 8 with at least 1000 values of ttft.p99 each"},
		{"p99 of enough", "ttft.p99", rowsOfRun(8000, 1), rowsOfRun(8000, 1), "8 windows"},
		{"p95 in fewer windows", "ttft.p95", rowsOfRun(1999, 1), rowsOfRun(1999, 1), "9 windows"},
		{"p90", "ttft.p90", rowsOfRun(800, 1), rowsOfRun(800, 1), "8 windows"},
	} {
		p, err := pairRuns(test.metric, test.base, test.cand)
		if err != nil {
			t.Fatal(err)
		}
		if _, doubt := p.regressed(0.02); !strings.Contains(p.words()+"; "+doubt, test.want) {
			t.Errorf("%s: %q, doubt %q, want %q", test.name, p.words(), doubt, test.want)
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
	above := pairing{metric: "ttft.mean", interval: interval{n: 12, mean: 0.01, low: -0.01, high: 0.03}}
	if worse, doubt := above.regressed(0.02); worse || !strings.Contains(doubt, "+2.00 % inside") {
		t.Errorf("a mean below the slack and an end above: %v, %q", worse, doubt)
	}
	if _, err := pairRuns("ttft.p59", nil, nil); err == nil || !strings.Contains(err.Error(), `did you mean "ttft.p50"?`) {
		t.Errorf("unknown metric: %v", err)
	}
}
