package policies

// belief is where a scorer's Hits come from. believe only reads.
type belief interface {
	believe(r *Request, v *View)
	dispatched(r *Request, v *View, replica int)
	completed(r *Request, replica int)
	forget(replica int)
	move(from, to int) // to has been forgotten
	beliefs(hot int) BeliefStats
}

func newBelief(c *BeliefConfig) belief {
	switch c.Prefix {
	case PrefixBucket:
		return &bucket{tokens: int32(orDefault(c.PrefixTokens, bucketTokens)), owners: c.Owners}
	case PrefixFromEvents:
		return newEvents(c.Delay, c.Spec)
	case PrefixOracle:
		return told{}
	}
	return &indexed{index: newPrefixIndex(c.TTL, c.Order), capacity: c.Capacity}
}

// sameMemory tells whether two beliefs remember the same of the same past.
func (c *BeliefConfig) sameMemory(d *BeliefConfig) bool {
	if c.Prefix == PrefixBucket {
		return d.Prefix == PrefixBucket // it has none
	}
	return c.Prefix == d.Prefix && c.TTL == d.TTL && c.Capacity == d.Capacity && c.Order == d.Order && c.Delay == d.Delay && c.Spec == d.Spec
}

func orDefault(x, def int) int {
	if x == 0 {
		return def
	}
	return x
}

// memoryless is the part of a belief that remembers nothing.
type memoryless struct{}

func (memoryless) dispatched(*Request, *View, int) {}
func (memoryless) completed(*Request, int)         {}
func (memoryless) forget(int)                      {}
func (memoryless) move(int, int)                   {}

// told is the belief of a scorer whose Hits are filled by the caller.
type told struct{ memoryless }

func (told) believe(*Request, *View) {}
func (told) beliefs(int) BeliefStats { return BeliefStats{} }

// unknownCapacity is how many tokens a replica that has not told its KV capacity is believed to have at most, so that
// the memory of a router stays bounded.
const unknownCapacity = 1 << 20

// indexed believes in a PrefixIndex.
type indexed struct {
	index    *PrefixIndex
	capacity float64 // of BeliefConfig
}

func (b *indexed) believe(r *Request, v *View) { b.index.Match(v.Now, r, v.Hits) }

func (b *indexed) dispatched(r *Request, v *View, replica int) {
	b.index.Insert(v.Now, r, replica, b.bound(&v.Replicas[replica].Signals))
}

// bound is how many tokens the replica is believed to keep at most; 0 is no bound.
func (b *indexed) bound(sig *Signals) int64 {
	if b.capacity > maxFactor {
		return int64(b.capacity)
	}
	tokens := int64(unknownCapacity)
	if sig.Have&HasKVTokens != 0 {
		tokens = sig.KVTokens
	}
	if b.capacity == 1 {
		return tokens
	}
	return int64(b.capacity * float64(tokens))
}

func (b *indexed) beliefs(hot int) BeliefStats { return b.index.Stats(hot) }

func (b *indexed) completed(r *Request, replica int) { b.index.Release(r, replica) }

func (b *indexed) forget(replica int) { b.index.Forget(replica) }

func (b *indexed) move(from, to int) { b.index.Move(from, to) }

// hitLimit is the most prompt tokens that may count as hit: all but the last, which is always computed, and with a
// cap no more than its whole blocks.
func hitLimit(r *Request, limit int) int32 {
	most := max(0, r.PromptTokens-1)
	if limit > 0 && limit < int(most) {
		most, _ = cutAt(r, int32(limit))
	}
	return most
}

// cutAt floors limit to a block of the identified prefix: it returns the tokens up to there and the key that names
// them, 0 and 0 if not one block is that short.
func cutAt(r *Request, limit int32) (tokens int32, key uint64) {
	for _, b := range r.Blocks {
		if tokens+b.Tokens > limit {
			if part := floor(limit-tokens, r.BlockTokens); part > 0 {
				return tokens + part, mix(b.Hash, uint64(part))
			}
			break
		}
		tokens += b.Tokens
		key = b.Hash
	}
	return tokens, key
}

// floor rounds x down to a multiple of unit, to 0 if a block may not be cut (unit 0).
func floor(x, unit int32) int32 {
	if unit <= 0 {
		return 0
	}
	return x - x%unit
}
