package enginetest

import "fmt"

// Check returns the first law of the pool that r breaks.
func (r *Reference) Check() error {
	for _, law := range []func() error{r.checkHolders, r.checkPlaces, r.checkResidents, r.checkPrefixes, r.checkSizes, r.checkLoRAs} {
		if err := law(); err != nil {
			return err
		}
	}
	return nil
}

// checkHolders: a block's holders are the running sequences that list it, and an idle replica holds none.
func (r *Reference) checkHolders() error {
	holders := map[*refBlock]int{}
	for _, s := range r.running {
		for _, b := range s.blocks {
			holders[b]++
		}
	}
	for i, b := range r.pool.all {
		if b.holders != holders[b] {
			return fmt.Errorf("block %d counts %d holders, want %d", i, b.holders, holders[b])
		}
	}
	return nil
}

// checkPlaces: held + free + empty are all the blocks of the pool.
func (r *Reference) checkPlaces() error {
	places := map[*refBlock]int{}
	for _, b := range append(append([]*refBlock{}, r.pool.empty...), r.pool.queue...) {
		places[b]++
	}
	for i, b := range r.pool.all {
		if b.holders > 0 {
			places[b]++
		}
		if places[b] != 1 {
			return fmt.Errorf("block %d is in %d places, want 1 of held, queue, empty", i, places[b])
		}
	}
	for _, b := range r.pool.empty {
		if b.key.owner != refNone {
			return fmt.Errorf("an empty block has identity %v", b.key)
		}
	}
	return nil
}

// checkResidents: a block found under an identity has it.
func (r *Reference) checkResidents() error {
	named := 0
	for _, b := range r.pool.all {
		if b.key.owner == refNone {
			continue
		}
		named++
		if r.pool.resident[b.key] != b {
			return fmt.Errorf("block with identity %v is not found under it", b.key)
		}
	}
	if named != len(r.pool.resident) {
		return fmt.Errorf("%d identities resident, %d blocks have one", len(r.pool.resident), named)
	}
	return nil
}

// checkPrefixes: whenever a shared block is resident, so is the one before it.
func (r *Reference) checkPrefixes() error {
	for _, b := range r.pool.all {
		k := b.key.index
		if b.key.owner != refShared || k == 0 {
			continue
		}
		if r.pool.resident[r.sharedKey(b.key.node, k-1)] == nil {
			return fmt.Errorf("block %d of node %d is resident without the one before it", k, b.key.node)
		}
	}
	return nil
}

// checkSizes: a running sequence holds exactly the blocks of its computed tokens.
func (r *Reference) checkSizes() error {
	if len(r.running) > r.cfg.MaxNumSeqs {
		return fmt.Errorf("%d sequences run, want at most %d", len(r.running), r.cfg.MaxNumSeqs)
	}
	for _, s := range r.running {
		if len(s.blocks) != r.blocksFor(s.computed) {
			return fmt.Errorf("sequence %d holds %d blocks for %d tokens", s.ID, len(s.blocks), s.computed)
		}
	}
	return nil
}

// checkDone returns the first law of a finished run that r breaks.
func (r *Reference) checkDone() error {
	if len(r.waiting)+len(r.running) > 0 {
		return fmt.Errorf("%d sequences wait and %d run in the end, want none", len(r.waiting), len(r.running))
	}
	for _, s := range r.accepted {
		if s.emitted != int(s.Output) {
			return fmt.Errorf("sequence %d emitted %d tokens, want %d", s.ID, s.emitted, s.Output)
		}
		if !(s.submitted <= s.scheduled && s.scheduled < s.first && s.first <= s.finish) {
			return fmt.Errorf("sequence %d: submitted %d, scheduled %d, first token %d, finish %d, want this order",
				s.ID, s.submitted, s.scheduled, s.first, s.finish)
		}
	}
	for i, b := range r.pool.all {
		if b.holders != 0 {
			return fmt.Errorf("block %d is held in the end", i)
		}
	}
	return r.Check()
}
