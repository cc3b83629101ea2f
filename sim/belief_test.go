package sim

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-2cee110a/triage/policies"
)

// What the routers believe is within what there is, and load makes them give up hits that a policy of affinity alone keeps.
func TestBelief(t *testing.T) {
	tr := generated(t, "near-capacity", 800)
	cfg := clusterC()
	for _, routers := range []int{1, 3} {
		cfg.Routers.N = routers
		b := numbers(t, cfg, tr, "score:fit=off").Belief
		if b.Entries == 0 || b.Duplicated <= 0 || b.Duplicated >= b.Tokens || b.GivenUp <= 0 || b.GivenUp >= b.Prompt || len(b.Hot) != hotShown {
			t.Errorf("%d routers: %+v", routers, b)
		}
		for i, h := range b.Hot {
			if h.Copies < 1 || h.Copies > cfg.Replicas || i > 0 && h.Uses > b.Hot[i-1].Uses {
				t.Errorf("%d routers: hot prefix %d is %+v after %+v", routers, i, h, b.Hot[max(0, i-1)])
			}
		}
		if alone := numbers(t, cfg, tr, "score:fit=off,q=0,load=0,kv=0").Belief; alone.GivenUp != 0 {
			t.Errorf("%d routers: affinity alone gave up %d tokens, want none", routers, alone.GivenUp)
		}
	}
	if b := numbers(t, cfg, tr, "round-robin").Belief; b.Entries != 0 || b.GivenUp != 0 || b.Hot != nil {
		t.Errorf("round robin believes %+v, want nothing", b)
	}
}

func TestHottestJoinsWhatSeveralRoutersKnow(t *testing.T) {
	got := hottest([]policies.HotPrefix{{Hash: 1, Tokens: 16, Uses: 5, Copies: 2}, {Hash: 2, Tokens: 8, Uses: 6, Copies: 1}, {Hash: 3, Uses: 1, Copies: 1},
		{Hash: 1, Tokens: 12, Uses: 4, Copies: 3}}, 2)
	want := []policies.HotPrefix{{Hash: 1, Tokens: 16, Uses: 9, Copies: 3}, {Hash: 2, Tokens: 8, Uses: 6, Copies: 1}}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}
