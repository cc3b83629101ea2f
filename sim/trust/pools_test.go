package trust

import (
	"strings"
	"testing"

	"github.com/seed-2cee110a/triage/sim"
	"github.com/seed-2cee110a/triage/traces"
)

// Of two pools the least trusted one decides, each has its words, and each is held against what it served only.
func TestOfPools(t *testing.T) {
	cfg := sim.Default()
	one, two := cfg.Pool("one"), cfg.Pool("two")
	two.GPU = "H200"
	cfg.Pools = []sim.Pool{one, two}
	cfg, err := cfg.Resolve()
	if err != nil {
		t.Fatal(err)
	}
	long := int32(1 << 20)
	tr := &traces.Trace{Prompt: []int32{10, long}}
	r := &sim.Result{Trace: tr, Config: cfg, Outcomes: []sim.Outcome{{Row: 0, Replica: 0}, {Row: 1, Replica: 1}},
		Replicas: []sim.ReplicaResult{{Requests: 1}, {Requests: 1, Pool: 1}}}
	s := Of(cfg, sim.CostNote{}, Use{Prompts: tr.Prompt, Results: []*sim.Result{r}})
	if s.Status != Extrapolated || s.GPU != "H200" {
		t.Errorf("status %s on %s, want that of the pool on H200", s.Status, s.GPU)
	}
	first, second, ok := strings.Cut(s.Text, "; two: ")
	if !ok || !strings.HasPrefix(first, "one: ") {
		t.Fatalf("text %q, want that of both pools", s.Text)
	}
	if strings.Contains(first, "prompts") || strings.Contains(second, "; one") {
		t.Errorf("pool one, which served 10 tokens: %q", first)
	}
	cfg.Pools[1] = cfg.Pools[0]
	cfg.Pools[1].Name = "two"
	if s := Of(cfg, sim.CostNote{}, Use{}); strings.Contains(s.Text, "one: ") || s.Status != Calibrated {
		t.Errorf("two equal pools: %s, %q, want one answer", s.Status, s.Text)
	}
}
