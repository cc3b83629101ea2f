package calibrate

import (
	"context"
	"math"
	"path/filepath"
	"testing"

	"github.com/seed-2cee110a/triage/engine"
	"github.com/seed-2cee110a/triage/sim"
)

const measured = "../../../shared/fidelity"

// measuredReplica is the server of the C traces, as the folder's experiments.csv has it.
func measuredReplica(t *testing.T, fit string) Settings {
	t.Helper()
	m, err := engine.LookupModel("Qwen/Qwen3-14B")
	if err != nil {
		t.Fatal(err)
	}
	g, err := engine.LookupGPU("H100")
	if err != nil {
		t.Fatal(err)
	}
	e := engine.Default()
	e.KVBlocks, e.MaxNumSeqs, e.MaxNumBatchedTokens = 18038, 256, 8192
	return Settings{Engine: e, For: &sim.CostFor{Model: m.Name, GPU: g.Name, TP: 1}, Model: m, GPU: g, Fit: fit, HoldOut: 0.5}
}

// Calibrated on the first half of a measured trace, the mean TTFT and TPOT of the second half come out within 8 %.
func TestSecondHalf(t *testing.T) {
	files, err := filepath.Glob(measured + "/traces/C-qwen3-14b-h100-w5-*.csv.gz")
	if err != nil || len(files) == 0 {
		t.Skip("no measured traces beside the checkout")
	}
	if raceDetector {
		t.Skip("one goroutine, some hundred replays: nothing for the race detector, and minutes with it")
	}
	for _, fit := range []string{"physical", "linear"} {
		for _, file := range files {
			t.Run(fit+"/"+filepath.Base(file), func(t *testing.T) {
				l, err := Open(file, ReadOptions{})
				if err != nil {
					t.Fatal(err)
				}
				r, err := Run(context.Background(), l, measuredReplica(t, fit))
				if err != nil {
					t.Fatal(err)
				}
				if len(r.Errors) != 3 || r.Held < len(l.Requests)*9/20 {
					t.Fatalf("%d errors of %d requests, want 3 of about half", len(r.Errors), r.Held)
				}
				for i, e := range r.Errors {
					t.Logf("%s: mean error %+.1f %%, absolute errors %.1f %% (mean), %.1f %% (median); measured %.4g s, simulated %.4g s",
						e.Metric, 100*e.MeanError, 100*e.Mean, 100*e.Median, r.Means[i].Measured, r.Means[i].Simulated)
					if math.Abs(e.MeanError) > 0.08 {
						t.Errorf("mean %s is off by %.1f %%, want at most 8 %%", e.Metric, 100*e.MeanError)
					}
				}
				for _, c := range r.Coefficients {
					t.Logf("%s %v [%v, %v] %s", c.Name, c.Value, c.Low, c.High, c.Kept)
				}
			})
		}
	}
}

// Single steps of the same server, reconstructed from its tokens' times, are predicted by each kind of cost model.
func TestMeasuredSteps(t *testing.T) {
	file := measured + "/step_times.csv.gz"
	if m, _ := filepath.Glob(file); len(m) == 0 {
		t.Skip("no measured steps beside the checkout")
	}
	for _, fit := range []string{"physical", "linear", "table"} {
		l, err := Open(file, ReadOptions{Only: Only{Model: "Qwen/Qwen3-14B", GPU: "H100", TP: 1}})
		if err != nil {
			t.Fatal(err)
		}
		r, err := Run(context.Background(), l, measuredReplica(t, fit))
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range r.Coefficients {
			t.Logf("%s %v [%v, %v] %s", c.Name, c.Value, c.Low, c.High, c.Kept)
		}
		t.Logf("%s: %+v of %d held out", fit, r.Errors, r.Held)
		if e := r.Errors[0]; !(math.Abs(e.MeanError) < 0.03 && e.Median < 0.08) {
			t.Errorf("%s: steps are off by %+v, want a mean within 3 %% and a median error below 8 %%", fit, e)
		}
	}
}
