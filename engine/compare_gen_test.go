package engine

import (
	"pgregory.net/rapid"
)

// refCase is a replica, the requests of a trace and the prefixes that they share. Some requests go to other replicas.
type refCase struct {
	cfg    Config
	cost   CostModel
	forest Forest
	seqs   []Sequence // in order of submission
	leaves []int32
}

// refPrompt is a request's path through trace blocks, and the lengths of its text.
type refPrompt struct {
	path      []int // trie nodes, root first
	prompt    int
	output    int
	elsewhere bool // served by another replica
}

// refTrie is the forest of trace blocks before it is compressed.
type refTrie struct {
	parent []int
	tokens []int // of the block
	walks  []int
	ends   []bool // some prompt ends here
	kids   []int
}

func (t *refTrie) add(parent, tokens int) int {
	t.parent = append(t.parent, parent)
	t.tokens = append(t.tokens, tokens)
	t.walks = append(t.walks, 0)
	t.ends = append(t.ends, false)
	t.kids = append(t.kids, 0)
	if parent >= 0 {
		t.kids[parent]++
	}
	return len(t.parent) - 1
}

// refSizes are pairs of an engine's block and a trace's block, in tokens.
var refSizes = [][2]int{
	{4, 4}, {4, 4}, {4, 16}, {5, 4}, {1, 4}, {3, 7}, {5, 16}, {8, 5}, {2, 2},
	{16, 16}, {16, 64}, {16, 512}, {32, 16}, {32, 64}, {32, 512}, {64, 16}, {64, 64}, {64, 512},
}

// drawRefCase draws a whole case but for the instants of submission.
func drawRefCase(t *rapid.T) refCase {
	size := rapid.SampledFrom(refSizes).Draw(t, "block sizes")
	crowd := rapid.IntRange(0, 2).Draw(t, "crowd") == 0
	trie, prompts := drawRefPrompts(t, size[0], size[1], crowd)
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
			c.seqs = append(c.seqs, Sequence{ID: int32(3*i + 1), Leaf: leaf, Prompt: int32(p.prompt), Output: int32(p.output)})
		}
	}
	c.cfg = drawRefConfig(t, size[0], c.seqs)
	if crowd && rapid.Bool().Draw(t, "overtaking") {
		c.cfg.LongPrefillTokenThreshold = max(c.cfg.LongPrefillTokenThreshold, size[0]*rapid.IntRange(1, 3).Draw(t, "blocks"))
		c.cfg.MaxNumSeqs = max(c.cfg.MaxNumSeqs, 4)
		c.cfg.MaxNumBatchedTokens += 4 * c.cfg.LongPrefillTokenThreshold
	}
	c.cost = drawRefCost(t, c.cfg)
	return c
}

// drawRefPrompts draws requests that share prefixes in all ways: extended, parted, identical, unknown.
// In a crowd most prompts are nearly the same.
func drawRefPrompts(t *rapid.T, block, traceBlock int, crowd bool) (*refTrie, []refPrompt) {
	trie := &refTrie{}
	n := rapid.IntRange(1, 14).Draw(t, "requests")
	if crowd {
		n = max(n, 5)
	}
	longest := max(1, min(6, 2000/traceBlock))
	long := rapid.IntRange(0, 9).Draw(t, "long outputs") == 0
	var prompts []refPrompt
	for range n {
		p := refPrompt{elsewhere: rapid.IntRange(0, 7).Draw(t, "elsewhere") == 0}
		if len(prompts) > 0 && rapid.IntRange(0, 3).Draw(t, "shares") > 0 {
			from := rapid.SampledFrom(prompts).Draw(t, "with").path
			n := rapid.IntRange(0, len(from)).Draw(t, "blocks")
			if crowd {
				n = max(n, len(from)-1)
			}
			p.path = append(p.path, from[:n]...)
		}
		fresh := rapid.IntRange(0, longest).Draw(t, "fresh")
		if len(p.path) > 0 && (crowd && len(p.path) > 1 || rapid.Bool().Draw(t, "same")) {
			fresh = 0
		}
		for range fresh {
			parent := -1
			if len(p.path) > 0 {
				parent = p.path[len(p.path)-1]
			}
			tokens := traceBlock
			if rapid.IntRange(0, 15).Draw(t, "short block") == 0 {
				tokens = rapid.IntRange(1, traceBlock).Draw(t, "its tokens")
			}
			p.path = append(p.path, trie.add(parent, tokens))
		}
		p.prompt = trie.drawLength(t, p.path, block, traceBlock)
		p.output = drawRefOutput(t, long)
		trie.walk(p.path)
		prompts = append(prompts, p)
	}
	return trie, prompts
}

func drawRefOutput(t *rapid.T, long bool) int {
	switch k := rapid.IntRange(0, 9).Draw(t, "output kind"); {
	case k == 0:
		return 1
	case long && k < 6:
		return rapid.IntRange(1, 400).Draw(t, "output")
	}
	return rapid.IntRange(1, 30).Draw(t, "output")
}

// drawLength draws a prompt's tokens: the path exactly, short of it (its last block is filled in part), or beyond it.
func (t *refTrie) drawLength(rt *rapid.T, path []int, block, traceBlock int) int {
	tokens, last := 0, 0
	for _, i := range path {
		last = t.tokens[i]
		tokens += last
	}
	if tokens == 0 {
		return rapid.IntRange(1, 3*max(block, traceBlock)).Draw(rt, "unknown prompt")
	}
	switch rapid.IntRange(0, 3).Draw(rt, "tail") {
	case 0:
		return tokens - rapid.IntRange(0, last-1).Draw(rt, "short of")
	case 1:
		return tokens + rapid.IntRange(0, traceBlock-1).Draw(rt, "beyond")
	case 2:
		if n := tokens / block * block; n > tokens-last {
			return n
		}
	}
	return tokens
}

