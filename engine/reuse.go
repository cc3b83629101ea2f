package engine

// expectFill books when a sequence that decodes fills its next block, if that one can be shared: its identity is known,
// and all blocks before it are shared.
func (e *Engine) expectFill(q int32) {
	sq, b := &e.seqs[q], e.lay.blockSize
	full := e.computed(sq)/b + 1
	if sq.leaf < 0 || !e.cfg.EnablePrefixCaching || sq.shared != full-1 || full > min(sq.Reuse/b, e.lay.slots[sq.leaf].hi) {
		return
	}
	e.decode.fills.push(due{e.decode.count + int64(full*b-e.computed(sq)), q, sq.order})
}

// fillBefore caches the blocks that decoding sequences fill in the step that is formed, of those admitted before order.
func (e *Engine) fillBefore(order int32) {
	for f := &e.decode.fills; len(*f) > 0 && (*f)[0].at <= e.decode.count+1 && (*f)[0].order < order; {
		d := (*f)[0]
		f.removeAt(0)
		e.fill(d)
	}
}

// fill caches the block that a sequence fills, unless it is there already. It reports whether it did and, if so, books
// the next one.
func (e *Engine) fill(d due) bool {
	sq := &e.seqs[d.seq]
	full := sq.shared + 1
	e.extend(d.seq, full)
	if sq.shared < full {
		return false
	}
	d.at += int64(e.lay.blockSize)
	if full < min(sq.Reuse/e.lay.blockSize, e.lay.slots[sq.leaf].hi) {
		e.decode.fills.push(d)
	}
	return true
}

// catchUp takes the blocks and caches those that are filled in the first k of the steps in progress, but for the first
// step, for which that was done. The order of the two matters only where a filled block is cached already: it may be
// evicted before.
func (e *Engine) catchUp(k int64) {
	taken := int32(0)
	for f := &e.decode.fills; len(*f) > 0 && (*f)[0].at <= e.decode.count+k; {
		d := (*f)[0]
		f.removeAt(0)
		if !e.fill(d) {
			n := e.crossings(d.at - e.decode.count)
			e.cache.take(n-taken, e.seqs)
			taken = n
			e.fill(d)
		}
	}
	e.cache.take(e.crossings(k)-taken, e.seqs)
}

// stepsToHit returns how many steps like the one that is formed come before one in which a block is filled that would
// lengthen the hit of a waiting sequence.
func (e *Engine) stepsToHit(q int32) int64 {
	sq, b := &e.seqs[q], e.lay.blockSize
	path := e.lay.path(e.path[:0], sq.leaf, -1)
	e.path = path
	n, steps := e.cache.resident(path), int64(maxJump)
	if n >= min((sq.Prompt+sq.emitted-1)/b, sq.Reuse/b) {
		return steps
	}
	for len(path) > 0 && e.lay.slots[path[0]].hi <= n {
		path = path[1:]
	}
	if len(path) == 0 {
		return steps
	}
	for _, d := range e.decode.fills {
		if r := &e.seqs[d.seq]; r.shared == n && e.lay.passes(r.leaf, path[0]) {
			steps = min(steps, d.at-e.decode.count-1)
		}
	}
	return steps
}
