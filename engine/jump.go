package engine

import "math"

// maxJump bounds a jump so that its duration cannot overflow.
const maxJump = 1 << 13

// repeat extends the step just formed, in which every running sequence decodes, to as many equal ones as must follow.
// Nothing can change before the first of these: a sequence finishes, the pool cannot serve the next step, or a waiting
// sequence may join. One that is skipped for its adapter stays skipped meanwhile: the adapters of the batch are the
// same. A head of line that is blocked stays blocked while its hit does not grow: the batch does not shrink, blocks are only
// taken, and a block evicted from what it would hit was counted against it before. (Its own private blocks are older in
// the queue than the shared ones before them, so an eviction never costs it more hits than blocks.)
func (e *Engine) repeat(s *step) {
	base, slope := e.costOf(s).Decode(e.decode.n)
	e.first, e.ramp = base+slope*Time(s.kv), slope*Time(e.decode.n)
	limit := min(maxJump, e.decode.finishes[0].at-e.decode.count)
	e.steps = e.decode.affordable(e.cache.free()+e.decode.crossing(0), limit)
	if h := e.head(); h < e.line.len() && e.roomToJoin() {
		if q := e.line.at(h); !e.mayJoin(s, q) {
			e.steps = min(e.steps, e.stepsUntil(e.seqs[q].joined))
		} else if len(e.decode.fills) > 0 {
			e.steps = min(e.steps, e.stepsToHit(q))
		}
	}
}

// roomToJoin says whether a step like this one leaves a slot and budget for a waiting sequence.
func (e *Engine) roomToJoin() bool {
	return len(e.running) < e.cfg.MaxNumSeqs && e.decode.n < e.cfg.MaxNumBatchedTokens
}

// cut shortens the steps in progress so that they end at the first boundary at which a sequence may join.
func (e *Engine) cut(joined Time) {
	if e.steps > 1 && e.roomToJoin() {
		e.shorten(e.stepsUntil(joined))
	}
}

// shorten drops the steps in progress after the first k.
func (e *Engine) shorten(k int64) {
	e.steps = min(e.steps, k)
	e.end = e.start + e.elapsed(e.steps)
}

// stepsUntil returns after how many steps a sequence that joins at the given instant, after the start, may be admitted.
func (e *Engine) stepsUntil(joined Time) int64 {
	i := e.done(joined)
	if e.start+e.elapsed(i) < joined {
		i++
	}
	if e.cfg.AsyncScheduling {
		i++
	}
	return max(1, i)
}

// elapsed returns the duration of the first k steps of those in progress.
func (e *Engine) elapsed(k int64) Time {
	return Time(k)*e.first + e.ramp*Time(k*(k-1)/2)
}

// done returns how many of the steps in progress have ended at an instant. The float square root only guesses.
func (e *Engine) done(at Time) int64 {
	x := at - e.start
	if x < e.first {
		return 0
	}
	if x >= e.elapsed(e.steps) {
		return e.steps
	}
	b := float64(e.first) - float64(e.ramp)/2
	k := int64(2 * float64(x) / (b + math.Sqrt(float64(b*b)+float64(2*float64(e.ramp)*float64(x)))))
	for e.elapsed(k) > x {
		k--
	}
	for e.elapsed(k+1) <= x {
		k++
	}
	return k
}

// started returns how many of the steps in progress began before an instant; the first always counts.
func (e *Engine) started(at Time) int64 {
	k := e.done(at)
	if k < e.steps && e.start+e.elapsed(k) < at {
		k++
	}
	return max(1, k)
}

// crossings returns the blocks that the first k steps in progress take, without those of the first, which has them.
func (e *Engine) crossings(k int64) int32 {
	return e.decode.crossings(k) - e.decode.crossing(0)
}

// settle completes the steps that have ended by now, also those inside a jump.
func (e *Engine) settle() {
	e.run(e.now)
	if e.steps <= 1 {
		return
	}
	k := e.done(e.now)
	if k == 0 {
		return
	}
	left, first := e.steps-k, e.first+e.ramp*Time(k)
	e.complete(k)
	if e.end < e.now { // else the next step is due now, and not formed yet
		e.cache.take(e.decode.crossing(0), e.seqs)
		e.fillBefore(math.MaxInt32)
		e.start, e.first, e.steps = e.end, first, left
		e.end = e.start + e.elapsed(left)
	}
}
