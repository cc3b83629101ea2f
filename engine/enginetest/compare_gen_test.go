package enginetest

import (
	"slices"

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
	parent    int  // the request of which it is a later turn, -1 if none
	reuse     int  // tokens that the path names, 0: those of the prompt
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
func drawRefCase(config, t refDraw, scale refScale) refCase {
	size := refPick(t, refSizes, "block sizes")
	crowd := t.Int(0, 2, "crowd") == 0
	trie, prompts := drawRefPrompts(t, size, scale, crowd)
	c := refCase{}
	for _, p := range prompts {
		trie.walk(p.path)
	}
	var node []int32
	c.forest, node = trie.compress(t.Int(0, 3, "compressed") > 0)
	for i, p := range prompts {
		leaf := int32(-1)
		if len(p.path) > 0 {
			leaf = node[p.path[len(p.path)-1]]
		}
		c.leaves = append(c.leaves, leaf)
		if !p.elsewhere {
			c.seqs = append(c.seqs, engine.Sequence{ID: int32(3*i + 1), Leaf: leaf, Prompt: int32(p.prompt), Output: int32(p.output), Reuse: int32(p.reuse)})
		}
	}
	drawRefAdapters(t, c.seqs)
	c.cfg = drawRefConfig(config, size[0], c.seqs)
	if crowd && config.Int(0, 1, "overtaking") == 1 { // several at once, in chunks that leave room for the next one
		c.cfg.LongPrefillTokenThreshold = max(c.cfg.LongPrefillTokenThreshold, size[0]*config.Int(1, 3, "blocks"))
		c.cfg.MaxNumSeqs = max(c.cfg.MaxNumSeqs, 4)
		c.cfg.MaxNumBatchedTokens += 4 * c.cfg.LongPrefillTokenThreshold
	}
	c.cost = drawRefCost(config)
	return c
}

// drawRefPrompts draws requests that share prefixes in all ways: extended, parted, identical, unknown.
// In a crowd most prompts are nearly the same.
func drawRefPrompts(t refDraw, size [2]int, scale refScale, crowd bool) (*refTrie, []refPrompt) {
	trie, block, traceBlock := &refTrie{}, size[0], size[1]
	n := t.Int(scale.least, scale.most, "requests")
	if crowd {
		n = max(n, 5)
	}
	turns := t.Int(0, 1, "turns") == 1
	longest := max(1, min(6, scale.fresh/traceBlock))
	long := t.Int(0, 9, "long outputs") == 0 || turns && block > 8
	var prompts []refPrompt
	for range n {
		p := refPrompt{elsewhere: t.Int(0, 7, "elsewhere") == 0, parent: -1}
		p.path = drawRefPrefix(t, prompts, crowd)
		fresh := t.Int(0, longest, "fresh")
		if turns && len(prompts) > 0 && t.Int(0, 3, "turn") > 0 {
			p.parent = t.Int(max(0, len(prompts)-4), len(prompts)-1, "of")
			p.path = slices.Clone(prompts[p.parent].path)
		}
		if len(p.path) > 0 && (crowd && len(p.path) > 1 || t.Int(0, 1, "same") == 1) {
			fresh = 0
		}
		for range fresh {
			p.path = trie.extend(t, p.path, traceBlock)
		}
		p.prompt = trie.drawLength(t, p.path, block, traceBlock)
		p.output = drawRefOutput(t, scale, long)
		prompts = append(prompts, p)
	}
	if turns {
		drawRefReuse(t, prompts)
	}
	return trie, prompts
}

// drawRefPrefix draws what a prompt has in common with one before it, perhaps nothing.
func drawRefPrefix(t refDraw, prompts []refPrompt, crowd bool) []int {
	if len(prompts) == 0 || t.Int(0, 3, "shares") == 0 {
		return nil
	}
	from := refPick(t, prompts, "with").path
	n := t.Int(0, len(from), "blocks")
	if crowd {
		n = max(n, len(from)-1)
	}
	return append([]int{}, from[:n]...)
}

func drawRefOutput(t refDraw, scale refScale, long bool) int {
	switch k := t.Int(0, 9, "output kind"); {
	case k == 0:
		return 1
	case long && k < 6:
		return t.Int(1, 14*scale.output, "output")
	}
	return t.Int(1, scale.output, "output")
}

// drawRefAdapters gives the sequences of half of the cases one of up to four adapters, or none.
func drawRefAdapters(t refDraw, seqs []engine.Sequence) {
	n := refPick(t, []int{0, 1, 3, 4, 4, 0, 0}, "adapters")
	for i := range seqs {
		if n > 0 {
			seqs[i].Adapter = int32(t.Int(0, n, "adapter"))
		}
	}
}

// drawRefReuse has requests walk the path of a later turn, as far as that names their outputs, or nearly so.
func drawRefReuse(t refDraw, prompts []refPrompt) {
	for i := range prompts {
		p := &prompts[i]
		var later []int
		for j := i + 1; j < len(prompts); j++ {
			if prompts[j].parent == i || t.Int(0, 63, "anybody") == 63 {
				later = append(later, j)
			}
		}
		if len(later) == 0 {
			continue
		}
		p.path = prompts[refPick(t, later, "later")].path
		p.reuse = p.prompt + p.output - 1
		if t.Int(0, 3, "in part") == 0 {
			p.reuse = t.Int(0, p.reuse+3, "reuse")
		}
	}
}
