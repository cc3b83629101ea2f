package enginetest

import (
	"testing"

	"github.com/seed-2cee110a/triage/engine"
)

// Adapters, generated tokens and costs that change, worked by hand.
func TestReferenceTimelinesOfParts(t *testing.T) {
	const ms = engine.Millisecond
	// Nodes 0 and 2 are the first 8 tokens of a conversation, under adapters 1 and 2; node 1 is a later turn after 0.
	forest := &engine.Forest{Parent: []int32{-1, 0, -1}, End: []int32{8, 20, 8}, Walks: []int32{9, 4, 4}}
	seq := func(id, adapter, prompt, output int32) engine.Sequence {
		return engine.Sequence{ID: id, Leaf: -1, Prompt: prompt, Output: output, Adapter: adapter}
	}
	on := func(leaf int32, s engine.Sequence) engine.Sequence {
		s.Leaf = leaf
		return s
	}
	reuse := func(tokens int32, s engine.Sequence) engine.Sequence {
		s.Reuse = tokens
		return s
	}
	slots := func(n int) func(*engine.Config) {
		return func(c *engine.Config) { c.MaxLoRAs, c.AdapterLoadTime = n, 2*ms }
	}
	for _, c := range []struct {
		name   string
		change func(*engine.Config)
		subs   []refSubmit
		want   string
	}{
		{"the step that admits the first of an adapter loads it, for all", slots(2),
			[]refSubmit{refSub(0, seq(0, 1, 4, 2)), refSub(0, seq(1, 0, 4, 1)), refSub(0, seq(2, 1, 4, 1))},
			`3 first 0 hit 0 scheduled 0
3 first 1 hit 0 scheduled 0
3 finish 1 preempted 0
3 first 2 hit 0 scheduled 0
3 finish 2 preempted 0
4 finish 0 preempted 0
steps 2 preemptions 0 recomputed 0 evicted 0 loads 1`},
		{"two adapters in one step load one after the other", slots(2),
			[]refSubmit{refSub(0, seq(0, 1, 4, 1)), refSub(0, seq(1, 2, 4, 1))},
			`5 first 0 hit 0 scheduled 0
5 finish 0 preempted 0
5 first 1 hit 0 scheduled 0
5 finish 1 preempted 0
steps 1 preemptions 0 recomputed 0 evicted 0 loads 2`},
		// With one slot 1 is skipped until 0 has finished; the base model and adapter 1 go past it.
		{"one adapter too many is skipped and keeps its place", slots(1),
			[]refSubmit{refSub(0, seq(0, 1, 4, 3)), refSub(0, seq(1, 2, 4, 1)), refSub(0, seq(2, 0, 4, 1)), refSub(0, seq(3, 1, 4, 1))},
			`3 first 0 hit 0 scheduled 0
3 first 2 hit 0 scheduled 0
3 finish 2 preempted 0
3 first 3 hit 0 scheduled 0
3 finish 3 preempted 0
5 finish 0 preempted 0
8 first 1 hit 0 scheduled 5
8 finish 1 preempted 0
steps 4 preemptions 0 recomputed 0 evicted 0 loads 2`},
		// 1 waits, skipped, from the start; 2 comes at 4.5 and joins the step that starts at 5.
		{"a submission behind one that is skipped is seen", slots(1),
			[]refSubmit{refSub(0, seq(0, 1, 4, 6)), refSub(0, seq(1, 2, 4, 1)), refSub(9*ms/2, seq(2, 0, 4, 1))},
			`3 first 0 hit 0 scheduled 0
6 first 2 hit 0 scheduled 5
6 finish 2 preempted 0
8 finish 0 preempted 0
11 first 1 hit 0 scheduled 8
11 finish 1 preempted 0
steps 7 preemptions 0 recomputed 0 evicted 0 loads 2`},
		// 4 blocks: 2 needs 3 of them, 0 holds 2. It stops the line, so that 3 waits too, though it would fit. Then 1 is
		// first, and has both skipped for a step.
		{"behind one that is skipped the line still stops at one without blocks",
			func(c *engine.Config) { c.MaxLoRAs, c.KVBlocks = 1, 4 },
			[]refSubmit{refSub(0, seq(0, 1, 8, 2)), refSub(0, seq(1, 2, 4, 1)), refSub(0, seq(2, 1, 12, 1)), refSub(0, seq(3, 1, 4, 1))},
			`1 first 0 hit 0 scheduled 0
2 finish 0 preempted 0
3 first 1 hit 0 scheduled 2
3 finish 1 preempted 0
4 first 2 hit 0 scheduled 3
4 finish 2 preempted 0
4 first 3 hit 0 scheduled 3
4 finish 3 preempted 0
steps 4 preemptions 0 recomputed 0 evicted 3 loads 3`},
		// Adapter 3 takes the slot of 1, idle since 3, not of 2, idle since 13. So 2 is there at 30, and 1 is not at 40.
		{"the adapter that is idle for longest goes", slots(2),
			[]refSubmit{refSub(0, seq(0, 1, 4, 1)), refSub(10*ms, seq(1, 2, 4, 1)), refSub(20*ms, seq(2, 3, 4, 1)),
				refSub(30*ms, seq(3, 2, 4, 1)), refSub(40*ms, seq(4, 1, 4, 1))},
			`3 first 0 hit 0 scheduled 0
3 finish 0 preempted 0
13 first 1 hit 0 scheduled 10
13 finish 1 preempted 0
23 first 2 hit 0 scheduled 20
23 finish 2 preempted 0
31 first 3 hit 0 scheduled 30
31 finish 3 preempted 0
43 first 4 hit 0 scheduled 40
43 finish 4 preempted 0
steps 5 preemptions 0 recomputed 0 evicted 0 loads 4`},
		// Step 1 has adapters 1 and 2, step 2 adapter 1 and the base model.
		{"a step of several adapters is slower; the base model is none", func(c *engine.Config) { c.MaxLoRAs, c.MixedAdapters = 2, 1.5 },
			[]refSubmit{refSub(0, seq(0, 1, 4, 2)), refSub(0, seq(1, 2, 4, 1)), refSub(0, seq(2, 0, 4, 2))},
			`1.5 first 0 hit 0 scheduled 0
1.5 first 1 hit 0 scheduled 0
1.5 finish 1 preempted 0
1.5 first 2 hit 0 scheduled 0
2.5 finish 0 preempted 0
2.5 finish 2 preempted 0
steps 2 preemptions 0 recomputed 0 evicted 0 loads 2`},
		{"without slots adapters are ignored", func(c *engine.Config) { c.AdapterLoadTime, c.MixedAdapters = ms, 2 },
			[]refSubmit{refSub(0, seq(0, 1, 4, 1)), refSub(0, seq(1, 2, 4, 1))},
			`1 first 0 hit 0 scheduled 0
1 finish 0 preempted 0
1 first 1 hit 0 scheduled 0
1 finish 1 preempted 0
steps 1 preemptions 0 recomputed 0 evicted 0`},
		// The same text under adapters 1 and 2 is on trees of its own: 1 hits nothing, 2 the block that may be hit.
		{"adapters do not share blocks", slots(2),
			[]refSubmit{refSub(0, on(0, seq(0, 1, 8, 1))), refSub(10*ms, on(2, seq(1, 2, 8, 1))), refSub(20*ms, on(0, seq(2, 1, 8, 1)))},
			`3 first 0 hit 0 scheduled 0
3 finish 0 preempted 0
13 first 1 hit 0 scheduled 10
13 finish 1 preempted 0
21 first 2 hit 4 scheduled 20
21 finish 2 preempted 0
steps 3 preemptions 0 recomputed 0 evicted 0 loads 2`},
		// 0 stores 6 + 7 - 1 = 12 tokens, 3 full blocks, of which the prompt has one.
		{"a later turn hits generated tokens", nil,
			[]refSubmit{refSub(0, on(1, reuse(12, seq(0, 0, 6, 7)))), refSub(10*ms, on(1, seq(1, 0, 20, 1)))},
			`1 first 0 hit 0 scheduled 0
7 finish 0 preempted 0
11 first 1 hit 12 scheduled 10
11 finish 1 preempted 0
steps 8 preemptions 0 recomputed 0 evicted 0`},
		{"those that the later turn does not name are private", nil,
			[]refSubmit{refSub(0, on(1, reuse(11, seq(0, 0, 6, 7)))), refSub(10*ms, on(1, seq(1, 0, 20, 1)))},
			`1 first 0 hit 0 scheduled 0
7 finish 0 preempted 0
11 first 1 hit 8 scheduled 10
11 finish 1 preempted 0
steps 8 preemptions 0 recomputed 0 evicted 0`},
		{"without reuse the later turn hits the prompt alone", nil,
			[]refSubmit{refSub(0, on(1, seq(0, 0, 6, 7))), refSub(10*ms, on(1, seq(1, 0, 20, 1)))},
			`1 first 0 hit 0 scheduled 0
7 finish 0 preempted 0
11 first 1 hit 4 scheduled 10
11 finish 1 preempted 0
steps 8 preemptions 0 recomputed 0 evicted 0`},
		// 6 blocks, of which 0 holds 2 until its token 9 is written, and the watermark keeps 1. At 0 and 1 the hit of 1 is
		// one block, which leaves 4 to find, and 3 may be had. The step that starts at 2 fills the second block of 0.
		{"a head of line that waits for blocks may go when its hit grows", func(c *engine.Config) { c.KVBlocks, c.Watermark = 6, 0.2 },
			[]refSubmit{refSub(0, on(1, reuse(12, seq(0, 0, 6, 7)))), refSub(0, on(1, seq(1, 0, 20, 1)))},
			`1 first 0 hit 0 scheduled 0
3 first 1 hit 8 scheduled 2
3 finish 1 preempted 0
7 finish 0 preempted 0
steps 7 preemptions 0 recomputed 0 evicted 0`},
		// 5 blocks. 0 leaves 3 in the queue, the last one first. 1 hits the first, and 2 evicts the third at 10 and the
		// second at 12, when 1 fills its own second: just in time for it to be the one that 3 hits.
		{"a block that is evicted in the step that fills it anew is replaced", func(c *engine.Config) { c.KVBlocks = 5 },
			[]refSubmit{refSub(0, on(1, reuse(12, seq(0, 0, 6, 7)))), refSub(10*ms, on(1, reuse(8, seq(1, 0, 6, 3)))),
				refSub(10*ms, seq(2, 0, 7, 3)), refSub(20*ms, on(1, seq(3, 0, 20, 1)))},
			`1 first 0 hit 0 scheduled 0
7 finish 0 preempted 0
11 first 1 hit 4 scheduled 10
11 first 2 hit 0 scheduled 10
13 finish 1 preempted 0
13 finish 2 preempted 0
21 first 3 hit 8 scheduled 20
21 finish 3 preempted 0
steps 11 preemptions 0 recomputed 0 evicted 4`},
		// Chunks of 3. At 2 the tokens of 0 come to 9 and those of 1, which decodes, to 8. 0 is first in the batch, so the
		// copy of 1 is private, and 0 goes on to cache all its blocks.
		{"of two that fill a block in one step the first in the batch caches it", func(c *engine.Config) { c.LongPrefillTokenThreshold = 3 },
			[]refSubmit{refSub(0, on(1, seq(0, 0, 20, 1))), refSub(ms/2, on(1, reuse(12, seq(1, 0, 7, 7)))), refSub(20*ms, on(1, seq(2, 0, 20, 1)))},
			`2 first 1 hit 4 scheduled 1
7 first 0 hit 0 scheduled 0
7 finish 0 preempted 0
8 finish 1 preempted 0
22 first 2 hit 16 scheduled 20
22 finish 2 preempted 0
steps 10 preemptions 0 recomputed 0 evicted 0`},
		// Steps end at 1, 2, 3; the ones that start then and later take two.
		{"a cost that changes within a step holds from the next one on", nil,
			[]refSubmit{refSub(0, seq(0, 0, 4, 5)), {at: 5 * ms / 2, factor: 2}},
			`1 first 0 hit 0 scheduled 0
7 finish 0 preempted 0
steps 5 preemptions 0 recomputed 0 evicted 0`},
		{"one that changes at a boundary holds from it on, until it changes back", nil,
			[]refSubmit{refSub(0, seq(0, 0, 4, 5)), {at: 2 * ms, factor: 2}, {at: 4 * ms, factor: 1}},
			`1 first 0 hit 0 scheduled 0
6 finish 0 preempted 0
steps 5 preemptions 0 recomputed 0 evicted 0`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := refTimeline(t, refTiny(c.change), forest, c.subs); got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}
