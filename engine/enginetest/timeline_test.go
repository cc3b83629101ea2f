package enginetest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/seed-2cee110a/triage/engine"
)

// refSubmit is a sequence and when it is submitted, or a factor on the time of steps from then on.
type refSubmit struct {
	at engine.Time
	engine.Sequence
	factor float64
}

// refTimeline runs subs (in time order, dense ids) through a replica of one-millisecond steps, once the reference and
// once the engine, which have to agree, and prints what became visible, in milliseconds, and what it cost.
func refTimeline(t *testing.T, cfg engine.Config, f *engine.Forest, subs []refSubmit) string {
	t.Helper()
	e, err := engine.New(cfg, engine.Unit{}, engine.NewLayout(f, cfg.BlockSize))
	if err != nil {
		t.Fatal(err)
	}
	r := New(cfg, engine.Unit{}, f)
	want := refTimelineOf(t, r, subs)
	if got := refTimelineOf(t, e, subs); got != want {
		t.Errorf("engine\n%s\nreference\n%s", got, want)
	}
	if err := r.checkDone(); err != nil {
		t.Fatal(err)
	}
	return want
}

func refTimelineOf(t *testing.T, r refSubject, subs []refSubmit) string {
	t.Helper()
	var out strings.Builder
	var events []engine.Event
	flush := func() {
		for _, e := range events {
			switch e.Kind {
			case engine.FirstToken:
				fmt.Fprintf(&out, "%s first %d hit %d scheduled %s\n", refMs(e.At), e.Seq, e.Hit, refMs(e.Scheduled))
			case engine.Finish:
				fmt.Fprintf(&out, "%s finish %d preempted %d\n", refMs(e.At), e.Seq, e.Preemptions)
			}
		}
		events = events[:0]
	}
	for _, s := range subs {
		r.Advance(s.at, &events)
		flush()
		if s.factor > 0 {
			r.SetCost(s.at, engine.Scaled(engine.Unit{}, s.factor))
			continue
		}
		if reason := r.Submit(s.at, s.Sequence); reason != engine.Accepted {
			fmt.Fprintf(&out, "%s refused %d %s\n", refMs(s.at), s.ID, reason)
		}
	}
	for at := r.Next(); at != engine.Never; at = r.Next() {
		r.Advance(at, &events)
		flush()
		if err := r.Check(); err != nil {
			t.Fatal(err)
		}
	}
	s := r.Stats()
	fmt.Fprintf(&out, "steps %d preemptions %d recomputed %d evicted %d", s.Steps, s.Preemptions, s.Recomputed, s.Evicted)
	if s.AdapterLoads > 0 {
		fmt.Fprintf(&out, " loads %d", s.AdapterLoads)
	}
	return out.String()
}

func refSub(at engine.Time, s engine.Sequence) refSubmit { return refSubmit{at: at, Sequence: s} }

// refMs prints t in milliseconds.
func refMs(t engine.Time) string { return fmt.Sprint(float64(t) / float64(engine.Millisecond)) }

// refTiny is a replica whose schedules can be worked by hand: blocks of 4 tokens, no overheads, no asynchrony.
func refTiny(change func(*engine.Config)) engine.Config {
	cfg := engine.Config{BlockSize: 4, KVBlocks: 100, MaxNumSeqs: 8, MaxNumBatchedTokens: 16,
		ReserveFullISL: true, EnablePrefixCaching: true}
	if change != nil {
		change(&cfg)
	}
	return cfg
}

