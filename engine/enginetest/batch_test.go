package enginetest

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-2cee110a/triage/engine"
)

// refRecorder is a cost model of one-millisecond steps that keeps the batches.
type refRecorder struct {
	engine.Unit
	batches *[]engine.Batch
}

func (r refRecorder) Step(b engine.Batch) engine.Time {
	*r.batches = append(*r.batches, b)
	return engine.Millisecond
}

// TestReferenceBatches works the content of batches by hand.
func TestReferenceBatches(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*engine.Config)
		seqs   []engine.Sequence
		want   []engine.Batch
	}{
		// Contexts of the prompt are 1 + 2 + 3 + 4 + 5; a decode reads what is stored and what it writes.
		{"prefill, then decode", nil, []engine.Sequence{{ID: 0, Leaf: -1, Prompt: 5, Output: 3}},
			[]engine.Batch{{PrefillSeqs: 1, PrefillTokens: 5, PrefillContext: 15}, {Decode: 1, KVTokens: 6}, {Decode: 1, KVTokens: 7}}},
		{"chunks", func(c *engine.Config) { c.LongPrefillTokenThreshold = 3 }, []engine.Sequence{{ID: 0, Leaf: -1, Prompt: 5, Output: 1}},
			[]engine.Batch{{PrefillSeqs: 1, PrefillTokens: 3, PrefillContext: 6}, {PrefillSeqs: 1, PrefillTokens: 2, PrefillContext: 9}}},
		// The preempted sequence hits its 4 tokens and needs one more, the fifth: a decode.
		{"recomputing one token is a decode", func(c *engine.Config) { c.KVBlocks = 3 }, []engine.Sequence{{ID: 0, Leaf: -1, Prompt: 4, Output: 3}, {ID: 1, Leaf: -1, Prompt: 4, Output: 3}},
			[]engine.Batch{{PrefillSeqs: 2, PrefillTokens: 8, PrefillContext: 20}, {Decode: 1, KVTokens: 5}, {Decode: 1, KVTokens: 6},
				{Decode: 1, KVTokens: 5}, {Decode: 1, KVTokens: 6}}},
		// Without the cache it computes all of them again.
		{"recomputing more is a prefill", func(c *engine.Config) { c.KVBlocks, c.EnablePrefixCaching = 3, false },
			[]engine.Sequence{{ID: 0, Leaf: -1, Prompt: 4, Output: 2}, {ID: 1, Leaf: -1, Prompt: 4, Output: 2}},
			[]engine.Batch{{PrefillSeqs: 2, PrefillTokens: 8, PrefillContext: 20}, {Decode: 1, KVTokens: 5},
				{PrefillSeqs: 1, PrefillTokens: 5, PrefillContext: 15}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []engine.Batch
			r := New(refTiny(c.change), refRecorder{batches: &got}, &engine.Forest{})
			for _, s := range c.seqs {
				r.Submit(0, s)
			}
			var events []engine.Event
			for at := r.Next(); at != engine.Never; at = r.Next() {
				r.Advance(at, &events)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("batches differ (-want +got):\n%s", diff)
			}
		})
	}
}
