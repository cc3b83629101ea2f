package policies

// belief is where a scorer's Hits come from. believe only reads.
type belief interface {
	believe(r *Request, v *View)
	dispatched(r *Request, v *View, replica int)
	completed(r *Request, replica int)
	forget(replica int)
	move(from, to int) // to has been forgotten
}

func newBelief(c *ScoreConfig) belief {
	switch c.Prefix {
	case PrefixBucket:
		return &bucket{tokens: int32(orDefault(c.PrefixTokens, bucketTokens)), owners: c.Owners}
	case PrefixOracle:
		return told{}
	}
	return &indexed{index: NewPrefixIndex(c.TTL)}
}

func orDefault(x, def int) int {
	if x == 0 {
		return def
	}
	return x
}

// told is the belief of a scorer whose Hits are filled by the caller.
type told struct{}

func (told) believe(*Request, *View)         {}
func (told) dispatched(*Request, *View, int) {}
func (told) completed(*Request, int)         {}
func (told) forget(int)                      {}
func (told) move(int, int)                   {}

// unknownCapacity is how many tokens a replica that has not told its KV capacity is believed to have at most, so that
// the memory of a router stays bounded.
const unknownCapacity = 1 << 20

// indexed believes in a PrefixIndex.
type indexed struct{ index *PrefixIndex }

func (b *indexed) believe(r *Request, v *View) { b.index.Match(v.Now, r, v.Hits) }

func (b *indexed) dispatched(r *Request, v *View, replica int) {
	capacity := int64(unknownCapacity)
	if sig := &v.Replicas[replica].Signals; sig.Have&HasKVTokens != 0 {
		capacity = sig.KVTokens
	}
	b.index.Insert(v.Now, r, replica, capacity)
}

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