func TestReferenceTimelines(t *testing.T) {
	const ms = engine.Millisecond
	// Node 0 is 8 tokens, its children 1 and 2 another 8 each; 3 is a prompt that nobody else walks.
	forest := &engine.Forest{Parent: []int32{-1, 0, 0, -1}, End: []int32{8, 16, 16, 64}, Walks: []int32{9, 4, 4, 1}}
	seq := func(id, leaf, prompt, output int32) engine.Sequence {
		return engine.Sequence{ID: id, Leaf: leaf, Prompt: prompt, Output: output}
	}
	for _, c := range []struct {
		name   string
		change func(*engine.Config)
		subs   []refSubmit
		want   string
	}{
		{"one sequence: prefill emits the first token, then one a step", nil,
			[]refSubmit{refSub(0, seq(0, -1, 5, 3))},
			`1 first 0 hit 0 scheduled 0
3 finish 0 preempted 0
steps 3 preemptions 0 recomputed 0 evicted 0`},
		{"one token of output: first and last at once", nil,
			[]refSubmit{refSub(0, seq(0, -1, 5, 1))},
			`1 first 0 hit 0 scheduled 0
1 finish 0 preempted 0
steps 1 preemptions 0 recomputed 0 evicted 0`},
		// 20 tokens: 16 fill the budget of step 1, the other 4 go with step 2.
		{"a prompt longer than the budget is chunked", nil,
			[]refSubmit{refSub(0, seq(0, -1, 20, 1))},
			`2 first 0 hit 0 scheduled 0
2 finish 0 preempted 0
steps 2 preemptions 0 recomputed 0 evicted 0`},
		// Chunks of 6: 6, 6, 6, 2.
		{"the threshold bounds a chunk", func(c *engine.Config) { c.LongPrefillTokenThreshold = 6 },
			[]refSubmit{refSub(0, seq(0, -1, 20, 1))},
			`4 first 0 hit 0 scheduled 0
4 finish 0 preempted 0
steps 4 preemptions 0 recomputed 0 evicted 0`},
		{"overheads delay the start and the delivery",
			func(c *engine.Config) { c.OverheadBefore, c.OverheadAfter = 8*ms, 1*ms },
			[]refSubmit{refSub(0, seq(0, -1, 5, 2))},
			`10 first 0 hit 0 scheduled 8
11 finish 0 preempted 0
steps 2 preemptions 0 recomputed 0 evicted 0`},
		// Step 1 is [0,1), so an arrival at 0.5 joins the step that starts at 1.
		{"without async scheduling an arrival joins the next step", nil,
			[]refSubmit{refSub(0, seq(0, -1, 5, 4)), refSub(ms/2, seq(1, -1, 5, 1))},
			`1 first 0 hit 0 scheduled 0
2 first 1 hit 0 scheduled 1
2 finish 1 preempted 0
4 finish 0 preempted 0
steps 4 preemptions 0 recomputed 0 evicted 0`},
		// The batch of step [1,2) is formed while [0,1) runs; 1 joined at 0.5, after the start of [0,1).
		{"with async scheduling it joins the one after", func(c *engine.Config) { c.AsyncScheduling = true },
			[]refSubmit{refSub(0, seq(0, -1, 5, 4)), refSub(ms/2, seq(1, -1, 5, 1))},
			`1 first 0 hit 0 scheduled 0
3 first 1 hit 0 scheduled 2
3 finish 1 preempted 0
4 finish 0 preempted 0
steps 4 preemptions 0 recomputed 0 evicted 0`},
		{"with async scheduling an idle replica starts at once", func(c *engine.Config) { c.AsyncScheduling = true },
			[]refSubmit{refSub(0, seq(0, -1, 5, 1)), refSub(ms/2, seq(1, -1, 5, 1)), refSub(9*ms/2, seq(2, -1, 5, 1))},
			`1 first 0 hit 0 scheduled 0
1 finish 0 preempted 0
2 first 1 hit 0 scheduled 1
2 finish 1 preempted 0
5.5 first 2 hit 0 scheduled 4.5
5.5 finish 2 preempted 0
steps 3 preemptions 0 recomputed 0 evicted 0`},
		// Both are admitted at 0. 0 takes all 16 tokens of the budget, so 1 comes at 1 and finds both blocks of node 0.
		{"a later sequence hits the shared prefix", nil,
			[]refSubmit{refSub(0, seq(0, 1, 16, 2)), refSub(0, seq(1, 2, 16, 1))},
			`1 first 0 hit 0 scheduled 0
2 finish 0 preempted 0
2 first 1 hit 8 scheduled 1
2 finish 1 preempted 0
steps 2 preemptions 0 recomputed 0 evicted 0`},
		// A budget of 24 has room for 8 more tokens, which is what the hit leaves of 1.
		{"a block can be hit in the step that computes it", func(c *engine.Config) { c.MaxNumBatchedTokens = 24 },
			[]refSubmit{refSub(0, seq(0, 1, 16, 2)), refSub(0, seq(1, 2, 16, 1))},
			`1 first 0 hit 0 scheduled 0
1 first 1 hit 8 scheduled 0
1 finish 1 preempted 0
2 finish 0 preempted 0
steps 2 preemptions 0 recomputed 0 evicted 0`},
		// 16 tokens are 4 full blocks; the last one is computed again, because one token has to be.
		{"a fully cached prompt computes its last block", nil,
			[]refSubmit{refSub(0, seq(0, 1, 16, 1)), refSub(5*ms, seq(1, 1, 16, 1))},
			`1 first 0 hit 0 scheduled 0
1 finish 0 preempted 0
6 first 1 hit 12 scheduled 5
6 finish 1 preempted 0
steps 2 preemptions 0 recomputed 0 evicted 0`},
		// Chunks of one block. 1 hits what 0 has just computed and stays a block ahead, so 0 finds its blocks 1 to 3
		// cached and keeps private copies: 4 + 3 blocks, all of which 2 has to evict for its 7.
		{"a sequence that is overtaken keeps private copies",
			func(c *engine.Config) { c.KVBlocks, c.LongPrefillTokenThreshold = 7, 4 },
			[]refSubmit{refSub(0, seq(0, 1, 16, 1)), refSub(0, seq(1, 1, 16, 1)), refSub(9*ms, seq(2, -1, 28, 1))},
			`3 first 1 hit 4 scheduled 0
3 finish 1 preempted 0
4 first 0 hit 0 scheduled 0
4 finish 0 preempted 0
16 first 2 hit 0 scheduled 9
16 finish 2 preempted 0
steps 11 preemptions 0 recomputed 0 evicted 7`},
		{"a prompt that nobody else walks hits nothing", nil,
			[]refSubmit{refSub(0, seq(0, 3, 16, 1)), refSub(5*ms, seq(1, 3, 16, 1))},
			`1 first 0 hit 0 scheduled 0
1 finish 0 preempted 0
6 first 1 hit 0 scheduled 5
6 finish 1 preempted 0
steps 2 preemptions 0 recomputed 0 evicted 0`},
		{"without prefix caching nothing hits", func(c *engine.Config) { c.EnablePrefixCaching = false },
			[]refSubmit{refSub(0, seq(0, 1, 16, 1)), refSub(5*ms, seq(1, 1, 16, 1))},
			`1 first 0 hit 0 scheduled 0
1 finish 0 preempted 0
6 first 1 hit 0 scheduled 5
6 finish 1 preempted 0
steps 2 preemptions 0 recomputed 0 evicted 0`},
		// 4 blocks. 0 leaves 16 tokens cached. 1 needs 2 blocks for its 8 tokens and evicts the two last of 0, so 2
		// finds the two of node 0.
		{"evictions take the end of the oldest prompt", func(c *engine.Config) { c.KVBlocks = 4 },
			[]refSubmit{refSub(0, seq(0, 1, 16, 1)), refSub(5*ms, seq(1, -1, 8, 1)), refSub(9*ms, seq(2, 1, 16, 1))},
			`1 first 0 hit 0 scheduled 0
1 finish 0 preempted 0
6 first 1 hit 0 scheduled 5
6 finish 1 preempted 0
10 first 2 hit 8 scheduled 9
10 finish 2 preempted 0
steps 3 preemptions 0 recomputed 0 evicted 4`},
		// 3 blocks for two sequences of 4 + 4 tokens. At 1 each wants its second block; there is one. 1 is preempted
		// with 4 tokens computed, its full block goes to the queue, and 0 takes the empty one. Nobody is admitted at
		// that boundary. Then 1 needs 2 blocks for its 5 tokens, hits its own, and only 1 is there for the other: none
		// is empty, and the one in the queue is the one it would hit. It waits until 0 finishes at 4. It hits its 4 tokens
		// then, decodes, and ends with token 4 at 7.
		{"the last sequence is preempted and hits its own block", func(c *engine.Config) { c.KVBlocks = 3 },
			[]refSubmit{refSub(0, seq(0, -1, 4, 4)), refSub(0, seq(1, -1, 4, 4))},
			`1 first 0 hit 0 scheduled 0
1 first 1 hit 0 scheduled 0
4 finish 0 preempted 0
7 finish 1 preempted 1
steps 7 preemptions 1 recomputed 4 evicted 0`},
		// 4 blocks: 0 holds 2 at first and 3 at last; 1 needs 3 for its prompt and blocks 2, which would fit.
		{"the head of the line blocks", func(c *engine.Config) { c.KVBlocks = 4 },
			[]refSubmit{refSub(0, seq(0, -1, 8, 2)), refSub(0, seq(1, -1, 12, 1)), refSub(0, seq(2, -1, 4, 1))},
			`1 first 0 hit 0 scheduled 0
2 finish 0 preempted 0
3 first 1 hit 0 scheduled 2
3 finish 1 preempted 0
3 first 2 hit 0 scheduled 2
3 finish 2 preempted 0
steps 3 preemptions 0 recomputed 0 evicted 2`},
		// 10 blocks, 2 of them kept free: 1 needs 7, and beside the 2 of 0 only 6 may be had. Alone, 2 may have them all.
		{"the watermark holds only while something runs",
			func(c *engine.Config) { c.KVBlocks, c.Watermark, c.MaxNumBatchedTokens = 10, 0.2, 64 },
			[]refSubmit{refSub(0, seq(0, -1, 8, 1)), refSub(0, seq(1, -1, 28, 1)), refSub(9*ms, seq(2, -1, 40, 1))},
			`1 first 0 hit 0 scheduled 0
1 finish 0 preempted 0
2 first 1 hit 0 scheduled 1
2 finish 1 preempted 0
10 first 2 hit 0 scheduled 9
10 finish 2 preempted 0
steps 3 preemptions 0 recomputed 0 evicted 9`},
		{"what can never run is refused at once", func(c *engine.Config) { c.KVBlocks, c.MaxModelLen = 4, 18 },
			[]refSubmit{refSub(0, seq(0, -1, 16, 2)), refSub(0, seq(1, -1, 16, 3)), refSub(0, seq(2, -1, 16, 1))},
			`0 refused 0 never_fits
0 refused 1 too_long
1 first 2 hit 0 scheduled 0
1 finish 2 preempted 0
steps 1 preemptions 0 recomputed 0 evicted 0`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := refTimeline(t, refTiny(c.change), forest, c.subs); got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}
