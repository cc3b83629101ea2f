package engine

import "math"

// step is a batch while it is formed.
type step struct {
	at        Time
	budget    int32 // tokens left
	decode    int   // decoding sequences scheduled
	kv        int64 // KV tokens that they read
	preempted bool
	idle      bool // nothing ran when the boundary came
	loads     int  // adapters loaded
}

// form forms the batch of the step that starts at t and, if steps like it must follow, of those too.
func (e *Engine) form(t Time) {
	e.chunks = e.chunks[:0]
	s := step{at: t, budget: int32(e.cfg.MaxNumBatchedTokens), idle: len(e.running) == 0}
	if !e.scheduleAll(&s) {
		e.scheduleEach(&s)
	}
	for _, c := range e.chunks {
		e.fillBefore(e.seqs[c.seq].order)
		e.cacheChunk(c)
	}
	e.fillBefore(math.MaxInt32)
	if !s.preempted {
		e.admit(&s)
	}
	if len(e.running) == 0 {
		panic("engine: an idle replica cannot admit the head of its line")
	}
	e.start, e.steps = t, 1
	if !e.cfg.SingleStep && !s.preempted && e.prefill == 0 && s.decode == e.decode.n {
		e.repeat(&s)
		e.end = e.start + e.elapsed(e.steps)
		return
	}
	e.first, e.ramp = e.costOf().Step(e.batch(&s))+Time(s.loads)*e.cfg.AdapterLoadTime, 0
	e.end = t + e.first
}

// scheduleAll schedules the running sequences in bulk where the general rule would give every one that decodes its
// token. It reports false, having changed nothing, where order matters: a sequence in prefill before one that decodes, or
// too few blocks.
func (e *Engine) scheduleAll(s *step) bool {
	if e.cfg.SingleStep || !e.prefillLast() {
		return false
	}
	need, budget := e.decode.crossing(0), s.budget-int32(e.decode.n)
	for _, q := range e.running[e.decode.n:] {
		sq := &e.seqs[q]
		want := e.want(sq.Prompt+sq.emitted-sq.computed, budget)
		need += e.blocks(sq.computed+want) - e.blocks(sq.computed)
		budget -= want
		e.chunks = append(e.chunks, chunk{q, want})
	}
	if need > e.cache.free() {
		e.chunks = e.chunks[:0]
		return false
	}
	e.cache.take(need, e.seqs)
	s.budget, s.decode, s.kv = budget, e.decode.n, e.decode.kv+int64(e.decode.n)
	return true
}

// prefillLast says whether all sequences in prefill come after all that decode.
func (e *Engine) prefillLast() bool {
	for _, q := range e.running[e.decode.n:] {
		if e.seqs[q].decoding {
			return false
		}
	}
	return true
}

// scheduleEach schedules the running sequences one by one, preempting the last where blocks run out.
func (e *Engine) scheduleEach(s *step) {
	for i := 0; i < len(e.running); i++ {
		if s.budget == 0 {
			panic("engine: a running sequence gets no tokens")
		}
		q := e.running[i]
		sq := &e.seqs[q]
		computed, want := e.computed(sq), int32(1)
		if !sq.decoding {
			want = e.want(sq.Prompt+sq.emitted-computed, s.budget)
		}
		need := e.blocks(computed+want) - e.blocks(computed)
		for need > e.cache.free() && i < len(e.running) {
			e.preemptLast(s)
		}
		if i == len(e.running) {
			return
		}
		e.cache.take(need, e.seqs)
		s.budget -= want
		if sq.decoding {
			s.decode++
			s.kv += int64(computed) + 1
		} else {
			e.chunks = append(e.chunks, chunk{q, want})
		}
	}
}

// want returns the size of a prefill chunk.
func (e *Engine) want(remaining, budget int32) int32 {
	w := min(remaining, budget)
	if t := int32(e.cfg.LongPrefillTokenThreshold); t > 0 {
		w = min(w, t)
	}
	return w
}

// computed returns the tokens of a sequence in KV.
func (e *Engine) computed(sq *seq) int32 {
	if sq.decoding {
		return sq.computed + int32(e.decode.count-sq.since)
	}
	return sq.computed
}

// preemptLast puts the last running sequence at the head of the line; its private blocks stay its own.
func (e *Engine) preemptLast(s *step) {
	last := len(e.running) - 1
	q := e.running[last]
	e.running = e.running[:last]
	sq := &e.seqs[q]
	if sq.decoding {
		e.stopDecoding(q)
		e.decode.finishes.remove(q)
		e.decode.fills.remove(q)
	} else {
		e.prefill--
	}
	e.stats.Preemptions++
	e.stats.Recomputed += int64(sq.computed)
	e.free(q, q)
	e.leaveAdapter(sq)
	sq.preemptions++
	sq.computed, sq.joined = 0, s.at
	e.line.pushFront(q)
	e.loras.skipped = 0
	s.preempted = true
}

// free gives a sequence's blocks back. Its private ones stay hittable for the owner, 0 for nobody.
func (e *Engine) free(q, owner int32) {
	sq := &e.seqs[q]
	held, full := e.blocks(sq.computed), sq.computed/e.lay.blockSize
	if !e.cfg.EnablePrefixCaching {
		e.cache.empty += held
		return
	}
	e.cache.empty += held - full
	if full > sq.shared {
		r := e.cache.push(run{slot: -1, owner: owner, lo: sq.shared, hi: full})
		if owner != 0 {
			sq.private = r
		}
	}
	e.cache.release(q, e.seqs)
}

