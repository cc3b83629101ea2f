package sim

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/seed-2cee110a/triage/engine"
)

// A result made by hand: prompts of 100 tokens in blocks of 16, so that 96 could hit.
func handMade(t *testing.T) *Result {
	tr := fromText(t, `{"timestamp":1000,"input_length":100,"output_length":11,"hash_ids":[1,2,3,4,5,6,7]}
{"timestamp":1000,"input_length":100,"output_length":1,"hash_ids":[1,2,3,4,5,6,7]}
{"timestamp":1000,"input_length":100,"output_length":5,"hash_ids":[1,2,3,4,5,6,7]}
{"timestamp":2000,"input_length":100,"output_length":5,"hash_ids":[1,2,3,4,5,6,7]}
{"timestamp":2000,"input_length":100,"output_length":5,"hash_ids":[1,2,3,4,5,6,7]}
`)
	at := func(s float64) engine.Time { return engine.Time(s * float64(engine.Second)) }
	cfg := small()
	cfg.Limit = 5
	return &Result{Policy: "p", Config: cfg, Trace: tr, Believed: 150, End: at(11), Outcomes: []Outcome{
		{Row: 0, Replica: 0, Arrived: at(1), Dispatched: at(1), Scheduled: at(1.5), First: at(2), Finished: at(3)},
		{Row: 1, Replica: 0, Hit: 16, Arrived: at(1), Dispatched: at(2), Held: true, Scheduled: at(2), First: at(4), Finished: at(4)},
		{Row: 2, Replica: 1, Hit: 96, Preemptions: 2, Arrived: at(1), Dispatched: at(1), Scheduled: at(1), First: at(6), Finished: at(8)},
		{Row: 3, Replica: -1, Held: true, Status: Rejected, Reason: Deadline, Arrived: at(2), Dispatched: -1, Scheduled: -1, First: -1, Finished: at(9)},
		{Row: 4, Replica: -1, Status: Rejected, Reason: QueueFull, Arrived: at(2), Dispatched: -1, Scheduled: -1, First: -1, Finished: at(2)},
	}, Replicas: []ReplicaResult{
		{Name: "r0", Requests: 2, PromptTokens: 200, HitTokens: 16, Stats: engine.Stats{Busy: at(6)}},
		{Name: "r1", Requests: 1, PromptTokens: 100, HitTokens: 96, Stats: engine.Stats{Busy: at(2)}},
	}}
}

func TestSummary(t *testing.T) {
	one := func(n int, x float64) Quantiles {
		return Quantiles{N: n, Mean: x, P50: x, P90: x, P95: x, P99: x, Max: x}
	}
	want := Summary{
		Policy: "p", Requests: 5, Completed: 3, Rejected: 2,
		TTFT:       Quantiles{N: 3, Mean: 3, P50: 3, P90: 5, P95: 5, P99: 5, Max: 5},
		TPOT:       Quantiles{N: 2, Mean: 0.3, P50: 0.1, P90: 0.5, P95: 0.5, P99: 0.5, Max: 0.5}, // 1 s / 10, 2 s / 4; one token has none
		E2E:        Quantiles{N: 3, Mean: 4, P50: 3, P90: 7, P95: 7, P99: 7, Max: 7},
		EngineWait: Quantiles{N: 3, Mean: 0.5 / 3, P50: 0, P90: 0.5, P95: 0.5, P99: 0.5, Max: 0.5},
		HitRatio:   112.0 / 300, Believed: 150.0 / 300, Imbalance: 1.5, Preemptions: 2,
		OutputPerS: 1.7, RequestsPerS: 0.3, Makespan: 10, // 11 + 1 + 5 tokens from 1 s to 11 s
		Affinity: []Bucket{
			{Name: "cold", N: 1, TTFT: one(1, 1), Share: 1.0 / 3},
			{Name: "(0,0.25]", N: 1, TTFT: one(1, 3), Share: 1.0 / 3},
			{Name: "(0.25,0.75]", TTFT: one(0, math.NaN())},
			{Name: "(0.75,1)", TTFT: one(0, math.NaN())},
			{Name: "full", N: 1, TTFT: one(1, 5), Share: 1.0 / 3},
		},
		Held: 2, GatewayWait: Quantiles{N: 2, Mean: 4, P50: 1, P90: 7, P95: 7, P99: 7, Max: 7},
		RetryAfter: quantiles(nil), Belief: Belief{Prompt: 300},
		Replicas: []ReplicaSummary{{Name: "r0", Requests: 2, BusyRatio: 0.6, HitRatio: 0.08}, {Name: "r1", Requests: 1, BusyRatio: 0.2, HitRatio: 0.96}},
	}
	want.RejectedBy[Deadline], want.RejectedBy[QueueFull] = 1, 1
	if diff := cmp.Diff(want, handMade(t).Summary(), cmpopts.EquateNaNs(), cmpopts.EquateApprox(1e-12, 0)); diff != "" {
		t.Errorf("summary (-want +got):\n%s", diff)
	}
}

// Nearest rank: the smallest value that at least the share does not exceed.
func TestQuantiles(t *testing.T) {
	x := make([]float64, 100)
	for i := range x {
		x[i] = float64(100 - i)
	}
	if q := quantiles(x); q != (Quantiles{N: 100, Mean: 50.5, P50: 50, P90: 90, P95: 95, P99: 99, Max: 100}) {
		t.Errorf("1 to 100: %+v", q)
	}
	if q := quantiles([]float64{7}); q.P50 != 7 || q.P99 != 7 || q.Max != 7 {
		t.Errorf("one value: %+v", q)
	}
	if q := quantiles(nil); q.N != 0 || !math.IsNaN(q.Mean) || !math.IsNaN(q.P50) {
		t.Errorf("no value: %+v", q)
	}
}
