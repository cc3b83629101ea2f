package fidelity

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-2cee110a/triage/engine"
)

// The stages that are played are described once each, with what their requests are: four of 33 tokens at one a second that
// never meet; 20 and then 40 in 10 s; ten that follow one another, of 64 and 16 tokens at most.
func TestLoadsByHand(t *testing.T) {
	r := small(t, 1)
	llama := Load{Regime: "stable", GPU: "H100", Model: "meta-llama/Llama-3.1-8B", Class: "dense", Weights: "bf16", TP: 1, Calibrated: true}
	of := func(change func(*Load)) Load {
		l := llama
		change(&l)
		return l
	}
	want := []Load{
		of(func(l *Load) {
			l.Experiment, l.Stage, l.Prompt, l.Output, l.PerS, l.InFlight = "traced", "0", Span{33, 33}, Span{1, 3}, 1, 1
		}),
		of(func(l *Load) {
			l.Experiment, l.Stage, l.Prompt, l.Output, l.PerS = "drawn", "0", Span{100, 100}, Span{8, 8}, 2
		}),
		of(func(l *Load) {
			l.Experiment, l.Stage, l.Prompt, l.Output, l.PerS = "drawn", "1", Span{100, 100}, Span{8, 8}, 4
		}),
		of(func(l *Load) { l.Experiment, l.Stage, l.Regime, l.InFlight = "alone", "0", "closed loop", 1 }),
	}
	for i := range r.Loads {
		switch l := &r.Loads[i]; l.Experiment {
		case "drawn": // by chance
			if l.InFlight < 1 || l.InFlight > 20*(i) {
				t.Errorf("%+v has %d in flight", l, l.InFlight)
			}
			l.InFlight = 0
		case "alone": // drawn from 80 % up
			if l.Prompt.Least < 51 || l.Prompt.Most > 64 || l.Output.Least < 12 || l.Output.Most > 16 {
				t.Errorf("%+v has lengths outside of 80 to 100 %%", l)
			}
			l.Prompt, l.Output = Span{}, Span{}
		}
	}
	if d := cmp.Diff(want, r.Loads); d != "" {
		t.Errorf("loads, want - got +:\n%s", d)
	}
}

func TestAtOnce(t *testing.T) {
	at := func(pairs ...engine.Time) (out []timing) {
		for i := 0; i < len(pairs); i += 2 {
			out = append(out, timing{sent: pairs[i], finish: pairs[i+1]})
		}
		return out
	}
	for _, test := range []struct {
		name string
		all  []timing
		want int
	}{
		{"none", nil, 0},
		{"one ends as the next is sent", at(0, 5, 5, 9), 1},
		{"two of three meet", at(0, 5, 4, 9, 6, 7), 2},
		{"the first lasts longest", at(0, 100, 1, 2, 3, 4, 5, 6), 2},
		{"all at once, out of order", at(3, 9, 1, 9, 2, 9), 3},
		{"one was refused", at(0, 5, 1, -1, 2, 5), 2},
	} {
		if got := atOnce(test.all); got != test.want {
			t.Errorf("%s: %d at once, want %d", test.name, got, test.want)
		}
	}
}

// The digest depends on every file that errors come from, and on no other.
func TestDigest(t *testing.T) {
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("testdata/small")); err != nil {
		t.Fatal(err)
	}
	digest := func() (string, int) {
		sum, files, err := Digest(dir)
		if err != nil {
			t.Fatal(err)
		}
		return sum, files
	}
	first, files := digest()
	if files != 4 {
		t.Errorf("%d files, want experiments.csv, ground_truth.csv, closed_loop.csv and a trace", files)
	}
	for name, matters := range map[string]bool{"experiments.csv": true, "ground_truth.csv": true, "closed_loop.csv": true, "traces/traced.csv": true,
		"published_predictions.csv": false} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		old, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		write := func(data []byte) {
			if err := os.WriteFile(path, data, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		write(append(old[:len(old):len(old)], '\n'))
		if sum, _ := digest(); (sum != first) != matters {
			t.Errorf("%s changes the digest: %v, want %v", name, sum != first, matters)
		}
		write(old)
	}
	if err := os.Remove(filepath.Join(dir, "closed_loop.csv")); err != nil {
		t.Fatal(err)
	}
	if sum, files := digest(); sum == first || files != 3 {
		t.Errorf("without closed_loop.csv: %d files, the same digest %v", files, sum == first)
	}
	if err := os.Remove(filepath.Join(dir, "traces", "traced.csv")); err != nil {
		t.Fatal(err)
	}
	if _, _, err := Digest(dir); err == nil {
		t.Error("a trace that is missing goes unnoticed")
	}
}
