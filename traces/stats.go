package traces

import (
	"iter"
	"math"
)

// Records yields the rows in order, with dense block ids: numbers by first appearance. They and the trace's block
// size give the same forest again.
func (t *Trace) Records() iter.Seq[Record] {
	return func(yield func(Record) bool) {
		first := t.firstIDs()
		for row := range t.Len() {
			if !yield(t.record(row, first)) {
				return
			}
		}
	}
}

// firstIDs returns the dense id of each node's first block. Nodes are numbered by first walk and walked whole, so
// that ids count through them; the last entry is the number of blocks.
func (t *Trace) firstIDs() []int64 {
	first := make([]int64, len(t.Forest.End)+1)
	for n := range t.Forest.End {
		first[n+1] = first[n] + int64(t.blocks(int32(n)))
	}
	return first
}

// blocks counts the blocks of a node, a partial one too.
func (t *Trace) blocks(n int32) int32 {
	size := t.Meta.BlockSize
	return (t.nodeTokens(n) + size - 1) / size
}

func (t *Trace) nodeTokens(n int32) int32 {
	if p := t.Forest.Parent[n]; p >= 0 {
		return t.Forest.End[n] - t.Forest.End[p]
	}
	return t.Forest.End[n]
}

func (t *Trace) record(row int, first []int64) Record {
	r := Record{
		ArrivalNs:    t.ArrivalNs[row],
		Line:         t.Line[row],
		Model:        t.Strings[t.Model[row]],
		Adapter:      t.Strings[t.Adapter[row]],
		Tenant:       t.Strings[t.Tenant[row]],
		Session:      t.Strings[t.Session[row]],
		SLO:          t.Strings[t.SLO[row]],
		PromptTokens: t.Prompt[row],
		OutputTokens: t.Output[row],
		MaxTokens:    t.MaxTokens[row],
	}
	t.extra.get(row, &r)
	if t.Identified(row) {
		r.Blocks = t.path(t.Leaf[row], first)
	}
	return r
}

// path returns the dense ids from the root to the end of a leaf.
func (t *Trace) path(leaf int32, first []int64) []int64 {
	if leaf < 0 {
		return []int64{}
	}
	size := t.Meta.BlockSize
	ids := make([]int64, (t.Forest.End[leaf]+size-1)/size)
	end := len(ids)
	for n := leaf; n >= 0; n = t.Forest.Parent[n] {
		for id := first[n+1] - 1; id >= first[n]; id-- {
			end--
			ids[end] = id
		}
	}
	return ids
}

// UniqueTokens counts the prompt tokens that a cache without bounds would have to compute: every piece of the forest
// once, and what has no identity as often as it comes.
func (t *Trace) UniqueTokens() int64 {
	n := int64(0)
	for node := range t.Forest.End {
		n += int64(t.nodeTokens(int32(node)))
	}
	for row, leaf := range t.Leaf {
		n += int64(t.Prompt[row])
		if leaf >= 0 {
			n -= int64(t.Forest.End[leaf])
		}
	}
	return n
}

// PromptTokens sums the prompts.
func (t *Trace) PromptTokens() int64 {
	n := int64(0)
	for _, p := range t.Prompt {
		n += int64(p)
	}
	return n
}

// InfiniteHitRatio is the share of prompt tokens that one replica with a cache without bounds would serve from it:
// what no policy can beat. It is over the requests with identity, NaN if there are none.
func (t *Trace) InfiniteHitRatio() float64 {
	hit, all := int64(0), int64(0)
	seen := make([]bool, len(t.Forest.End))
	for row, leaf := range t.Leaf {
		if !t.Identified(row) {
			continue
		}
		all += int64(t.Prompt[row])
		n := leaf
		for n >= 0 && !seen[n] {
			seen[n] = true
			n = t.Forest.Parent[n]
		}
		if n >= 0 {
			hit += int64(t.Forest.End[n])
		}
	}
	if all == 0 {
		return math.NaN()
	}
	return float64(hit) / float64(all)
}

// UniqueBlocks counts the distinct blocks.
func (t *Trace) UniqueBlocks() int64 { return t.firstIDs()[len(t.Forest.End)] }
