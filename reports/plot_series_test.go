package reports

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/seed-2cee110a/triage/sim"
	"github.com/seed-2cee110a/triage/traces"
)

// demoResults replays the first requests of the embedded trace.
func demoResults(t *testing.T) []*sim.Result {
	t.Helper()
	tr, err := traces.Open("demo", traces.Options{})
	if err != nil {
		t.Fatal(err)
	}
	cfg := sim.Default()
	cfg.Engine.MaxLoRAs, cfg.Engine.AdapterLoadTime = 0, 0 // as Prepare has them for a trace without adapters
	cfg.Limit = 800
	return resultsOf(t, cfg, tr, "round-robin", "score")
}

func gallery(t *testing.T, results ...*sim.Result) *Gallery {
	t.Helper()
	g, err := NewGallery(results...)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// Of round robin the warm ones, the two that hit all that could, have a mean of 1 s. Two cold ones of 4 and 2 s cost 4 s
// more, the one of 1.5 s half a second, and the one of 0.5 s nothing, since a cost is never below 0: 8/9 and 1/9.
func TestAffinityByHand(t *testing.T) {
	s := NewAffinitySeries(handGallery())
	if len(s.Bands) != 1 {
		t.Fatalf("%d bands of one length, want one", len(s.Bands))
	}
	cold, little, half, over, full := s.cell(0, 0, 0), s.cell(0, 0, 1), s.cell(0, 0, 2), s.cell(0, 0, 3), s.cell(0, 0, 4)
	if cold.N != 2 || little.N != 1 || half.N != 1 || over.N != 0 || full.N != 2 {
		t.Errorf("n %d %d %d %d %d, want 2 1 1 0 2", cold.N, little.N, half.N, over.N, full.N)
	}
	if cold.Cost != 4 || cold.CostShare != 8.0/9 || half.CostShare != 1.0/9 || little.Cost != 0 || full.Cost != 0 {
		t.Errorf("costs %v (%v), %v, %v, %v, want 4 (8/9), 0, 1/9, 0", cold.Cost, cold.CostShare, little.Cost, half.CostShare, full.Cost)
	}
	if cold.Mean != 3 || cold.P50 != 2 || cold.P95 != 4 || !math.IsNaN(over.P50) {
		t.Errorf("cold mean %v p50 %v p95 %v, empty p50 %v, want 3, 2, 4, NaN", cold.Mean, cold.P50, cold.P95, over.P50)
	}
	if s.best() != 1 {
		t.Errorf("best policy is %s, want score", s.Policies[s.best()])
	}
}

// Nothing is lost or counted twice, and the buckets are those of the summary.
func TestAffinityLaws(t *testing.T) {
	results := demoResults(t)
	s := NewAffinitySeries(gallery(t, results...))
	if len(s.Bands) != 1+lengthBands {
		t.Fatalf("%d bands, want %d", len(s.Bands), 1+lengthBands)
	}
	for p, r := range results {
		summary := r.Summary()
		inBands := 0
		for b := range s.Bands {
			n, shares, costs := 0, 0.0, 0.0
			for k := range unknownBucket {
				c := s.cell(b, p, k)
				n, shares, costs = n+c.N, shares+c.Share, costs+c.CostShare
				if c.N > 0 && !(c.P5 <= c.P25 && c.P25 <= c.P50 && c.P50 <= c.P75 && c.P75 <= c.P95) {
					t.Errorf("quantiles of %+v fall", *c)
				}
				if b == 0 && (c.N != summary.Affinity[k].N || c.N > 0 && c.P50 != summary.Affinity[k].TTFT.P50) {
					t.Errorf("%s: bucket %s has %d requests and p50 %v, the summary %+v", r.Policy, bucketOrder()[k], c.N, c.P50, summary.Affinity[k])
				}
			}
			if math.Abs(shares-1) > 1e-9 || !math.IsNaN(costs) && math.Abs(costs-1) > 1e-9 {
				t.Errorf("%s, band %d: shares sum to %v, costs to %v, want 1", r.Policy, b, shares, costs)
			}
			if b > 0 {
				inBands += n
			} else if n != summary.Completed {
				t.Errorf("%s: %d requests, want the %d completed", r.Policy, n, summary.Completed)
			}
		}
		if inBands != summary.Completed {
			t.Errorf("%s: %d requests in the bands together, want %d", r.Policy, inBands, summary.Completed)
		}
	}
}

// Without warm requests there is no cost to share.
func TestAffinityCostNeedsWarm(t *testing.T) {
	s := NewAffinitySeries(&Gallery{"x", []Played{{"p", []string{"r0"}, []PlayedRequest{done(0, 1, 10, 0, 8, 0), done(0, 2, 10, 0, 8, 0)}}}})
	if c := s.cell(0, 0, 0); !math.IsNaN(c.Cost) || !math.IsNaN(c.CostShare) {
		t.Errorf("cost %v, share %v, want NaN", c.Cost, c.CostShare)
	}
}

// Cold ones of 1.1 s among as many warm ones of 1 s cost 4.8 % of the time, which is noise; of 1.2 s 9 %, which is not.
func TestAffinityCostIsClear(t *testing.T) {
	for cold, clear := range map[float64]bool{1.1: false, 1.2: true} {
		s := NewAffinitySeries(&Gallery{"x", []Played{{"p", []string{"r0"}, coldAndWarm(40, 100, cold, 1)}}})
		c := s.cell(0, 0, 0)
		if known(c.CostShare) != clear || !(c.Cost > 0) {
			t.Errorf("cold ones of %v s: cost %v, share %v, want a share: %v", cold, c.Cost, c.CostShare, clear)
		}
		svg := drawnSVG(t, affinityDrawing(s))
		if strings.Contains(svg, ">p: no clear cost<") == clear || strings.Contains(svg, ">p: no warm") {
			t.Errorf("cold ones of %v s: affinity.svg says that there is no clear cost: %v", cold, !clear)
		}
	}
}

// A bar of few requests, or measured from few, has its share in brackets.
func TestAffinityCostOfFew(t *testing.T) {
	enough := coldAndWarm(fewSamples, 100, 3, 1)
	for name, c := range map[string]struct {
		requests []PlayedRequest
		want     string
	}{
		"enough":   {enough, "100 %"},
		"few cold": {append(slices.Clone(enough[2:]), enough[1]), "(100 %)"},
		"few warm": {append(slices.Clone(enough[2:]), enough[0]), "(100 %)"},
	} {
		svg := drawnSVG(t, affinityDrawing(NewAffinitySeries(&Gallery{"x", []Played{{"p", []string{"r0"}, c.requests}}})))
		for _, label := range []string{"100 %", "(100 %)"} {
			if got := strings.Contains(svg, ">"+label+"<"); got != (label == c.want) {
				t.Errorf("%s: %q is in the picture: %v, want only %q", name, label, got, c.want)
			}
		}
	}
}

// coldAndWarm are n cold requests and n that hit all that could, of one length.
func coldAndWarm(n int, prompt int32, cold, warm float64) []PlayedRequest {
	var out []PlayedRequest
	for range n {
		out = append(out, done(0, cold, prompt, 0, prompt-4, 0), done(0, warm, prompt, prompt-4, prompt-4, 0))
	}
	return out
}

func drawnSVG(t *testing.T, d *drawing) string {
	t.Helper()
	var b bytes.Buffer
	if err := d.render(&b, "svg"); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// The title names the lengths at which affinity pays.
func TestAffinityAnswerByLength(t *testing.T) {
	const few = -1
	for want, warm := range map[string][3]float64{
		"Affinity pays for prompts of 30 tokens (0.33x), not for shorter ones (up to 1.04x)":          {1.04, 1, 0.33},
		"Affinity pays for prompts of 20 to 30 tokens (0.33x to 0.50x), not for shorter ones (1.04x)": {1.04, 0.5, 0.33},
		"Affinity pays for prompts of 10 tokens (0.50x), not for longer ones (2.00x)":                 {0.5, 2, 2},
		"Affinity pays for prompts of 10 and of 30 tokens (0.50x), not for other ones (1.00x)":        {0.5, 1, 0.5},
		"Affinity pays for prompts of 20 tokens (0.50x), not for other ones (up to 1.50x)":            {1.5, 0.5, 1},
		"Affinity pays for prompts of 10 and of 30 tokens (0.50x), no telling for others":             {0.5, few, 0.5},
		"Affinity pays for prompts of 30 tokens (0.50x), not for shorter ones (1.00x), no telling for others": {
			few, 1, 0.5},
		"Affinity pays: of like length, a warm prompt's median TTFT is 0.50 times that of one with at most 25 % hit (under p)": {0.5, 0.5, 0.5},
		"Affinity does not pay: of like length, a warm prompt's median TTFT is 1.00 to 1.20 times that of one with at most 25 % hit (under p)": {
			1.2, 1, few},
	} {
		var requests []PlayedRequest
		for band, ttft := range warm {
			prompt := int32(10 * (band + 1))
			if ttft == few {
				for range 2 * fewSamples {
					requests = append(requests, done(0, 1, prompt, 0, prompt-4, 0))
				}
				continue
			}
			requests = append(requests, coldAndWarm(fewSamples, prompt, 1, ttft)...)
		}
		if got := NewAffinitySeries(&Gallery{"x", []Played{{"p", []string{"r0"}, requests}}}).answer(); got != want {
			t.Errorf("%v:\n%s\nwant\n%s", warm, got, want)
		}
	}
}

// Bands cut at quantiles, never between prompts of one length.
func TestBands(t *testing.T) {
	g := &Gallery{Runs: []Played{{}}}
	for _, n := range []int32{1, 2, 2, 2, 2, 2, 3, 4, 5} {
		g.Runs[0].Requests = append(g.Runs[0].Requests, PlayedRequest{Prompt: n})
	}
	want := []LengthBand{{1, 5, 9}, {1, 2, 6}, {3, 3, 1}, {4, 5, 2}}
	got := bands(g)
	total := 0
	for _, b := range got[1:] {
		total += b.Requests
	}
	if total != 9 || !cmp.Equal(got[:2], want[:2]) {
		t.Errorf("bands %v, want the whole, then one of lengths 1 and 2, and every request in one", got)
	}
}

// The answer in words follows the numbers.
func TestAffinityAnswer(t *testing.T) {
	run := func(warm float64, n int) *Gallery {
		p := Played{Policy: "p", Replicas: []string{"r0"}}
		for range n {
			p.Requests = append(p.Requests, done(0, 2, 100, 0, 96, 0), done(0, warm, 100, 96, 96, 0))
		}
		return &Gallery{"x", []Played{p}}
	}
	for want, g := range map[string]*Gallery{
		"Affinity pays: of like length, a warm prompt's median TTFT is 0.25 times": run(0.5, 30),
		"Affinity does not pay: ":         run(2, 30),
		"Does affinity pay? No telling: ": run(0.5, 29),
	} {
		if got := NewAffinitySeries(g).answer(); !strings.HasPrefix(got, want) {
			t.Errorf("%q, want it to begin with %q", got, want)
		}
	}
}

// A trace that says nothing of prefixes gets no boxes.
func TestAffinityUnknown(t *testing.T) {
	svg := string(writtenPlots(t, mustPlotFiles(t, edges()["no identity"]))["affinity.svg"])
	if !strings.Contains(svg, "prefix identity") || strings.Contains(svg, "hit to 25") {
		t.Error("affinity.svg draws buckets of requests without identity, or does not say that they have none")
	}
	some := string(writtenPlots(t, mustPlotFiles(t, edges()["some identity"]))["affinity.svg"])
	if !strings.Contains(some, "Left out: 1 request without prefix identity") {
		t.Error("affinity.svg does not say that it leaves a request out")
	}
}

// Rising from above 0 to 1, with at most some 500 steps, and right at the quantiles.
func TestECDFLaws(t *testing.T) {
	results := demoResults(t)
	for i, c := range NewECDFSeries(gallery(t, results...)).Curves {
		n := len(c.TTFT)
		if n == 0 || n > 520 || c.N != results[i].Summary().Completed || c.Share[n-1] != 1 || c.TTFT[n-1] != results[i].Summary().TTFT.Max {
			t.Fatalf("%s: %d steps of %d requests, the last %v at %v", c.Policy, n, c.N, c.Share[n-1], c.TTFT[n-1])
		}
		for k := 1; k < n; k++ {
			if c.TTFT[k] <= c.TTFT[k-1] || c.Share[k] <= c.Share[k-1] {
				t.Fatalf("%s: step %d does not rise", c.Policy, k)
			}
		}
		for k, v := range c.TTFT { // recount
			up := 0
			for _, x := range c.sorted {
				if x <= v {
					up++
				}
			}
			if got := c.Share[k]; math.Abs(got-float64(up)/float64(c.N)) > 1e-12 {
				t.Fatalf("%s: share %v up to %v, want %d of %d", c.Policy, got, v, up, c.N)
			}
		}
	}
}

// Work is neither lost nor made: requests in flight over time are the requests' times on the replicas.
func TestLoadLaws(t *testing.T) {
	g := gallery(t, demoResults(t)...)
	for run, r := range NewLoadSeries(g).Runs {
		want, got := 0.0, 0.0
		for _, q := range g.Runs[run].Requests {
			if q.Completed {
				want += q.Finished - q.Dispatched
			}
		}
		w := NewLoadSeries(g).Window
		for i := range r.InFlight {
			for k, v := range r.InFlight[i] {
				got += v * w
				if b := r.Busy[i][k]; b < 0 || b > 1+1e-9 || b > v+1e-9 || v > 0 && b == 0 {
					t.Fatalf("%s: busy %v with %v in flight", r.Policy, b, v)
				}
				if h := r.Hit[i][k]; h < 0 || h > 1 {
					t.Fatalf("%s: hit ratio %v", r.Policy, h)
				}
			}
		}
		if math.Abs(got-want) > 1e-6*want {
			t.Errorf("%s: %v s in flight, want %v", r.Policy, got, want)
		}
	}
}

// Two requests on one replica, 0 to 2 s and 1 to 4 s, in windows of 2 s: 3 s of the first, 2 s of the second.
func TestCovered(t *testing.T) {
	work := []span{{1, 4}, {0, 2}}
	if got := covered(work, 2, 2); !cmp.Equal(got, []float64{1.5, 1}) {
		t.Errorf("in flight %v, want [1.5 1]", got)
	}
	if got := union(work); !cmp.Equal(got, []span{{0, 4}}, cmp.AllowUnexported(span{})) {
		t.Errorf("union %v, want 0 to 4", got)
	}
	if got := union([]span{{3, 4}, {0, 1}}); len(got) != 2 {
		t.Errorf("union %v, want two", got)
	}
}

// What is kept of a replay draws the same pictures.
func TestReadGallery(t *testing.T) {
	tr := traceOf(t, request{0, 30, 4, []int64{1, 2, 3}}, request{50, 30, 4, []int64{1, 2, 3}}, request{50, 10, 1, nil}, request{60, 1 << 22, 1, nil})
	for name, results := range map[string][]*sim.Result{"demo": demoResults(t), "hand": replay(t, tr, "score", "rr=round-robin")} {
		dir := t.TempDir()
		keep(t, dir, results)
		got, err := ReadGallery(dir)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(gallery(t, results...), got, cmpopts.EquateNaNs()); diff != "" {
			t.Errorf("%s: -made +read\n%s", name, diff)
		}
	}
}

// keep writes result.json and outcomes.parquet.
func keep(t *testing.T, dir string, results []*sim.Result) {
	t.Helper()
	c, err := Compare("triage replay x", results...)
	if err != nil {
		t.Fatal(err)
	}
	create := func(name string) *os.File {
		f, err := os.Create(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
		return f
	}
	if err := JSON(create("result.json"), c); err != nil {
		t.Fatal(err)
	}
	w, err := traces.NewOutcomeWriter(create("outcomes.parquet"), "outcomes.parquet", results[0].Trace.Meta)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range results {
		for o := range r.Joined() {
			if err := w.Write(o); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestReadGalleryRefuses(t *testing.T) {
	for name, text := range map[string]string{"no JSON": "{", "another schema": `{"schema":"x"}`} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "result.json"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadGallery(dir); err == nil || !strings.Contains(err.Error(), "result.json") {
			t.Errorf("%s: %v, want an error that names the file", name, err)
		}
	}
	dir := t.TempDir()
	keep(t, dir, demoResults(t))
	data, err := os.ReadFile(filepath.Join(dir, "outcomes.parquet"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "outcomes.parquet"), data[:len(data)/2], 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadGallery(dir); err == nil || !strings.Contains(err.Error(), "outcomes.parquet") {
		t.Errorf("half a file: %v, want an error that names it", err)
	}
}

// The last token of a prompt is always computed, so that a prompt of three whole blocks can hit two of them.
func TestCouldHit(t *testing.T) {
	tr := traceOf(t, request{0, 30, 1, []int64{1, 2, 3}}, request{1, 31, 1, []int64{1, 2, 3, 4}}, request{2, 30, 1, nil})
	for _, c := range []struct {
		row, block int
		want       int32
	}{{0, 10, 20}, {0, 16, 16}, {1, 10, 30}, {2, 10, traces.Unknown}} {
		if got := couldHit(tr, c.row, c.block); got != c.want {
			t.Errorf("row %d with blocks of %d could hit %d, want %d", c.row, c.block, got, c.want)
		}
	}
}
