package enginetest

import (
	"github.com/seed-2cee110a/triage/engine"
)

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

// extend adds a trace block to a path, a short one at times.
func (t *refTrie) extend(rt refDraw, path []int, traceBlock int) []int {
	parent := -1
	if len(path) > 0 {
		parent = path[len(path)-1]
	}
	if rt.Int(0, 15, "short block") == 0 {
		traceBlock = rt.Int(1, traceBlock, "its tokens")
	}
	return append(path, t.add(parent, traceBlock))
}

// drawLength draws a prompt's tokens: the path exactly, short of it (its last block is filled in part), or beyond it.
func (t *refTrie) drawLength(rt refDraw, path []int, block, traceBlock int) int {
	tokens, last := 0, 0
	for _, i := range path {
		last = t.tokens[i]
		tokens += last
	}
	if tokens == 0 {
		return rt.Int(1, 3*max(block, traceBlock), "unknown prompt")
	}
	switch rt.Int(0, 3, "tail") {
	case 0:
		return tokens - rt.Int(0, last-1, "short of")
	case 1:
		return tokens + rt.Int(0, traceBlock-1, "beyond")
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
func (t *refTrie) compress(wanted bool) (engine.Forest, []int32) {
	var f engine.Forest
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
