package reports

import (
	"math"
	"testing"

	"github.com/seed-2cee110a/triage/engine"
	"github.com/seed-2cee110a/triage/policies"
	"github.com/seed-2cee110a/triage/sim"
	"github.com/seed-2cee110a/triage/sim/trust"
)

// hand is a comparison made by hand: eight replicas, 100 requests, one run for each given.
func hand(t *testing.T, runs ...Run) *Comparison {
	t.Helper()
	cfg := sim.Default()
	cfg.Engine.MaxLoRAs, cfg.Engine.AdapterLoadTime = 0, 0 // as Prepare has them for a trace without adapters
	cfg.KVTokens = 307328
	cfg.Engine.KVBlocks, cfg.Engine.MaxNumSeqs, cfg.Engine.MaxNumBatchedTokens = 19208, 1024, 8192
	c := &Comparison{
		Command: "triage replay conv.jsonl",
		Trace: TraceFacts{Name: "conv.jsonl", Digest: "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
			Requests: 100, SpanS: 50, Tied: 10},
		Config: cfg,
		Cost:   sim.CostNote{Model: "physical", Calibrated: true, Note: "step times fitted on H100"},
		Trust: trust.Statement{Status: trust.Calibrated, Text: "TTFT within 5.4 % (median)", Class: "dense", GPU: "H100", Data: "sha256:0123",
			Errors: &trust.Group{Regime: "stable", GPU: "H100", Stages: 43, Prompt: trust.Span{228, 4015}, InFlight: trust.Span{11, 158},
				TTFT: trust.Errors{N: 43, Mean: 0.077, Median: 0.054, Bias: 0.049}, TPOT: trust.Errors{N: 43, Mean: 0.039, Median: 0.026, Bias: -0.01}},
			Beyond: []trust.Beyond{{What: "prompt_tokens", Share: 0.5, Limit: 4015, Text: "50 % of prompts (over 4,015 tokens)"}}},
		Runs: runs,
	}
	c.conclude()
	return c
}

// made is a run of the policy with the given mean TTFT, hit ratio and imbalance, all 100 requests completed.
func made(t *testing.T, policy string, mean, hit, imbalance float64, change ...func(*Run)) Run {
	t.Helper()
	spec, err := policies.Parse(policy)
	if err != nil {
		t.Fatal(err)
	}
	q := func(mean float64, n int) sim.Quantiles {
		return sim.Quantiles{N: n, Mean: mean, P50: mean * 0.75, P90: mean * 2, P95: mean * 3, P99: mean * 4, Max: mean * 8}
	}
	nan := math.NaN()
	none := sim.Quantiles{Mean: nan, P50: nan, P90: nan, P95: nan, P99: nan, Max: nan}
	r := Run{Spec: spec, Summary: sim.Summary{
		Policy: spec.Label, Requests: 100, Completed: 100,
		TTFT: q(mean, 100), TPOT: q(0.025, 100), E2E: q(mean+8, 100),
		HitRatio: hit, Believed: nan, Imbalance: imbalance, Preemptions: 3,
		OutputPerS: 1000, RequestsPerS: 2, Makespan: 50,
		GatewayWait: none,
		Affinity: []sim.Bucket{
			{Name: "cold", N: 40, Share: 0.4, TTFT: q(mean*2, 40)},
			{Name: "(0,0.25]", N: 30, Share: 0.3, TTFT: q(mean, 30)},
			{Name: "(0.25,0.75]", N: 20, Share: 0.2, TTFT: q(mean/2, 20)},
			{Name: "(0.75,1)", N: 10, Share: 0.1, TTFT: q(mean/4, 10)},
			{Name: "full", N: 0, Share: 0, TTFT: none},
		},
		Replicas: []sim.ReplicaSummary{{Name: "r0", Requests: 100, BusyRatio: 0.5, HitRatio: hit}, {Name: "r1", HitRatio: nan}},
	}}
	for _, f := range change {
		f(&r)
	}
	return r
}

func rejects(by map[sim.Reason]int) func(*Run) {
	return func(r *Run) {
		for reason, n := range by {
			r.RejectedBy[reason] = n
			r.Rejected += n
			r.Completed -= n
		}
	}
}

// aged sets the mean age of the signals in seconds.
func aged(mean float64) func(*Run) {
	return func(r *Run) { r.Age = sim.SignalAge{Mean: mean, P50: mean, P95: 2 * mean, Max: 2 * mean} }
}

func ttft(p90 float64) func(*Run) { return func(r *Run) { r.TTFT.P90 = p90 } }

// unidentified makes a run of a trace that says nothing of shared prefixes.
func unidentified(r *Run) {
	r.HitRatio = 0
	r.Affinity = []sim.Bucket{{Name: "unknown", N: 100, Share: 1, TTFT: r.TTFT}}
	r.Warnings = []string{"100 of 100 requests have no prefix identity"}
}

// quick is a cluster configuration for replays in tests.
func quick() sim.Config {
	cfg := sim.Default()
	cfg.Engine.MaxLoRAs, cfg.Engine.AdapterLoadTime = 0, 0 // as Prepare has them for a trace without adapters
	cfg.Replicas, cfg.Cost = 2, "unit"
	cfg.Engine.OverheadBefore, cfg.Engine.OverheadAfter = 0, engine.Millisecond
	return cfg
}
