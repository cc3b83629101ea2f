package policies_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-2cee110a/triage/policies"
)

// Three prompts share 100 tokens; their tails of 50 are on one replica each, the first on both. Room is for 160 tokens, so
// that on replica 0 the tail of the prompt before goes.
func TestBeliefStats(t *testing.T) {
	s := parse(t, "score").New().(*policies.Score)
	v := idle(2)
	send := func(tail uint64, replica int) {
		v.Replicas[replica].Signals.KVTokens = 160
		v.Now++
		r := &policies.Request{PromptTokens: 151, Blocks: []policies.Block{{Hash: 1, Tokens: 100}, {Hash: tail, Tokens: 50}}}
		s.Dispatched(r, v, &policies.Decision{Replica: replica})
	}
	send(2, 0)
	send(2, 1)
	send(3, 0) // drops 2 there
	want := policies.BeliefStats{Entries: 4, Blocks: 3, Tokens: 300, Duplicated: 100, Evictions: 1,
		Hot: []policies.HotPrefix{{Hash: 1, Tokens: 100, Uses: 3, Copies: 2}, {Hash: 2, Tokens: 50, Uses: 2, Copies: 1}}}
	if diff := cmp.Diff(want, s.BeliefStats(2)); diff != "" {
		t.Errorf("belief (-want +got):\n%s", diff)
	}
	if got := parse(t, "score:prefix=bucket,k=3").New().(*policies.Score).BeliefStats(2); got.Owners != 3 {
		t.Errorf("%d owners, want 3", got.Owners)
	}
}

// A declared template names the owners, whatever the prompt begins with; where the blocks are unknown too.
func TestTemplates(t *testing.T) {
	s := parse(t, "score:prefix=bucket").New().(*policies.Score)
	r, v := cluster(64)
	r.Template = 7
	first, tokens := owners(s, r, v)
	if len(first) != 2 || tokens != 1024 {
		t.Fatalf("%d owners of %d tokens, want 2 of 1024", len(first), tokens)
	}
	r.Blocks[0].Hash++
	if second, _ := owners(s, r, v); !equal(first, second) {
		t.Errorf("owners %v and %v of one template, want the same", first, second)
	}
	r.Blocks = nil
	if third, tokens := owners(s, r, v); !equal(first, third) || tokens != 1024 {
		t.Errorf("owners %v of %d tokens without blocks, want %v of 1024", third, tokens, first)
	}
	r.Template = 8
	if other, _ := owners(s, r, v); equal(first, other) {
		t.Errorf("owners %v of two templates, want others", other)
	}
}

// 4 replicas have 7 requests in flight, 8 with this one: at bound 1.5 an owner is saturated above 3. Then the best other
// is picked, a second owner before the rest, and it is charged all that it has not.
func TestBound(t *testing.T) {
	for _, tc := range []struct {
		name     string
		knobs    string
		load     int32 // requests in flight at the first owner, of 7
		tokens   int64 // at the first owner, of 7000
		fallback bool
	}{
		{"just not above", "k=1,bound=1.5", 3, 0, false}, {"above", "k=1,bound=1.5", 4, 0, true}, {"no bound", "k=1,bound=0", 7, 0, false},
		{"a second owner", "k=2,bound=1.5", 4, 0, true}, {"tokens not above", "k=1,bound=2,bound_by=tokens", 7, 4000, false},
		{"tokens above", "k=1,bound=2,bound_by=tokens", 0, 4001, true},
	} {
		s := parse(t, "score:q=0,load=0.001,prefix=bucket,"+tc.knobs).New().(*policies.Score)
		v := idle(4)
		r := &policies.Request{PromptTokens: 1000, Template: 1} // 1000 tokens: at bound 2 the share is 2 * 8000 / 4
		s.Believe(r, v)
		var d policies.Decision
		s.Pick(r, v, &d)
		first := d.Replica
		rest := (first + 1) % 4
		if v.Hits[rest].Tokens > 0 {
			rest = (first + 2) % 4
		}
		v.Local[first] = policies.Local{InFlight: tc.load, HeldTokens: tc.tokens}
		v.Local[rest] = policies.Local{InFlight: 7 - tc.load, HeldTokens: 7000 - tc.tokens}
		s.Pick(r, v, &d)
		if (d.Replica != first) != tc.fallback {
			t.Errorf("%s: owner %d, picked %d, want fallback %v", tc.name, first, d.Replica, tc.fallback)
		}
		if warm := !tc.fallback || tc.knobs[:3] == "k=2"; (d.Hit == 999) != warm || d.Charge != 1000-d.Hit {
			t.Errorf("%s: hit %d and charge %d, want warm %v", tc.name, d.Hit, d.Charge, warm)
		}
	}
}

