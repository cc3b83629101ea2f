package trust

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-2cee110a/triage/sim/fidelity"
)

// handReport is three stages of two models and an overload: TTFT 10 % too slow, 30 % too fast and 50 % too fast, TPOT 20 %
// too slow on the first; of the overload, half as many again are served.
func handReport() *fidelity.Report {
	load := func(id, regime, model string, prompt, inFlight int, rate float64) fidelity.Load {
		return fidelity.Load{Experiment: id, Stage: "0", Regime: regime, GPU: "H100", Model: model, Class: "dense", Weights: "bf16", TP: 1,
			Calibrated: model != "b", Prompt: fidelity.Span{Least: prompt, Most: prompt}, Output: fidelity.Span{Least: 8, Most: 9}, PerS: rate, InFlight: inFlight}
	}
	score := func(id, regime, metric, stat string, measured, simulated float64, best bool) fidelity.Score {
		return fidelity.Score{Key: fidelity.Key{Experiment: id, Stage: "0", Metric: metric, Stat: stat}, Regime: regime, Overload: regime == "overload",
			Measured: measured, Simulated: simulated, Best: best}
	}
	return &fidelity.Report{
		Seed: 7,
		Loads: []fidelity.Load{load("two", "stable", "b", 200, 9, 3), load("one", "stable", "a", 100, 5, 2), load("three", "stable", "a", 400, 4, 1),
			load("four", "overload", "a", 100, 70, 8), load("unscored", "stable", "c", 9, 9, 9)},
		Scores: []fidelity.Score{
			score("two", "stable", "ttft", "mean", 100, 70, true), score("two", "stable", "ttft", "p90", 100, 700, true),
			score("one", "stable", "ttft", "mean", 100, 110, true), score("one", "stable", "tpot", "mean", 10, 12, true),
			score("one", "stable", "ttft", "mean", 100, 900, false), score("three", "stable", "ttft", "mean", 100, 50, true),
			score("four", "overload", "ttft", "mean", 100, 900, true), score("four", "overload", "busy_throughput", "mean", 2, 3, true),
			score("elsewhere", "stable", "ttft", "mean", 100, 900, true),
		},
	}
}

func TestNewByHand(t *testing.T) {
	table := New(handReport(), "sha256:ab", 2)
	if table.Schema != SchemaName || table.Data != "sha256:ab" || table.Files != 2 || table.Seed != 7 || table.Cost != CostDigest() {
		t.Errorf("head %+v", table)
	}
	a := Group{Regime: "stable", GPU: "H100", Class: "dense", Model: "a", Weights: "bf16", TP: 1, Calibrated: true, Stages: 2, Prompt: Span{100, 400},
		Output: Span{8, 9}, PerS: Range{1, 2}, InFlight: Span{4, 5}, TTFT: Errors{2, 0.3, 0.3, -0.2}, TPOT: Errors{1, 0.2, 0.2, 0.2}}
	b := Group{Regime: "stable", GPU: "H100", Class: "dense", Model: "b", Weights: "bf16", TP: 1, Stages: 1, Prompt: Span{200, 200},
		Output: Span{8, 9}, PerS: Range{3, 3}, InFlight: Span{9, 9}, TTFT: Errors{1, 0.3, 0.3, -0.3}}
	over := Group{Regime: "overload", GPU: "H100", Class: "dense", Model: "a", Weights: "bf16", TP: 1, Calibrated: true, Stages: 1, Prompt: Span{100, 100},
		Output: Span{8, 9}, PerS: Range{8, 8}, InFlight: Span{70, 70}, Served: Errors{1, 0.5, 0.5, 0.5}}
	if d := cmp.Diff([]Group{a, b, over}, table.Rows); d != "" {
		t.Errorf("rows, want - got +:\n%s", d)
	}
	total := Group{Of: []string{"regime"}, Regime: "stable", Stages: 3, Prompt: Span{100, 400}, Output: Span{8, 9}, PerS: Range{1, 3}, InFlight: Span{4, 9},
		TTFT: Errors{3, 0.3, 0.3, -0.233333}, TPOT: Errors{1, 0.2, 0.2, 0.2}}
	if d := cmp.Diff(total, table.Totals[0]); d != "" {
		t.Errorf("total, want - got +:\n%s", d)
	}
}

// The order in which experiments are listed moves nothing.
func TestNewOrder(t *testing.T) {
	r := handReport()
	r.Loads[0], r.Loads[2] = r.Loads[2], r.Loads[0]
	r.Scores[0], r.Scores[5] = r.Scores[5], r.Scores[0]
	if d := cmp.Diff(New(handReport(), "", 1), New(r, "", 1)); d != "" {
		t.Error(d)
	}
}
