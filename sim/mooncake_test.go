package sim

import (
	"math"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/seed-2cee110a/triage/engine"
	"github.com/seed-2cee110a/triage/engine/enginetest"
	"github.com/seed-2cee110a/triage/policies"
	"github.com/seed-2cee110a/triage/traces"
)

const mooncake = "../../shared/traces/mooncake/conversation_trace.jsonl.gz"

// conversation loads the Mooncake conversation trace, which lies beside the checkout.
func conversation(t testing.TB) *traces.Trace {
	t.Helper()
	if _, err := os.Stat(mooncake); err != nil {
		t.Skip("no shared traces beside the checkout")
	}
	tr, err := traces.Open(mooncake, traces.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// clusterC is eight replicas of Qwen3-32B on two H100s each.
func clusterC() Config {
	cfg := Default()
	cfg.KVTokens = 307328
	return cfg
}

func spec(t testing.TB, text string) policies.Spec {
	t.Helper()
	s, err := policies.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// numbers are the figures of a run that the tests below look at.
func numbers(t *testing.T, cfg Config, tr *traces.Trace, policy string) Summary {
	t.Helper()
	r, err := Run(cfg, spec(t, policy), tr)
	if err != nil {
		t.Fatal(err)
	}
	checkLaws(t, r)
	return r.Summary()
}

func TestScoreHalvesTheTTFTOfRoundRobin(t *testing.T) {
	tr := conversation(t)
	rr, score := numbers(t, clusterC(), tr, "round-robin"), numbers(t, clusterC(), tr, "score")
	if score.TTFT.Mean > rr.TTFT.Mean/2 || score.TTFT.P90 > rr.TTFT.P90/2 {
		t.Errorf("score has TTFT %+v, want at most half of round robin's %+v", score.TTFT, rr.TTFT)
	}
}

// The hit ratios of round robin with caches without bound follow from the trace alone: ids seen before, by row mod n.
func TestRoundRobinHitRatiosWithoutEviction(t *testing.T) {
	tr := conversation(t)
	for n, want := range map[int]float64{1: 0.374, 2: 0.276, 4: 0.196, 8: 0.139, 16: 0.101} {
		cfg := clusterC()
		cfg.Replicas, cfg.KVTokens = n, 1e9
		if got := numbers(t, cfg, tr, "round-robin").HitRatio; math.Abs(got-want) > 0.003 {
			t.Errorf("%d replicas: hit ratio %.4f, want %.3f", n, got, want)
		}
	}
}

// Every prompt of the trace starts with the same block, so affinity alone sends all work to one replica.
func TestAffinityAloneIsACatastrophe(t *testing.T) {
	tr := conversation(t)
	rr := numbers(t, clusterC(), tr, "round-robin")
	s := numbers(t, clusterC(), tr, "score:q=0,kv=0,lora=0,load=0,prefix=index,fit=off")
	if s.Imbalance < 7 || s.TTFT.Mean < 100*rr.TTFT.Mean {
		t.Errorf("imbalance %.2f, mean TTFT %.1f s against %.1f s", s.Imbalance, s.TTFT.Mean, rr.TTFT.Mean)
	}
}

func TestStaleSignalsCostWhoDoesNotCountWhatItSent(t *testing.T) {
	tr := conversation(t)
	stale := clusterC()
	stale.Signals.Scrape = 30 * time.Second
	mean := func(cfg Config, policy string) float64 { return numbers(t, cfg, tr, policy).TTFT.Mean }
	rr := mean(stale, "round-robin")
	if blind := mean(stale, "score:norm=absolute,sent=off"); blind <= rr {
		t.Errorf("blind to what it sent: %.2f s, want worse than round robin's %.2f s", blind, rr)
	}
	for _, p := range []string{"score:norm=absolute,sent=on", "score"} {
		live, old := mean(clusterC(), p), mean(stale, p)
		if kept := (rr - old) / (rr - live); kept < 0.5 {
			t.Errorf("%s: %.2f s live, %.2f s with old signals, round robin %.2f s: keeps %.0f %% of its gain", p, live, old, rr, 100*kept)
		}
	}
}

// The engine, the engine without shortcuts and the reference agree on a stretch of real traffic.
func TestEnginesAgreeOnRealTraffic(t *testing.T) {
	tr := conversation(t)
	cfg := clusterC()
	cfg.Limit, cfg.Replicas, cfg.KVTokens = 300, 2, 150_000
	st, err := Prepare(cfg, tr)
	if err != nil {
		t.Fatal(err)
	}
	want, err := st.Run(t.Context(), spec(t, "score"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if s := want.Summary(); want.Replicas[0].Stats.Evicted == 0 || s.HitRatio == 0 {
		t.Errorf("nothing was evicted or hit: %+v", s)
	}
	for _, other := range []*Stage{singleStep(st), referenced(st)} {
		got, err := other.Run(t.Context(), spec(t, "score"), nil)
		if err != nil {
			t.Fatal(err)
		}
		sameOutcomes(t, want, got)
	}
}

// singleStep returns the stage with every step formed alone.
func singleStep(s *Stage) *Stage {
	c := *s
	c.cfg.Engine.SingleStep, c.eventful = true, true
	c.idle = new(sync.Pool)
	c.build = c.engine
	return &c
}

// referenced returns the stage with reference engines.
func referenced(s *Stage) *Stage {
	c := *s
	f := engine.Forest{Parent: s.trace.Forest.Parent, End: s.trace.Forest.End, Walks: s.trace.Forest.Walks}
	c.idle = new(sync.Pool)
	c.build = func(i int) (replica, error) { return enginetest.New(c.settings(c.of[i]), c.of[i].cost, &f), nil }
	return &c
}
