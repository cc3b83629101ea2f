package enginetest

import "github.com/seed-2cee110a/triage/engine"

// form makes the batch of the step that starts at t, and starts it.
func (r *Reference) form(t engine.Time) {
	f := refForming{Reference: r, t: t, budget: r.cfg.MaxNumBatchedTokens, idle: len(r.running) == 0}
	r.batch = nil
	f.scheduleRunning()
	for i, s := range r.batch {
		if !r.AtOnce {
			r.nameBlocks(s, f.before[i])
		}
	}
	if !f.preempted {
		f.scheduleWaiting()
	}
	if len(r.batch) == 0 {
		panic("enginetest: a step without work")
	}
	if len(r.batch) != len(r.running) {
		panic("enginetest: a running sequence got no tokens")
	}
	r.stepping = true
	r.start, r.end = t, t+r.stepCost().Step(f.work)+engine.Time(f.loads)*r.cfg.AdapterLoadTime
}

// refForming is the forming of one batch.
type refForming struct {
	*Reference
	t         engine.Time
	budget    int  // tokens left
	idle      bool // nothing ran when the boundary came
	preempted bool // somebody was, at this boundary
	work      engine.Batch
	loads     int   // adapters loaded
	before    []int // computed tokens of each sequence of the batch before this step
}

// scheduleRunning is phase 1.
func (f *refForming) scheduleRunning() {
	for i := 0; i < len(f.running) && f.budget > 0; i++ {
		s := f.running[i]
		want := f.chunk(s.tokens() - s.computed)
		for !f.canGrow(s, want) {
			f.preempted = true
			f.preemptLast()
			if i == len(f.running) {
				return // it preempted itself
			}
		}
		before := s.computed
		f.schedule(s, want)
		if f.AtOnce {
			f.nameBlocks(s, before)
		}
	}
}

// chunk is the part of the remaining tokens that one step may compute of one sequence.
func (f *refForming) chunk(remaining int) int {
	want := min(remaining, f.budget)
	if th := f.cfg.LongPrefillTokenThreshold; th > 0 && want > th {
		want = th
		f.seen.chunks++
	}
	return want
}

func (f *refForming) canGrow(s *refSeq, want int) bool {
	return f.blocksFor(s.computed+want)-len(s.blocks) <= f.pool.available()
}

// preemptLast puts the last running sequence back to the head of the line.
func (f *refForming) preemptLast() {
	s := f.running[len(f.running)-1]
	f.running = f.running[:len(f.running)-1]
	f.stats.Preemptions++
	f.stats.Recomputed += int64(s.computed)
	f.free(s)
	f.leaveAdapter(s)
	s.computed = 0
	s.preemptions++
	s.join = f.t
	f.waiting = append([]*refSeq{s}, f.waiting...)
}

// schedule gives s the blocks of a chunk of want tokens and takes the chunk into the batch.
func (f *refForming) schedule(s *refSeq, want int) {
	f.count(s, want)
	f.before = append(f.before, s.computed)
	s.computed += want
	f.budget -= want
	for len(s.blocks) < f.blocksFor(s.computed) {
		b, evicted := f.pool.take()
		if evicted {
			f.stats.Evicted++
		}
		b.holders = 1
		s.blocks = append(s.blocks, b)
	}
	f.batch = append(f.batch, s)
}

// count adds a chunk of want tokens of s to the work of the step.
func (f *refForming) count(s *refSeq, want int) {
	if s.emitted >= 1 && s.tokens()-s.computed == 1 {
		f.work.Decode++
		f.work.KVTokens += int64(s.computed + 1)
		return
	}
	f.work.PrefillSeqs++
	for i := 1; i <= want; i++ {
		f.work.PrefillTokens++
		f.work.PrefillContext += int64(s.computed + i)
	}
}