// A live router passes events on to the replica of that name, wherever it is.
func TestPoolEvents(t *testing.T) {
	c := policies.DefaultScore()
	c.Prefix, c.Spec = policies.PrefixFromEvents, time.Second
	pool, err := policies.NewPool(policies.WeightsFile{Config: c}, policies.PoolConfig{})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a", "b", "c"} {
		if err := pool.Join(policies.Replica{Name: name}); err != nil {
			t.Fatal(err)
		}
	}
	r := policies.Request{PromptTokens: 101, Blocks: []policies.Block{{Hash: 1, Tokens: 100}}}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(pool.Stored("c", 1, r.Blocks))
	must(pool.Leave("a")) // c takes its place
	if got := pool.BeliefStats(0); got.Tokens != 100 {
		t.Errorf("%d tokens believed, want 100", got.Tokens)
	}
	lease, d := pool.Route(&r, 2)
	if lease.Replica != "c" || d.Hit != 100 {
		t.Errorf("sent to %s with hit %d, want c with 100", lease.Replica, d.Hit)
	}
	must(pool.Evicted("c", 3, 1, 100))
	if _, d = pool.Route(&r, 4); d.BestHit != 100 {
		t.Errorf("best hit %d, want 100 of what was just sent", d.BestHit)
	}
	if _, d = pool.Route(&policies.Request{PromptTokens: 101, Blocks: r.Blocks}, 3*time.Second); d.BestHit != 0 {
		t.Errorf("best hit %d after the guesses are over, want 0", d.BestHit)
	}
	if err := pool.Stored("z", 5, r.Blocks); err == nil {
		t.Error("an event of an unknown replica was taken")
	}
}

// A swap keeps what was remembered by the same rules, and nothing of other settings.
func TestSwapKeepsBelief(t *testing.T) {
	stats := func(before, after string) policies.BeliefStats {
		config := func(text string) policies.WeightsFile {
			return policies.WeightsFile{Config: parse(t, text).New().(*policies.Score).Config()}
		}
		pool, err := policies.NewPool(config(before), policies.PoolConfig{})
		if err != nil {
			t.Fatal(err)
		}
		if err := pool.Join(policies.Replica{Name: "r0"}); err != nil {
			t.Fatal(err)
		}
		pool.Route(&policies.Request{PromptTokens: 101, Blocks: []policies.Block{{Hash: 1, Tokens: 100}}}, 0)
		if err := pool.Swap(config(after)); err != nil {
			t.Fatal(err)
		}
		return pool.BeliefStats(0)
	}
	for after, want := range map[string]int64{"score:aff=1": 100, "score:capacity=2": 0, "score:order=root": 0, "score:ttl=1s": 0} {
		if got := stats("score", after).Tokens; got != want {
			t.Errorf("after a swap to %s %d tokens are believed, want %d", after, got, want)
		}
	}
	if got := stats("score:prefix=bucket,k=1", "score:prefix=bucket,k=3").Owners; got != 3 {
		t.Errorf("%d owners after a swap to 3", got)
	}
}
