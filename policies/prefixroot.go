package policies

import "time"

// creditRoot is credit for RootFirst, where a slot keeps the last tokens of a block. It walks the block as far as any
// replica has its tokens and returns how far that is; a replica's hit ends with the last of them that it has.
func (x *PrefixIndex) creditRoot(row []slot, now time.Duration, hits []Hit, before, tokens int32) (reach int32) {
	counts := func(s *slot) bool { return int(s.replica) < len(hits) && !x.expired(s, now) }
	for j := range row {
		if counts(&row[j]) && row[j].tokens >= tokens {
			reach = tokens // slots that end where the block does reach its end if one has its start
		}
	}
	if reach == 0 {
		return 0
	}
	for j := range row {
		s := &row[j]
		if !counts(s) {
			continue
		}
		h := &hits[s.replica]
		h.Tokens = before + tokens
		if s.tokens >= tokens && s.inFlight > 0 && h.Held == before {
			h.Held = h.Tokens
		}
	}
	return reach
}
