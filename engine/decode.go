package engine

// decoders is what the decoding sequences have in common. All of them gain one token a step, so each is described by
// numbers that do not change while it decodes: its phase in its block and the step at which it finishes.
type decoders struct {
	n        int     // sequences that decode
	kv       int64   // their computed tokens
	count    int64   // decode steps done
	phases   []int32 // by (computed - count) mod block size: how many
	at       int     // index in phases of those that need a new block in the next step: -count mod block size
	finishes finishHeap
}

// finish is the value of decoders.count at which a sequence is complete.
type finish struct {
	at  int64
	seq int32
}

// phase returns the index in phases of a sequence with so many computed tokens.
func (d *decoders) phase(computed int32) int {
	return int(uint32(int(computed)+d.at) % uint32(len(d.phases)))
}

// advance counts k more steps.
func (d *decoders) advance(k int64) {
	d.count += k
	d.kv += k * int64(d.n)
	d.at -= int(uint32(k) % uint32(len(d.phases)))
	if d.at < 0 {
		d.at += len(d.phases)
	}
}

// crossing returns how many of them need a new block in step i from now, i below the block size.
func (d *decoders) crossing(i int) int32 {
	at := d.at - i
	if at < 0 {
		at += len(d.phases)
	}
	return d.phases[at]
}

// crossings returns how many new blocks the next k steps need, k below 2^32.
func (d *decoders) crossings(k int64) int32 {
	b := uint32(len(d.phases))
	n, rest := int32(uint32(k)/b)*int32(d.n), int(uint32(k)%b)
	for i := d.at; i >= 0 && rest > 0; i-- {
		n += d.phases[i]
		rest--
	}
	for i := len(d.phases) - 1; rest > 0; i-- {
		n += d.phases[i]
		rest--
	}
	return n
}

// affordable returns how many steps can be taken with so many new blocks, at most limit.
func (d *decoders) affordable(blocks int32, limit int64) int64 {
	b := int64(len(d.phases))
	k := int64(blocks) / int64(d.n) * b
	if k >= limit {
		return limit
	}
	left := blocks % int32(d.n)
	for i := 0; k < limit; i++ {
		if left -= d.crossing(i); left < 0 {
			return k
		}
		k++
	}
	return limit
}

// finishHeap is a binary heap of finishes, earliest first.
type finishHeap []finish

func (h *finishHeap) push(f finish) {
	*h = append(*h, f)
	s := *h
	i := len(s) - 1
	for i > 0 {
		p := (i - 1) / 2
		if s[p].at <= f.at {
			break
		}
		s[i] = s[p]
		i = p
	}
	s[i] = f
}

// remove takes out the finish of a sequence.
func (h *finishHeap) remove(seq int32) {
	for i, f := range *h {
		if f.seq == seq {
			h.removeAt(i)
			return
		}
	}
	panic("engine: a decoding sequence has no finish")
}

func (h *finishHeap) removeAt(i int) {
	s := *h
	last := s[len(s)-1]
	s = s[:len(s)-1]
	*h = s
	if i == len(s) {
		return
	}
	for {
		c := 2*i + 1
		if c >= len(s) {
			break
		}
		if c+1 < len(s) && s[c+1].at < s[c].at {
			c++
		}
		if last.at <= s[c].at {
			break
		}
		s[i] = s[c]
		i = c
	}
	for i > 0 {
		p := (i - 1) / 2
		if s[p].at <= last.at {
			break
		}
		s[i] = s[p]
		i = p
	}
	s[i] = last
}