// cacheChunk caches the full blocks of a chunk, unless the sequence's blocks are private already.
func (e *Engine) cacheChunk(c chunk) {
	sq := &e.seqs[c.seq]
	full := min(sq.computed+c.tokens, sq.Reuse) / e.lay.blockSize
	if sq.leaf < 0 || !e.cfg.EnablePrefixCaching || sq.shared >= full || sq.shared < sq.computed/e.lay.blockSize {
		return
	}
	e.extend(c.seq, full)
}

// extend caches the blocks of q up to full under the identities on its path, as far as nobody cached them before.
func (e *Engine) extend(q, full int32) {
	sq := &e.seqs[q]
	above := int32(-1)
	if sq.shared > 0 {
		above = e.lay.slots[sq.slot].parent
	}
	e.path = e.lay.path(e.path[:0], sq.leaf, above)
	e.cache.extend(q, e.seqs, e.path, full)
}

// admit moves waiting sequences into the batch, first come first served but for those that are skipped.
func (e *Engine) admit(s *step) {
	for s.budget > 0 && len(e.running) < e.cfg.MaxNumSeqs {
		i := e.head()
		if i == e.line.len() || !e.mayJoin(s, e.line.at(i)) || !e.tryAdmit(s, i) {
			return
		}
	}
}

// mayJoin says whether a sequence waited long enough to be looked at.
func (e *Engine) mayJoin(s *step, q int32) bool {
	joined := e.seqs[q].joined
	if joined > s.at {
		return false
	}
	return !e.cfg.AsyncScheduling || s.idle || joined <= e.previous
}

// tryAdmit admits the waiting sequence at place i if its blocks can be had; otherwise it changes nothing.
func (e *Engine) tryAdmit(s *step, i int) bool {
	q := e.line.at(i)
	sq := &e.seqs[q]
	tokens := sq.Prompt + sq.emitted
	shared, own := e.lookup(sq, (tokens-1)/e.lay.blockSize)
	hit := (shared + own) * e.lay.blockSize
	want := e.want(tokens-hit, s.budget)
	upTo := hit + want
	if e.cfg.ReserveFullISL {
		upTo = tokens
	}
	available := e.cache.free() - e.cache.waiting(e.path, shared) - own
	if len(e.running) > 0 {
		available -= int32(e.cfg.Watermark * float64(e.cfg.KVBlocks))
	}
	if e.blocks(upTo)-shared-own > available {
		return false
	}
	e.line.remove(i)
	e.cache.pin(q, e.seqs, e.path, shared)
	e.reclaim(sq, own)
	e.cache.take(e.blocks(hit+want)-shared-own, e.seqs)
	sq.computed = hit
	e.admissions++
	sq.order = e.admissions
	sq.begin(s.at, hit)
	e.running = append(e.running, q)
	e.prefill++
	e.chunks = append(e.chunks, chunk{q, want})
	e.cacheChunk(chunk{q, want})
	s.budget -= want
	if sq.Adapter != 0 && e.loras.serve(sq.Adapter) {
		s.loads++
		e.stats.AdapterLoads++
	}
	return true
}

// begin notes what the first admission found.
func (sq *seq) begin(at Time, hit int32) {
	if !sq.admitted {
		sq.admitted, sq.scheduled, sq.hit = true, at, hit
	}
}

// lookup returns the blocks that a waiting sequence would hit, at most limit: a shared run, then its own private ones.
// It leaves the path to the sequence's leaf in e.path.
func (e *Engine) lookup(sq *seq, limit int32) (shared, own int32) {
	e.path = e.path[:0]
	if !e.cfg.EnablePrefixCaching {
		return 0, 0
	}
	e.path = e.lay.path(e.path, sq.leaf, -1)
	shared = min(limit, sq.Reuse/e.lay.blockSize, e.cache.resident(e.path))
	if sq.private != 0 {
		if r := &e.cache.runs[sq.private]; r.lo <= shared && shared < r.hi {
			own = min(limit, r.hi) - shared
		}
	}
	return shared, own
}

// reclaim takes n of a sequence's private blocks out of the free queue; the rest become anonymous.
func (e *Engine) reclaim(sq *seq, n int32) {
	if sq.private == 0 {
		return
	}
	r := &e.cache.runs[sq.private]
	r.owner = 0
	r.hi -= n // only the number of anonymous blocks matters
	e.cache.queued -= n
	if r.lo == r.hi {
		e.cache.drop(sq.private)
	}
	sq.private = 0
}

// batch describes the step for the cost model.
func (e *Engine) batch(s *step) Batch {
	b := Batch{Decode: s.decode, KVTokens: s.kv}
	for _, c := range e.chunks {
		sq := &e.seqs[c.seq]
		if sq.emitted > 0 && sq.Prompt+sq.emitted-sq.computed == 1 {
			b.Decode++
			b.KVTokens += int64(sq.computed) + 1
			continue
		}
		n := int64(c.tokens)
		b.PrefillSeqs++
		b.PrefillTokens += int(n)
		b.PrefillContext += n*int64(sq.computed) + n*(n+1)/2
	}
	return b
}
