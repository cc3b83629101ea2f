package enginetest

import "github.com/seed-2cee110a/triage/engine"

// refWatch is what an engine told of its cache: by node, how many of the node's first tokens are there.
type refWatch struct {
	engine *engine.Engine
	there  map[int32]int32
}

func newRefWatch(e *engine.Engine) *refWatch {
	e.Watch()
	return &refWatch{e, map[int32]int32{}}
}

// check wants what the engine told to come to what it says of a leaf when asked.
func (w *refWatch) check(r *refRun, leaf int32) {
	cached := w.engine.Cached(leaf)
	w.engine.Changes(func(node, was, is int32) {
		if w.there[node] != was || was == is {
			r.t.Fatalf("node %d goes from %d to %d tokens, and was told to have %d\n%s", node, was, is, w.there[node], r.describe())
		}
		w.there[node] = is
	})
	f, b := &r.c.forest, int32(r.c.cfg.BlockSize)
	told := int32(0)
	var walk func(node int32) bool // down to it, as far as all blocks before are there
	walk = func(node int32) bool {
		start := int32(0)
		if p := f.Parent[node]; p >= 0 {
			if start = f.End[p]; !walk(p) {
				return false
			}
		}
		if n := w.there[node]; n > 0 {
			told = start + n
		}
		return f.Walks[node] >= 2 && told/b == f.End[node]/b
	}
	if walk(leaf); told != cached {
		r.t.Fatalf("leaf %d: told of %d tokens, Cached says %d\n%s", leaf, told, cached, r.describe())
	}
}
