package engine

// complete ends the first k of the steps in progress and drops the others.
func (e *Engine) complete(k int64) {
	if k > 1 {
		e.catchUp(k)
	}
	e.previous = e.start + e.elapsed(k-1)
	e.end = e.start + e.elapsed(k)
	e.steps = 0
	e.stats.Steps += k
	e.stats.Busy += e.end - e.start
	e.decode.advance(k)
	e.emit()
}

// emit books the work of the step that just ended and tells of first and last tokens, in batch order.
func (e *Engine) emit() {
	complete := false // a prefill is
	for _, c := range e.chunks {
		sq := &e.seqs[c.seq]
		sq.computed += c.tokens
		complete = complete || sq.computed == sq.Prompt+sq.emitted
	}
	e.chunks = e.chunks[:0]
	finished := false
	for f := &e.decode.finishes; len(*f) > 0 && (*f)[0].at <= e.decode.count; finished = true {
		f.removeAt(0)
	}
	switch {
	case finished:
		e.emitFrom(0)
	case complete:
		e.emitFrom(e.firstPrefill())
	}
}

// firstPrefill returns the place of the first running sequence in prefill. Most often all that decode come before.
func (e *Engine) firstPrefill() int {
	i := len(e.running) - e.prefill
	if !e.prefillLast() {
		for i = 0; e.seqs[e.running[i]].decoding; i++ {
		}
	}
	return i
}

// emitFrom lets the running sequences from place i on emit.
func (e *Engine) emitFrom(i int) {
	keep := e.running[:i]
	for _, q := range e.running[i:] {
		if !e.emitOne(q) {
			keep = append(keep, q)
		}
	}
	e.running = keep
}

// emitOne lets a running sequence emit and reports whether it is complete and gone.
func (e *Engine) emitOne(q int32) bool {
	sq := &e.seqs[q]
	if sq.decoding {
		if e.computed(sq) < sq.Prompt+sq.Output-1 {
			return false
		}
		e.stopDecoding(q)
		e.finish(q)
		return true
	}
	if sq.computed < sq.Prompt+sq.emitted {
		return false
	}
	e.prefill--
	sq.emitted++
	if sq.emitted == 1 {
		e.event(Event{Seq: sq.ID, Kind: FirstToken, Hit: sq.hit, Scheduled: sq.scheduled})
	}
	if sq.emitted == sq.Output {
		e.finish(q)
		return true
	}
	e.startDecoding(q)
	return false
}

// startDecoding adds a sequence whose prefill is over to those that decode.
func (e *Engine) startDecoding(q int32) {
	sq, d := &e.seqs[q], &e.decode
	sq.decoding, sq.since = true, d.count
	d.n++
	d.kv += int64(sq.computed)
	d.phases[d.phase(sq.computed)]++
	d.finishes.push(due{at: d.count + int64(sq.Output-sq.emitted), seq: q})
	if sq.Reuse > sq.computed {
		e.expectFill(q)
	}
}

// stopDecoding takes a sequence out of those that decode, all but what it is due, and brings its counts up to date.
func (e *Engine) stopDecoding(q int32) {
	sq, d := &e.seqs[q], &e.decode
	sq.computed = e.computed(sq)
	sq.emitted = sq.computed - sq.Prompt + 1
	sq.decoding = false
	d.n--
	d.kv -= int64(sq.computed)
	d.phases[d.phase(sq.computed)]--
}

// finish frees a complete sequence.
func (e *Engine) finish(q int32) {
	sq := &e.seqs[q]
	e.event(Event{Seq: sq.ID, Kind: Finish, Preemptions: sq.preemptions})
	e.free(q, 0)
	e.leaveAdapter(sq)
	*sq = seq{nextPartial: e.spare}
	e.spare = q
}

// event tells of something that happened at the end of the step that just ended.
func (e *Engine) event(v Event) {
	v.At = e.end + e.cfg.OverheadAfter
	e.events = append(e.events, v)
}
