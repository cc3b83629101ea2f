package policies_test

import (
	"testing"

	"github.com/seed-2cee110a/triage/policies"
)

// room is a replica with KV tokens in all, a share of them in use, and a hit.
func room(v *policies.View, name string, tokens int64, used float64, hit int32) {
	v.Replicas = append(v.Replicas, policies.Replica{Name: name, Salt: policies.Salt(name), Signals: policies.Signals{
		Have: policies.HasKVUsed | policies.HasKVTokens, KVUsed: used, KVTokens: tokens}})
	v.Local, v.Hits = append(v.Local, policies.Local{}), append(v.Hits, policies.Hit{Tokens: hit})
}

// The best replica has 900 of 1000 tokens cached and no room: spill goes to the other, hold waits. If the best could
// never hold the request, it is no candidate.
func TestFitHold(t *testing.T) {
	r := &policies.Request{PromptTokens: 1000}
	for _, tc := range []struct {
		name, text string
		best       int64
		used       float64
		action     policies.Action
		winner     int
	}{
		{"spill goes elsewhere", "score:fit=spill", 10_000, 0.95, policies.Dispatch, 1},
		{"hold waits for the best", "score:fit=hold", 10_000, 0.95, policies.Hold, -1},
		{"hold goes to the best with room", "score:fit=hold", 10_000, 0.5, policies.Dispatch, 0},
		{"hold does not wait for what can never be", "score:fit=hold", 999, 0.95, policies.Dispatch, 1},
		{"hold does not count pressure", "score:fit=hold,kv=1e9", 10_000, 0.95, policies.Hold, -1},
		{"the best other may be the best", "score:fit=hold,aff=0,load=1", 10_000, 0.95, policies.Dispatch, 1},
	} {
		v := &policies.View{}
		room(v, "best", tc.best, tc.used, 900)
		room(v, "other", 10_000, 0, 0)
		v.Local[0].InFlight = 1
		var d policies.Decision
		parse(t, tc.text).New().Pick(r, v, &d)
		if d.Action != tc.action || d.Replica != tc.winner {
			t.Errorf("%s: %v to %d, want %v to %d", tc.name, d.Action, d.Replica, tc.action, tc.winner)
		}
		if d.Action == policies.Dispatch && tc.best > 1000 && d.BestHit != 900 && d.Rejected[policies.NoRoom] == 0 {
			t.Errorf("%s: best hit %d, want 900", tc.name, d.BestHit)
		}
	}
}

// What is given up is seen: the winner has a hit of 100 tokens, another candidate one of 800.
func TestBestHit(t *testing.T) {
	v := &policies.View{}
	room(v, "warm", 10_000, 0, 800)
	room(v, "idle", 10_000, 0, 100)
	v.Local[0].UncachedPrefill = 1 << 20
	var d policies.Decision
	parse(t, "score").New().Pick(&policies.Request{PromptTokens: 1000}, v, &d)
	if d.Replica != 1 || d.Hit != 100 || d.BestHit != 800 {
		t.Errorf("replica %d with hit %d and best hit %d, want 1, 100 and 800", d.Replica, d.Hit, d.BestHit)
	}
}

// Expected outputs: what the caller says, the limit, the tenant's p75, nothing. Plain policies know the first two.
func TestExpectedOutput(t *testing.T) {
	learnt := parse(t, "score").New().(*policies.Score)
	for _, n := range []int32{4, 5, 6, 7, 1000} { // p75 by nearest rank is the fourth
		learnt.Finished(0, &policies.Request{Tenant: 3}, 0, n)
	}
	for _, tc := range []struct {
		name string
		p    policies.Policy
		r    policies.Request
		want int32
	}{
		{"the caller's", learnt, policies.Request{Tenant: 3, EstOutput: 20, MaxOutput: 100}, 20},
		{"never above the limit", learnt, policies.Request{Tenant: 3, EstOutput: 200, MaxOutput: 100}, 100},
		{"the limit", learnt, policies.Request{Tenant: 3, MaxOutput: 100}, 100},
		{"the tenant's", learnt, policies.Request{Tenant: 3}, 7},
		{"another tenant's is not known", learnt, policies.Request{Tenant: 4}, 0},
		{"off", parse(t, "score:output=off").New(), policies.Request{Tenant: 3}, 0},
		{"the limit of a plain policy", parse(t, "round-robin").New(), policies.Request{MaxOutput: 9}, 9},
	} {
		v := &policies.View{}
		room(v, "r0", 10_000, 0, 0)
		tc.r.PromptTokens = 100
		var d policies.Decision
		tc.p.Pick(&tc.r, v, &d)
		if d.Output != tc.want || d.Need != int64(100+tc.want) {
			t.Errorf("%s: output %d and need %d, want %d and %d", tc.name, d.Output, d.Need, tc.want, 100+tc.want)
		}
	}
}

// A live router learns from what it delivered, not from what failed, and books it.
func TestPoolLearnsOutputs(t *testing.T) {
	pool, err := policies.NewPool(policies.WeightsFile{Config: policies.DefaultScore()}, policies.PoolConfig{})
	if err != nil {
		t.Fatal(err)
	}
	if err := pool.Join(policies.Replica{Name: "r0"}); err != nil {
		t.Fatal(err)
	}
	serve := func(end func(policies.Lease)) int64 {
		lease, _ := pool.Route(&policies.Request{PromptTokens: 100}, 0)
		held := pool.Snapshot().Local[0].HeldTokens
		lease.FirstToken(1)
		lease.Output(12)
		end(lease)
		return held
	}
	done, fail := func(l policies.Lease) { l.Done(2) }, func(l policies.Lease) { l.Fail(2) }
	for i, tc := range []struct {
		end  func(policies.Lease)
		want int64
	}{{fail, 100}, {done, 100}, {done, 112}} {
		if got := serve(tc.end); got != tc.want {
			t.Errorf("request %d holds %d tokens, want %d", i, got, tc.want)
		}
	}
}
