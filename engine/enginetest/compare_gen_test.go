package enginetest

import (
	"pgregory.net/rapid"

	"github.com/seed-2cee110a/triage/engine"
)

// refCase is a replica, the requests of a trace and the prefixes that they share. Some requests go to other replicas.
type refCase struct {
	cfg    engine.Config
	cost   engine.CostModel
	forest engine.Forest
	seqs   []engine.Sequence // in order of submission
	leaves []int32
}

// refPrompt is a request's path through trace blocks, and the lengths of its text.
type refPrompt struct {
	path      []int // trie nodes, root first
	prompt    int
	output    int
	elsewhere bool // served by another replica
}

// refSizes are pairs of an engine's block and a trace's block, in tokens.
var refSizes = [][2]int{
	{4, 4}, {4, 4}, {4, 16}, {5, 4}, {1, 4}, {3, 7}, {5, 16}, {8, 5}, {2, 2},
	{16, 16}, {16, 64}, {16, 512}, {32, 16}, {32, 64}, {32, 512}, {64, 16}, {64, 64}, {64, 512},
}

// refScale is how large cases are.
type refScale struct {
	least, most int // requests
	fresh       int // tokens at most by which a prompt extends another
	output      int // tokens at most, but for a few
}

var (
	refSmall = refScale{1, 14, 2000, 30}
	refLarge = refScale{100, 250, 6000, 300}
)

// drawRefCase draws a whole case but for the instants of submission.
func drawRefCase(t *rapid.T, scale refScale) refCase {
	size := rapid.SampledFrom(refSizes).Draw(t, "block sizes")
	crowd := rapid.IntRange(0, 2).Draw(t, "crowd") == 0
	trie, prompts := drawRefPrompts(t, size, scale, crowd)
	c := refCase{}
	var node []int32
	c.forest, node = trie.compress(rapid.IntRange(0, 3).Draw(t, "compressed") > 0)
	for i, p := range prompts {
		leaf := int32(-1)
		if len(p.path) > 0 {
			leaf = node[p.path[len(p.path)-1]]
		}
		c.leaves = append(c.leaves, leaf)
		if !p.elsewhere {
			c.seqs = append(c.seqs, engine.Sequence{ID: int32(3*i + 1), Leaf: leaf, Prompt: int32(p.prompt), Output: int32(p.output)})
		}
	}
	c.cfg = drawRefConfig(t, size[0], c.seqs)
	if crowd && rapid.Bool().Draw(t, "overtaking") { // several at once, in chunks that leave room for the next one
		c.cfg.LongPrefillTokenThreshold = max(c.cfg.LongPrefillTokenThreshold, size[0]*rapid.IntRange(1, 3).Draw(t, "blocks"))
		c.cfg.MaxNumSeqs = max(c.cfg.MaxNumSeqs, 4)
		c.cfg.MaxNumBatchedTokens += 4 * c.cfg.LongPrefillTokenThreshold
	}
	c.cost = drawRefCost(t)
	return c
}

// drawRefPrompts draws requests that share prefixes in all ways: extended, parted, identical, unknown.
// In a crowd most prompts are nearly the same.
func drawRefPrompts(t *rapid.T, size [2]int, scale refScale, crowd bool) (*refTrie, []refPrompt) {
	trie, block, traceBlock := &refTrie{}, size[0], size[1]
	n := rapid.IntRange(scale.least, scale.most).Draw(t, "requests")
	if crowd {
		n = max(n, 5)
	}
	longest := max(1, min(6, scale.fresh/traceBlock))
	long := rapid.IntRange(0, 9).Draw(t, "long outputs") == 0
	var prompts []refPrompt
	for range n {
		p := refPrompt{elsewhere: rapid.IntRange(0, 7).Draw(t, "elsewhere") == 0}
		p.path = drawRefPrefix(t, prompts, crowd)
		fresh := rapid.IntRange(0, longest).Draw(t, "fresh")
		if len(p.path) > 0 && (crowd && len(p.path) > 1 || rapid.Bool().Draw(t, "same")) {
			fresh = 0
		}
		for range fresh {
			p.path = trie.extend(t, p.path, traceBlock)
		}
		p.prompt = trie.drawLength(t, p.path, block, traceBlock)
		p.output = drawRefOutput(t, scale, long)
		trie.walk(p.path)
		prompts = append(prompts, p)
	}
	return trie, prompts
}

// drawRefPrefix draws what a prompt has in common with one before it, perhaps nothing.
func drawRefPrefix(t *rapid.T, prompts []refPrompt, crowd bool) []int {
	if len(prompts) == 0 || rapid.IntRange(0, 3).Draw(t, "shares") == 0 {
		return nil
	}
	from := rapid.SampledFrom(prompts).Draw(t, "with").path
	n := rapid.IntRange(0, len(from)).Draw(t, "blocks")
	if crowd {
		n = max(n, len(from)-1)
	}
	return append([]int{}, from[:n]...)
}

func drawRefOutput(t *rapid.T, scale refScale, long bool) int {
	switch k := rapid.IntRange(0, 9).Draw(t, "output kind"); {
	case k == 0:
		return 1
	case long && k < 6:
		return rapid.IntRange(1, 14*scale.output).Draw(t, "output")
	}
	return rapid.IntRange(1, scale.output).Draw(t, "output")
}
