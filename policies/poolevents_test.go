package policies_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/seed-2cee110a/triage/policies"
)

// Requests, events and questions come from many goroutines to a wrapped policy that believes in events; at the end nothing
// is booked, and what was stored and not evicted is believed. Races are for the race detector to find.
func TestPoolEventsConcurrently(t *testing.T) {
	pool, err := policies.NewPoolOf(parse(t, "bounded(2):hysteresis:score:prefix=events,spec=1ms,ttft=1,norm=time").New(), policies.PoolConfig{Routers: 3})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 4 {
		if err := pool.Join(policies.Replica{Name: fmt.Sprintf("r%d", i)}); err != nil {
			t.Fatal(err)
		}
	}
	var work sync.WaitGroup
	for g := range 4 {
		name := fmt.Sprintf("r%d", g)
		work.Go(func() {
			for i := range 300 {
				now := time.Duration(i) * time.Millisecond
				r := policies.Request{Key: uint64(g*1000 + i), Session: uint64(g + 1), PromptTokens: 101, Blocks: []policies.Block{{Hash: uint64(i%7 + 1), Tokens: 100}}}
				lease, _ := pool.Route(&r, now)
				lease.FirstToken(now)
				lease.Output(int32(i + 1))
				if err := pool.Stored(name, now, r.Blocks); err != nil {
					t.Error(err)
				}
				if err := pool.Evicted(name, now, uint64(i%7+1), 40); err != nil {
					t.Error(err)
				}
				pool.BeliefStats(1)
				lease.Done(now)
			}
		})
	}
	work.Wait()
	// Guesses are over and let go with the next dispatch; each of 7 blocks has 100 - 40 tokens on each of 4 replicas.
	lease, _ := pool.Route(&policies.Request{PromptTokens: 1}, time.Minute)
	lease.Fail(time.Minute)
	if got := pool.BeliefStats(0); got.Entries != 28 || got.Tokens != 28*60 || got.Duplicated != 21*60 {
		t.Errorf("belief %+v, want 28 entries of 60 tokens, 21 of them duplicates", got)
	}
	for i, l := range pool.Snapshot().Local {
		if l.InFlight != 0 || l.Pending != 0 || l.UncachedPrefill != 0 || l.HeldTokens != 0 {
			t.Errorf("replica %d has %+v booked, want nothing", i, l)
		}
	}
}