// scheduleWaiting is phase 3.
func (f *refForming) scheduleWaiting() {
	for i := 0; i < len(f.waiting) && f.budget > 0 && len(f.running) < f.cfg.MaxNumSeqs; {
		s := f.waiting[i]
		if !f.mayJoin(s) {
			return
		}
		if f.tooMany(s) {
			f.seen.skipped++
			i++
			continue
		}
		hit := f.hitBlocks(s)
		cached := len(hit) * f.cfg.BlockSize
		want := f.chunk(s.tokens() - cached)
		if !f.fits(s, hit, want) {
			f.seen.blocked++
			return
		}
		if i > 0 {
			f.seen.overtaken++
		}
		f.waiting = append(f.waiting[:i:i], f.waiting[i+1:]...)
		f.running = append(f.running, s)
		f.serveAdapter(s)
		f.admit(s, hit)
		f.schedule(s, want)
		f.nameBlocks(s, cached)
	}
	if len(f.waiting) > 0 && len(f.running) == f.cfg.MaxNumSeqs {
		f.seen.starved++
	}
}

// mayJoin says whether s is seen at this boundary.
func (f *refForming) mayJoin(s *refSeq) bool {
	if f.idle || !f.cfg.AsyncScheduling {
		return s.join <= f.t
	}
	if s.join <= f.t && s.join > f.start {
		f.seen.notYet++
	}
	return s.join <= f.start // of the step that just ended
}

// fits says whether s can be admitted with this hit and a first chunk of want tokens.
func (f *refForming) fits(s *refSeq, hit []*refBlock, want int) bool {
	tokens := len(hit)*f.cfg.BlockSize + want
	if f.cfg.ReserveFullISL {
		tokens = s.tokens()
	}
	need := f.blocksFor(tokens) - len(hit)
	available := f.pool.available()
	for _, b := range hit {
		if b.holders == 0 {
			available--
		}
	}
	roomy := need <= available
	if len(f.running) > 0 {
		available -= int(float64(f.cfg.Watermark * float64(f.cfg.KVBlocks)))
	}
	if roomy && need > available {
		f.seen.watermarked++
	}
	return need <= available
}

// admit gives s the blocks that it hits.
func (f *refForming) admit(s *refSeq, hit []*refBlock) {
	for _, b := range hit {
		f.pool.hold(b)
		s.blocks = append(s.blocks, b)
	}
	if !f.AtOnce {
		f.forgetOwn(s)
	}
	s.computed = len(hit) * f.cfg.BlockSize
	if len(hit) > 0 {
		f.seen.hits++
	}
	if !s.admitted {
		s.admitted = true
		s.firstHit = s.computed
		s.scheduled = f.t
	}
}

// finishStep ends the step in progress.
func (r *Reference) finishStep() {
	r.stepping = false
	r.stats.Steps++
	r.stats.Busy += r.end - r.start
	for _, s := range r.batch {
		if s.computed == s.tokens() {
			r.emit(s)
		}
	}
	for _, s := range r.batch {
		if s.done() {
			r.free(s)
			r.leave(s)
			r.leaveAdapter(s)
		}
	}
}

// emit delivers one more token of s.
func (r *Reference) emit(s *refSeq) {
	at := r.end + r.cfg.OverheadAfter
	s.emitted++
	if s.emitted == 1 {
		s.first = at
		r.pending = append(r.pending,
			engine.Event{At: at, Seq: s.ID, Kind: engine.FirstToken, Hit: int32(s.firstHit), Scheduled: s.scheduled})
	}
	if s.done() {
		s.finish = at
		r.pending = append(r.pending, engine.Event{At: at, Seq: s.ID, Kind: engine.Finish, Preemptions: int32(s.preemptions)})
	}
}

// leave takes s off the running list.
func (r *Reference) leave(s *refSeq) {
	for i := range r.running {
		if r.running[i] == s {
			r.running = append(r.running[:i:i], r.running[i+1:]...)
			return
		}
	}
	panic("enginetest: a sequence that does not run has finished")
}
