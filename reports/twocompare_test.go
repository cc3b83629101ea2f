package reports

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-2cee110a/triage/sim"
)

func two(t *testing.T, a, b *Comparison) *Two {
	t.Helper()
	out, err := CompareTwo(kept(t, a), kept(t, b))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// By hand: TTFT from 2 s to 1 s is -50 %, hits from 0.2 to 0.3 +50 %; without outcomes there is no verdict on either.
func TestCompareTwo(t *testing.T) {
	x := two(t, hand(t, made(t, "round-robin", 2, 0.2, 1.1), made(t, "random", 3, 0.2, 1.1)), hand(t, made(t, "round-robin", 1, 0.3, 1.1), made(t, "score", 1, 0.3, 1)))
	got := map[string]TwoRow{}
	for _, r := range x.Rows {
		got[r.Metric] = r
	}
	if r := got["ttft.mean"]; r.A != 2 || r.B != 1 || r.Delta() != -0.5 || r.Word != "" || known(r.Low) {
		t.Errorf("ttft.mean: %+v", r)
	}
	if r := got["hit_ratio"]; r.Delta() < 0.499 || r.Delta() > 0.501 {
		t.Errorf("hit_ratio: %+v, delta %v", r, r.Delta())
	}
	if r := got["rejected"]; r.Delta() != 0 {
		t.Errorf("nothing rejected on either side: delta %v, want 0", r.Delta())
	}
	if len(x.OnlyA) != 1 || x.OnlyA[0] != "random" || len(x.OnlyB) != 1 || x.OnlyB[0] != "score" {
		t.Errorf("only in A %v, only in B %v", x.OnlyA, x.OnlyB)
	}
	if len(x.Notes) != 1 || !strings.Contains(x.Notes[0], "no outcomes.parquet") {
		t.Errorf("notes %q", x.Notes)
	}
	if _, err := CompareTwo(kept(t, hand(t, made(t, "random", 2, 0.2, 1))), kept(t, hand(t, made(t, "score", 2, 0.2, 1)))); err == nil ||
		!strings.Contains(err.Error(), "no policy in common (random; score)") {
		t.Errorf("nothing in common: %v", err)
	}
}

// What differs besides the numbers is told in every format that people read.
func TestCompareTwoTellsWhatDiffers(t *testing.T) {
	b := sample(t)
	b.Config.Replicas, b.Config.CostScale, b.Trace.Digest = 16, 1.05, "sha256:ffff"
	x := two(t, sample(t), b)
	for _, r := range TwoCatalog() {
		var out bytes.Buffer
		if err := r.Write(&out, x); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(out.String(), "score") {
			t.Errorf("%s has no row of score:\n%s", r.Name, &out)
		}
		for _, want := range []string{"replicas: 8, then 16", "then 1.05", "DIFFER in trace"} {
			if text := strings.ReplaceAll(strings.Join(strings.Fields(out.String()), " "), `\_`, "_"); r.Name != "csv" && !strings.Contains(text, want) {
				t.Errorf("%s does not say %q:\n%s", r.Name, want, &out)
			}
		}
		if err := r.Write(full{}, x); !errors.Is(err, errFull) {
			t.Errorf("%s: got %v, want %v", r.Name, err, errFull)
		}
	}
}

// benchstat reads the lines, has a column a policy and finds the difference over seeds.
func TestBenchstatReadsBench(t *testing.T) {
	var all strings.Builder
	for seed := range 6 {
		c := hand(t, made(t, "round-robin", 2+0.01*float64(seed), 0.2, 1), made(t, "score:q=1,aff=5", 1+0.01*float64(seed), 0.4, 1))
		c.Config.Seed = uint64(seed)
		all.WriteString(render(t, c, "bench"))
	}
	name := filepath.Join(t.TempDir(), "bench.txt")
	if err := os.WriteFile(name, []byte(all.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("go", "tool", "benchstat", "-col", "policy", "-ignore", "/seed", "-format", "csv", name).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	// Medians by hand: 2.02 and 2.03 s, 1.02 and 1.03 s; six below six is p = 2 / C(12,6) = 2/924 = 0.002.
	for _, want := range []string{"round-robin", "score:q=1,aff=5", "2.025", "1.025", "-49.38%", "p=0.002 n=6", "sec/ttft-mean", "hit-ratio"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("benchstat does not show %q:\n%s", want, out)
		}
	}
}

func TestBenchLeavesOutWhatIsNotKnown(t *testing.T) {
	text := render(t, hand(t, made(t, "a b=round-robin", 2, 0, 1, unidentified, func(r *Run) { r.forgetHits() }, rejects(map[sim.Reason]int{sim.TooLong: 2}))), "bench")
	_, line, _ := strings.Cut(text, "policy: a_b\n")
	if !strings.HasPrefix(line, "BenchmarkReplay/trace=conv.jsonl/seed=1 1 2 sec/ttft-mean ") || strings.Contains(line, "hit-ratio") || !strings.Contains(line, " 2 rejected ") {
		t.Errorf("got %q", text)
	}
}
