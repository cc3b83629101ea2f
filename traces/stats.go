package traces

import (
	"math"
)

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
