package engine

// decoders is what the decoding sequences have in common. All of them gain one token a step, so each is described by
// numbers that do not change while it decodes: its phase in its block and the step at which it finishes.
type decoders struct {
	n        int     // sequences that decode
	kv       int64   // their computed tokens
	count    int64   // decode steps done
	phases   []int32 // by (computed - count) mod block size: how many
	at       int     // index in phases of those that need a new block in the next step: -count mod block size
	finishes dueHeap // at which value of count a sequence is complete
	fills    dueHeap // at which one a block that can be shared is full
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
