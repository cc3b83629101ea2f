package engine

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// refRecorder is a cost model of one-millisecond steps that keeps the batches.
type refRecorder struct {
	Unit
	batches *[]Batch
}

func (r refRecorder) Step(b Batch) Time {
	*r.batches = append(*r.batches, b)
	return Millisecond
}

// TestReferenceBatches works the content of batches by hand.
func TestReferenceBatches(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*Config)
		seqs   []Sequence
		want   []Batch
	}{
		// Contexts of the prompt are 1 + 2 + 3 + 4 + 5; a decode reads what is stored and what it writes.
		{"prefill, then decode", nil, []Sequence{{0, -1, 5, 3}},
			[]Batch{{PrefillSeqs: 1, PrefillTokens: 5, PrefillContext: 15}, {Decode: 1, KVTokens: 6}, {Decode: 1, KVTokens: 7}}},
		{"chunks", func(c *Config) { c.LongPrefillTokenThreshold = 3 }, []Sequence{{0, -1, 5, 1}},
			[]Batch{{PrefillSeqs: 1, PrefillTokens: 3, PrefillContext: 6}, {PrefillSeqs: 1, PrefillTokens: 2, PrefillContext: 9}}},
		// The preempted sequence hits its 4 tokens and needs one more, the fifth: a decode.
		{"recomputing one token is a decode", func(c *Config) { c.KVBlocks = 3 }, []Sequence{{0, -1, 4, 3}, {1, -1, 4, 3}},
			[]Batch{{PrefillSeqs: 2, PrefillTokens: 8, PrefillContext: 20}, {Decode: 1, KVTokens: 5}, {Decode: 1, KVTokens: 6},
				{Decode: 1, KVTokens: 5}, {Decode: 1, KVTokens: 6}}},
		// Without the cache it computes all of them again.
		{"recomputing more is a prefill", func(c *Config) { c.KVBlocks, c.EnablePrefixCaching = 3, false },
			[]Sequence{{0, -1, 4, 2}, {1, -1, 4, 2}},
			[]Batch{{PrefillSeqs: 2, PrefillTokens: 8, PrefillContext: 20}, {Decode: 1, KVTokens: 5},
				{PrefillSeqs: 1, PrefillTokens: 5, PrefillContext: 15}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []Batch
			r := newReference(refTiny(c.change), refRecorder{batches: &got}, &Forest{})
			for _, s := range c.seqs {
				r.Submit(0, s)
			}
			var events []Event
			for at := r.Next(); at != Never; at = r.Next() {
				r.Advance(at, &events)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("batches differ (-want +got):\n%s", diff)
			}
		})
	}
}
