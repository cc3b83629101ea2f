package enginetest

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/seed-2cee110a/triage/engine"
)

// What the engine simplifies about the order of allocation and caching within a boundary, and about private blocks after
// a second admission, moves the hit ratio by less than 0.1 % of the prompt tokens, although these cases press on the pool
// far harder than traffic does.
func TestSimplificationsHardlyMoveHits(t *testing.T) {
	refSetChecks(t, 15000)
	var prompt, hit, hitAtOnce, differ int64
	rapid.Check(t, func(t *rapid.T) {
		c := drawRefCase(refRapid{t}, refRapid{t}, refSmall)
		gaps := rapid.SliceOfN(rapid.IntRange(0, 8), len(c.seqs), len(c.seqs)).Draw(t, "gaps")
		a, b := playOne(c, gaps, false), playOne(c, gaps, true)
		if !slices.Equal(a, b) {
			differ++
		}
		for _, s := range c.seqs {
			prompt += int64(s.Prompt)
		}
		hit, hitAtOnce = hit+hitsOf(a), hitAtOnce+hitsOf(b)
	})
	t.Logf("%d of %d prompt tokens hit (%.3f %%), %d as in vLLM (%.3f %%); %d cases differ in any way", hit, prompt,
		100*float64(hit)/float64(prompt), hitAtOnce, 100*float64(hitAtOnce)/float64(prompt), differ)
	if d := hit - hitAtOnce; 1000*max(d, -d) >= prompt {
		t.Errorf("the simplifications move the hits by %d of %d prompt tokens", d, prompt)
	}
	if hit == 0 {
		t.Error("nothing hit: nothing was measured")
	}
}

// playOne plays a case, the sequences some steps apart.
func playOne(c refCase, gaps []int, atOnce bool) []engine.Event {
	r := New(c.cfg, c.cost, &c.forest)
	r.AtOnce = atOnce
	step := c.cost.Step(engine.Batch{Decode: 1, KVTokens: 1})
	var events []engine.Event
	var now engine.Time
	for i, s := range c.seqs {
		now += engine.Time(gaps[i]) * step
		r.Advance(now, &events)
		r.Submit(now, s)
	}
	for at := r.Next(); at != engine.Never; at = r.Next() {
		r.Advance(at, &events)
	}
	return events
}

func hitsOf(events []engine.Event) int64 {
	var n int64
	for _, e := range events {
		if e.Kind == engine.FirstToken {
			n += int64(e.Hit)
		}
	}
	return n
}
