package engine

import "slices"

// loras is the adapters on the GPU, and what the scheduler needs to know of them.
type loras struct {
	slots   []loraSlot
	busy    int   // slots whose adapter has running sequences
	left    int64 // how often an adapter became idle
	skipped int   // waiting sequences from the head of the line on that are known to be skipped
}

// loraSlot is a place for one adapter; the zero value is an empty one.
type loraSlot struct {
	adapter int32
	running int32 // sequences
	left    int64 // value of loras.left when it became idle, which orders the idle ones
}

// serve notes that a sequence of adapter a runs. It reports whether the adapter had to be loaded: into an empty slot,
// or else into that of the adapter which is idle for longest.
func (l *loras) serve(a int32) (loaded bool) {
	at := -1
	for i := range l.slots {
		s := &l.slots[i]
		if s.adapter == a {
			at = i
			break
		}
		if s.running == 0 && (at < 0 || s.left < l.slots[at].left) {
			at = i
		}
	}
	s := &l.slots[at]
	if loaded = s.adapter != a; loaded {
		*s = loraSlot{adapter: a}
	}
	if s.running == 0 {
		l.busy++
	}
	s.running++
	return loaded
}

// leave notes that a sequence of adapter a no longer runs.
func (l *loras) leave(a int32) {
	i := slices.IndexFunc(l.slots, func(s loraSlot) bool { return s.adapter == a })
	s := &l.slots[i]
	if s.running--; s.running > 0 {
		return
	}
	l.left++
	s.left = l.left
	l.busy--
	l.skipped = 0
}

// skips says whether a step whose sequences have all the busy adapters cannot take one more of adapter a.
func (l *loras) skips(a int32) bool {
	if a == 0 || l.busy < len(l.slots) {
		return false
	}
	for i := range l.slots {
		if l.slots[i].adapter == a {
			return false
		}
	}
	return true
}

// head returns the place in the line of the first sequence that is not skipped for its adapter, the line's length if
// there is none. Who is skipped stays so until an adapter becomes idle.
func (e *Engine) head() int {
	l := &e.loras
	if l.busy == 0 || l.busy < len(l.slots) {
		return 0
	}
	for l.skipped < e.line.len() && l.skips(e.seqs[e.line.at(l.skipped)].Adapter) {
		l.skipped++
	}
	return l.skipped
}

// leaveAdapter notes that a sequence no longer runs.
func (e *Engine) leaveAdapter(sq *seq) {
	if sq.Adapter != 0 {
		e.loras.leave(sq.Adapter)
	}
}

// costOf returns the cost model for a step.
func (e *Engine) costOf(s *step) CostModel {
	if e.loras.busy > 1 && e.mixes(s) {
		return e.mixed
	}
	return e.cost
}

// mixes says whether a step serves more than one adapter, given that more than one runs.
func (e *Engine) mixes(s *step) bool {
	if s.left == 0 {
		return true
	}
	one := int32(0)
	for _, q := range e.running[:len(e.running)-s.left] {
		switch a := e.seqs[q].Adapter; {
		case a == 0 || a == one:
		case one == 0:
			one = a
		default:
			return true
		}
	}
	return false
}

// Adapters appends the adapters in a slot at the latest instant that the engine was asked about to resident, and those of
// running and of waiting sequences to active, each once and in ascending order. The second is what vLLM's
// lora_requests_info tells. Without slots there are none.
func (e *Engine) Adapters(resident, active *[]int32) {
	if e.cfg.MaxLoRAs == 0 {
		return
	}
	e.run(e.now)
	r, a := len(*resident), len(*active)
	for i := range e.loras.slots {
		s := &e.loras.slots[i]
		insert(resident, r, s.adapter)
		if s.running > 0 {
			insert(active, a, s.adapter)
		}
	}
	for i := range e.line.len() {
		if sq := &e.seqs[e.line.at(i)]; sq.joined <= e.now {
			insert(active, a, sq.Adapter)
		}
	}
}

// insert puts adapter a into the ascending list that begins at place from, unless it is there or none.
func insert(list *[]int32, from int, a int32) {
	i, found := slices.BinarySearch((*list)[from:], a)
	if a != 0 && !found {
		*list = slices.Insert(*list, from+i, a)
	}
}
