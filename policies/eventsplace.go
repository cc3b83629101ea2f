package policies

// nobody is the place of a replica that left.
const nobody = -1

// forget drops all that was told and guessed of a replica, and what of it is not in force yet.
func (e *events) forget(replica int) {
	e.rename(int32(replica), nobody)
	for hash, row := range e.blocks {
		for j := range row.all {
			if h := &row.all[j]; h.replica == nobody {
				*h = holder{replica: nobody}
				e.sweep(hash, nobody)
				break
			}
		}
	}
}

// move follows a replica to another place.
func (e *events) move(from, to int) { e.rename(int32(from), int32(to)) }

// rename gives everything of one place to another. The order in which it meets the blocks does not matter: each is
// changed by itself.
func (e *events) rename(from, to int32) {
	for _, row := range e.blocks {
		for j := range row.all {
			if row.all[j].replica == from {
				row.all[j].replica = to
			}
		}
	}
	for i, v := range e.feed.all() {
		if v.replica == from {
			e.feed.all()[i].replica = to
		}
	}
	for i, g := range e.guesses.all() {
		if g.replica == from {
			e.guesses.all()[i].replica = to
		}
	}
}

// beliefs counts what was told; guesses are no entries.
func (e *events) beliefs(hot int) BeliefStats {
	s := BeliefStats{Evictions: e.evicted}
	for hash, row := range e.blocks {
		h, all := HotPrefix{Hash: hash, Uses: row.uses}, int64(0)
		for _, x := range row.all {
			if x.tokens > 0 {
				h.Copies++
				h.Tokens = max(h.Tokens, x.tokens)
				all += int64(x.tokens)
			}
		}
		if h.Copies > 0 {
			s.count(h, all)
		}
	}
	s.cut(hot) // sorted, so that the order of the map does not show
	return s
}
