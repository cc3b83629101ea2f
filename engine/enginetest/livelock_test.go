package enginetest

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/seed-2cee110a/triage/engine"
)

// A pool of a few hundred blocks under prompts of thousands of tokens thrashes, but every run ends: the oldest running
// sequence is never preempted, so each step brings it on by a token at least.
func TestSmallPoolsNeverLivelock(t *testing.T) {
	for _, c := range []struct {
		name     string
		blocks   int
		reserve  bool
		adapters int
	}{
		{"200 blocks", 200, true, 0},
		{"200 blocks, admitted on a chunk", 200, false, 0},
		{"400 blocks, admitted on a chunk", 400, false, 0},
		{"400 blocks, adapters", 400, true, 2},
		{"400 blocks, adapters, admitted on a chunk", 400, false, 2},
	} {
		for _, caching := range []bool{true, false} {
			cfg := engine.Default()
			cfg.KVBlocks, cfg.ReserveFullISL, cfg.MaxLoRAs, cfg.EnablePrefixCaching = c.blocks, c.reserve, c.adapters, caching
			cfg.MaxNumBatchedTokens = 2048
			t.Run(fmt.Sprintf("%s, caching %v", c.name, caching), func(t *testing.T) { wantProgress(t, cfg) })
		}
	}
}

// wantProgress plays 300 long sequences that arrive at once or nearly so.
func wantProgress(t *testing.T, cfg engine.Config) {
	random := rand.New(rand.NewPCG(7, uint64(cfg.KVBlocks)))
	e, err := engine.New(cfg, engine.Unit{}, engine.NewLayout(&engine.Forest{}, cfg.BlockSize))
	if err != nil {
		t.Fatal(err)
	}
	var events []engine.Event
	var accepted, refused int
	var emitted, work int64
	for i := range int32(300) {
		s := engine.Sequence{ID: i, Leaf: -1, Prompt: 500 + random.Int32N(6000), Output: 1 + random.Int32N(1500), Adapter: random.Int32N(5)}
		now := engine.Time(i) * engine.Millisecond
		e.Advance(now, &events)
		if e.Submit(now, s) != engine.Accepted {
			refused++
			continue
		}
		accepted++
		emitted += int64(s.Output)
		work += int64(s.Prompt + s.Output)
	}
	for at := e.Next(); at != engine.Never; at = e.Next() {
		e.Advance(at, &events)
		if steps := e.Stats().Steps; steps > work {
			t.Fatalf("%d steps for %d tokens: there is no progress", steps, work)
		}
	}
	s := e.Stats()
	t.Logf("%d served, %d refused; %d preemptions, %.3f tokens recomputed per token emitted", accepted, refused,
		s.Preemptions, float64(s.Recomputed)/float64(emitted))
	if len(events) != 2*accepted || refused == 0 {
		t.Errorf("%d events of %d sequences, %d refused; want two of each, and some refused", len(events), accepted, refused)
	}
	if pool := int64(cfg.KVBlocks * cfg.BlockSize); s.Preemptions == 0 || s.Recomputed > s.Preemptions*pool {
		t.Errorf("%d tokens recomputed after %d preemptions, want some, and a pool of %d each at most", s.Recomputed, s.Preemptions, pool)
	}
	if err := e.Check(); err != nil {
		t.Error(err)
	}
}