func (t *refTrie) walk(path []int) {
	for _, i := range path {
		t.walks[i]++
	}
	if len(path) > 0 {
		t.ends[path[len(path)-1]] = true
	}
}

// compress makes a forest of t and says which node each trace block went to. Runs that are always walked whole become
// one node if wanted; a node a block is as good a forest.
func (t *refTrie) compress(wanted bool) (Forest, []int32) {
	var f Forest
	node := make([]int32, len(t.parent))
	for i, p := range t.parent {
		up, end := int32(-1), int32(0)
		if p >= 0 {
			up, end = node[p], f.End[node[p]]
		}
		if wanted && p >= 0 && t.kids[p] == 1 && !t.ends[p] {
			node[i] = up
			f.End[up] += int32(t.tokens[i])
			continue
		}
		node[i] = int32(len(f.Parent))
		f.Parent = append(f.Parent, up)
		f.End = append(f.End, end+int32(t.tokens[i]))
		f.Walks = append(f.Walks, int32(t.walks[i]))
	}
	return f, node
}

// drawRefConfig draws settings under which these sequences get into each other's way, and that finish in some
// thousand steps.
func drawRefConfig(t *rapid.T, block int, seqs []Sequence) Config {
	most, all, tokens := 1, 1, 1
	for _, s := range seqs {
		need := (int(s.Prompt+s.Output) - 1 + block - 1) / block
		most, all, tokens = max(most, need), all+need, tokens+int(s.Prompt)
	}
	cfg := Config{
		BlockSize:           block,
		MaxNumSeqs:          rapid.SampledFrom([]int{1, 2, 3, 4, 8, 64}).Draw(t, "max-num-seqs"),
		ReserveFullISL:      rapid.Bool().Draw(t, "reserve full isl"),
		EnablePrefixCaching: rapid.IntRange(0, 9).Draw(t, "caching") > 0,
		AsyncScheduling:     rapid.Bool().Draw(t, "async"),
		Watermark:           rapid.SampledFrom([]float64{0, 0, 0, 0.05, 0.1, 0.3}).Draw(t, "watermark"),
		OverheadBefore:      drawRefOverhead(t, "before"),
		OverheadAfter:       drawRefOverhead(t, "after"),
	}
	switch rapid.IntRange(0, 5).Draw(t, "pool") {
	case 0, 1:
		cfg.KVBlocks = most + rapid.IntRange(0, 3).Draw(t, "blocks")
	case 2, 3:
		cfg.KVBlocks = rapid.IntRange(most, max(most, all)).Draw(t, "blocks")
	case 4:
		cfg.KVBlocks = all
	default:
		cfg.KVBlocks = rapid.IntRange(1, most).Draw(t, "blocks")
	}
	few := 1 + tokens/400
	switch rapid.IntRange(0, 3).Draw(t, "budget") {
	case 0:
		cfg.MaxNumBatchedTokens = rapid.IntRange(few, few+4).Draw(t, "tokens")
	case 1:
		cfg.MaxNumBatchedTokens = few + rapid.IntRange(0, 4*block).Draw(t, "tokens")
	case 2:
		cfg.MaxNumBatchedTokens = rapid.IntRange(few, tokens+few).Draw(t, "tokens")
	default:
		cfg.MaxNumBatchedTokens = 8192
	}
	if rapid.Bool().Draw(t, "threshold") {
		cfg.LongPrefillTokenThreshold = few + rapid.IntRange(0, 3*block).Draw(t, "tokens")
	}
	if rapid.IntRange(0, 9).Draw(t, "bounded") == 0 {
		cfg.MaxModelLen = rapid.IntRange(1, tokens).Draw(t, "max-model-len")
	}
	return cfg
}

func drawRefOverhead(t *rapid.T, name string) Time {
	return rapid.SampledFrom([]Time{0, 0, 0, Millisecond / 2, Millisecond, 8 * Millisecond, 3333}).Draw(t, name)
}

// refLinear is a cost of integers only, linear in every part of the work.
type refLinear struct{ step, decode, kv, seq, token, context Time }

func (c refLinear) Step(b Batch) Time {
	base, slope := c.Decode(b.Decode)
	return base + slope*Time(b.KVTokens) +
		c.seq*Time(b.PrefillSeqs) + c.token*Time(b.PrefillTokens) + c.context*Time(b.PrefillContext)
}

func (c refLinear) Decode(n int) (base, slope Time) { return c.step + c.decode*Time(n), c.kv }

func drawRefCost(t *rapid.T, cfg Config) CostModel {
	switch rapid.IntRange(0, 3).Draw(t, "cost") {
	case 0, 1:
		return Unit{}
	case 2:
		small := func(name string) Time { return Time(rapid.IntRange(0, 5).Draw(t, name)) }
		return refLinear{1 + small("step"), small("decode"), small("kv"), small("seq"), small("token"), small("context")}
	}
	return refLinear{7 * Millisecond, 16*Microsecond + 1, 77_777, 12_345_678, 5*Microsecond + 3, 1_234}
}
