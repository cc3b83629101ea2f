package engine

// watch notes which shared nodes gained or lost blocks in the prefix cache.
type watch struct {
	told   []int32 // by slot: resident blocks when last told of
	marked []bool  // by slot: in dirty
	dirty  []int32 // slots that may have changed since, in order
}

// mark notes that a slot has changed.
func (w *watch) mark(slot int32) {
	if !w.marked[slot] {
		w.marked[slot] = true
		w.dirty = append(w.dirty, slot)
	}
}

// Watch makes the replica note from now on what its prefix cache gains and loses, for Changes. The cache must be cold.
func (e *Engine) Watch() {
	n := len(e.lay.slots)
	e.cache.watch = &watch{told: make([]int32, n), marked: make([]bool, n)}
}

// Changes calls tell with each node of the forest that gained or lost tokens in the cache since the last call: how many of
// its first tokens were there, and are there now, in full blocks. It does so in order of the first change of each. Nodes
// that a single request walks are not told of, nor those in which no block ends; blocks that the decode steps in progress
// take are told of when these are over.
func (e *Engine) Changes(tell func(node, was, is int32)) {
	w := e.cache.watch
	if w == nil {
		return
	}
	for _, s := range w.dirty {
		w.marked[s] = false
		if was, is := w.told[s], e.cache.slots[s].resident; was != is {
			w.told[s] = is
			tell(e.lay.nodes[s].node, e.lay.tokens(s, was), e.lay.tokens(s, is))
		}
	}
	w.dirty = w.dirty[:0]
}

// tokens returns how many of a slot's own tokens its first blocks reach.
func (l *Layout) tokens(slot, blocks int32) int32 {
	if blocks == 0 {
		return 0
	}
	return (l.slots[slot].lo+blocks)*l.blockSize - l.nodes[slot].start
}
