package policies

import (
	"cmp"
	"slices"
)

// BeliefStats says what a belief holds.
type BeliefStats struct {
	Entries    int64       // pairs of a block and a replica that is believed to have it
	Blocks     int64       // distinct among them
	Tokens     int64       // KV tokens of all entries
	Duplicated int64       // of those, what is there more than once: Tokens less the largest entry of each block
	Evictions  int64       // entries cut or dropped so far, for the capacity, by age, or as the engines told
	Hot        []HotPrefix // most used first
	Owners     int         // replicas that any prefix is believed to be on, for PrefixBucket; else 0
}

// HotPrefix is a block that many requests had.
type HotPrefix struct {
	Hash   uint64
	Tokens int32  // of the block, where most of it is
	Uses   uint32 // requests that were sent with it since it is there
	Copies int    // replicas that are believed to have it
}

// BeliefReporter is an optional interface of policies that tell what they believe, with the hot prefixes that are used
// most. It takes time: it is for the end of a run and for now and then.
type BeliefReporter interface {
	BeliefStats(hot int) BeliefStats
}

var _ BeliefReporter = (*Score)(nil)

// BeliefStats tells what the replicas are believed to have cached.
func (s *Score) BeliefStats(hot int) BeliefStats { return s.belief.beliefs(hot) }

// count adds a block to the statistics: the tokens that are there in all and on the replica that has most, and copies.
func (s *BeliefStats) count(h HotPrefix, all int64) {
	s.Blocks++
	s.Entries += int64(h.Copies)
	s.Tokens += all
	s.Duplicated += all - int64(h.Tokens)
	s.Hot = append(s.Hot, h)
}

// cut keeps the n hottest prefixes; equally used ones are ordered by their hashes.
func (s *BeliefStats) cut(n int) {
	slices.SortFunc(s.Hot, func(a, b HotPrefix) int {
		return cmp.Or(cmp.Compare(b.Uses, a.Uses), cmp.Compare(a.Hash, b.Hash))
	})
	s.Hot = slices.Clip(s.Hot[:min(n, len(s.Hot))])
}

// Stats tells what the index holds and its most used blocks.
func (x *PrefixIndex) Stats(hot int) BeliefStats {
	s := BeliefStats{Evictions: x.evicted}
	for i := range x.table.entries {
		e := &x.table.entries[i]
		if i == 0 || e.n == 0 {
			continue // nobody's or free
		}
		h, all := HotPrefix{Hash: e.hash, Uses: e.uses, Copies: int(e.n)}, int64(0)
		for _, slot := range x.slab.row(e) {
			h.Tokens = max(h.Tokens, slot.tokens)
			all += int64(slot.tokens)
		}
		s.count(h, all)
	}
	s.cut(hot)
	return s
}
