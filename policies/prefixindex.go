package policies

import "time"

// PrefixIndex is the router's own record of which replica was sent which prefix, so of what it may have cached.
//
// Each replica has a list of blocks in order of last use, as long as its KV tokens allow. A request's blocks are used
// leaf first, so that a block is always more recent than what follows it: what is dropped first is a leaf, a hole
// never arises, and a replica that has a block has all before it. In flight a block is not pinned: the bound holds
// whatever is in flight.
//
// With RootFirst it is used root first, as llm-d's approximate index does: what is dropped first is the head of a prefix,
// and a hole counts as a hit as long as any replica has what is missing.
//
// Replicas are known by their position in View.Replicas. Forget empties one, Move follows one that changes its place.
type PrefixIndex struct {
	ttl   time.Duration // 0: blocks do not expire
	root  bool          // RootFirst
	table hashTable
	slab  slab
	lists []list // one a replica

	evicted int64 // blocks dropped for the capacity or the TTL, whole or in part
}

// NewPrefixIndex returns an empty index that forgets what was not used for ttl, or never if it is 0.
func NewPrefixIndex(ttl time.Duration) *PrefixIndex {
	return &PrefixIndex{ttl: ttl, slab: newSlab()}
}

func newPrefixIndex(ttl time.Duration, order Order) *PrefixIndex {
	x := NewPrefixIndex(ttl)
	x.root = order == RootFirst
	return x
}

// Match fills hits with the tokens of the request's prefix that each replica is believed to have, at most all of the
// prompt but its last token. It only reads the index.
func (x *PrefixIndex) Match(now time.Duration, r *Request, hits []Hit) {
	clear(hits)
	var before int32 // tokens before the block
	for i := range r.Blocks {
		b := &r.Blocks[i]
		if b.Tokens <= 0 {
			continue
		}
		e := x.table.find(b.Hash)
		if e == nil {
			break
		}
		row := x.slab.row(e)
		if x.root {
			reach := x.creditRoot(row, now, hits, before, b.Tokens)
			before += reach
			if reach < b.Tokens {
				break
			}
			continue
		}
		for j := range row {
			s := &row[j]
			if int(s.replica) >= len(hits) || x.expired(s, now) {
				continue
			}
			s.credit(&hits[s.replica], before, b.Tokens)
		}
		before += b.Tokens
	}
	if most := max(0, r.PromptTokens-1); before > most {
		limitHits(hits, most)
	}
}

// credit extends a hit by what the slot has of the block after before: who has it has all before it.
func (s *slot) credit(h *Hit, before, tokens int32) {
	h.Tokens = before + min(s.tokens, tokens)
	if s.inFlight > 0 && h.Held == before {
		h.Held = h.Tokens
	}
}

func limitHits(hits []Hit, most int32) {
	for i := range hits {
		h := &hits[i]
		h.Tokens, h.Held = min(h.Tokens, most), min(h.Held, most)
	}
}

// Insert records that the request was dispatched to the replica, whose KV capacity in tokens bounds what is kept; 0
// is no bound. Beyond it the least recent block loses its tail, or all of it if it may not be cut.
func (x *PrefixIndex) Insert(now time.Duration, r *Request, replica int, capacity int64) {
	x.room(replica)
	l := &x.lists[replica]
	x.expire(l, now)
	for i := range r.Blocks {
		b := &r.Blocks[i]
		if !x.root {
			b = &r.Blocks[len(r.Blocks)-1-i]
		}
		if b.Tokens > 0 {
			e := x.table.findOrAdd(b.Hash)
			e.unit = r.BlockTokens
			e.uses++
			x.slab.use(l, x.slot(e, int32(replica)), b.Tokens, now)
		}
	}
	if capacity > 0 {
		x.trim(l, capacity)
	}
}

// Release records that the request left the replica. A block that was dropped and came back with another request
// meanwhile is released too early, so that Hit.Held errs to the safe side.
func (x *PrefixIndex) Release(r *Request, replica int) {
	for i := range r.Blocks {
		e := x.table.find(r.Blocks[i].Hash)
		if e == nil {
			continue
		}
		if at := x.slab.find(e, int32(replica)); at != 0 {
			s := &x.slab.slots[at]
			s.inFlight = max(0, s.inFlight-1)
		}
	}
}

// Forget drops all that the replica is believed to have, as after a restart.
func (x *PrefixIndex) Forget(replica int) {
	if replica >= len(x.lists) {
		return
	}
	for l := &x.lists[replica]; l.tokens > 0; {
		x.drop(l, x.slab.oldest(l))
	}
}

// Move tells that the replica at from is now at to, which must be empty.
func (x *PrefixIndex) Move(from, to int) {
	if from == to || from >= len(x.lists) {
		return
	}
	x.room(to)
	x.lists[from], x.lists[to] = x.lists[to], x.lists[from]
	l := &x.lists[to]
	for at := x.slab.slots[l.ring].next; at != l.ring; at = x.slab.slots[at].next {
		x.slab.slots[at].replica = int32(to)
	}
}

// room makes sure that the replica has a list.
func (x *PrefixIndex) room(replica int) {
	for replica >= len(x.lists) {
		x.lists = append(x.lists, x.slab.newList())
	}
}

// slot returns the place of the replica's slot of a block, a new one if it has none.
func (x *PrefixIndex) slot(e *entry, replica int32) int32 {
	if at := x.slab.find(e, replica); at != 0 {
		return at
	}
	return x.slab.add(e, replica)
}

// expire drops what the list has not used for the TTL.
func (x *PrefixIndex) expire(l *list, now time.Duration) {
	for l.tokens > 0 && x.expired(&x.slab.slots[x.slab.oldest(l)], now) {
		x.drop(l, x.slab.oldest(l))
		x.evicted++
	}
}

func (x *PrefixIndex) expired(s *slot, now time.Duration) bool {
	return x.ttl > 0 && now-s.touched > x.ttl
}

// trim cuts the list down to the capacity, from its oldest block on. With RootFirst the tokens that a slot keeps are the
// last of the block, else the first.
func (x *PrefixIndex) trim(l *list, capacity int64) {
	for l.tokens > capacity {
		x.evicted++
		at := x.slab.oldest(l)
		s := &x.slab.slots[at]
		keep := int32(0)
		if over := l.tokens - capacity; over < int64(s.tokens) {
			keep = floor(s.tokens-int32(over), x.table.entries[s.entry].unit)
		}
		if keep == 0 {
			x.drop(l, at)
			continue
		}
		l.tokens -= int64(s.tokens - keep)
		s.tokens = keep
	}
}

// drop removes a slot from its list and its block, and the block if no replica has it any more.
func (x *PrefixIndex) drop(l *list, at int32) {
	id := x.slab.slots[at].entry
	e := &x.table.entries[id]
	x.slab.unlink(l, at)
	x.slab.remove(e, at)
	if e.n == 0 {
		x.table.remove(id)
	}
}
