package fidelity

import (
	"context"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const shared = "../../../shared/fidelity"

// sharedReport plays the measurements beside the checkout, on two workers and once.
var sharedReport = sync.OnceValues(func() (*Report, error) {
	return Run(context.Background(), shared, Settings{Workers: 2, Seed: 1})
})

func needShared(t *testing.T) *Report {
	t.Helper()
	if _, err := os.Stat(shared); err != nil {
		t.Skip("no measurements beside the checkout")
	}
	r, err := sharedReport()
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Every experiment and every row of the closed-loop table is scored or listed as skipped, and nothing is both.
func TestSharedIsComplete(t *testing.T) {
	r := needShared(t)
	scored := map[string]bool{}
	for _, s := range r.Scores {
		scored[s.Experiment] = true
	}
	skipped, rows := 0, r.ClosedPlayed
	for _, s := range r.Skipped {
		t.Logf("skipped %s (%d): %s", s.What, s.Rows, s.Reason)
		if strings.HasPrefix(s.What, "closed loop") {
			rows += s.Rows
			continue
		}
		skipped++
		if scored[s.What] {
			t.Errorf("%s is skipped and scored", s.What)
		}
	}
	if r.Experiments == 0 || len(scored)+skipped != r.Experiments || len(scored) != r.Played {
		t.Errorf("%d experiments are scored and %d skipped, want %d in all", len(scored), skipped, r.Experiments)
	}
	if rows != r.ClosedRows {
		t.Errorf("%d closed-loop rows are scored or skipped, want %d", rows, r.ClosedRows)
	}
	for _, m := range Metrics {
		e := Summarise(Select(r.Scores, func(s *Score) bool { return s.Best && s.Stable() && s.Metric == m && s.Stat == "mean" }))
		t.Logf("stable stage means, %s: n %d, mean %.2f %%, median %.2f %%, bias %+.2f %%", m, e.N, e.Mean*100, e.Median*100, e.Bias*100)
	}
}

// What the traces say of a whole stage is what was published of it, so subsets, statistics and units are read rightly.
func TestSharedTracesGiveTheTruth(t *testing.T) {
	needShared(t)
	d, err := open(shared)
	if err != nil {
		t.Fatal(err)
	}
	checked := 0
	loads := map[string]*workload{}
	for _, f := range d.truth {
		e := d.known[f.Experiment]
		if e.Trace == "" || e.Overload() || f.Stage == "all" || f.Stat != "mean" && f.Stat != "p50" {
			continue
		}
		w := loads[e.ID]
		if w == nil {
			if w, err = e.workload(shared, 1); err != nil {
				t.Fatal(err)
			}
			loads[e.ID] = w
		}
		in := w.subset(f.Stage, f.Subset, f.First)
		if in == nil || f.Metric == "itl_published" || f.Metric == "input_len_measured" {
			continue
		}
		checked++
		if got := measured(w, e.timeout(), in).value(f.Metric, f.Stat); !(got > 0.99*f.Value && got < 1.01*f.Value) {
			t.Errorf("%v: the trace says %.3f, want %.3f", f.Key, got, f.Value)
		}
	}
	if checked < 100 {
		t.Errorf("%d statistics checked, want a hundred at least", checked)
	}
}

// The number of workers moves nothing.
func TestSharedWorkers(t *testing.T) {
	two := needShared(t)
	one, err := Run(t.Context(), shared, Settings{Workers: 1, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(one, two); d != "" {
		t.Errorf("1 worker and 2 differ:\n%s", d)
	}
}
