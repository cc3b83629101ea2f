package engine

import "fmt"

// Check recounts everything that the cache keeps running totals of and returns the first that is off. It is for tests:
// it looks at every slot.
func (e *Engine) Check() error {
	c := &e.cache
	if err := e.checkAdapters(); err != nil {
		return err
	}
	inSlots, err := c.checkSlots(e.seqs)
	if err != nil {
		return err
	}
	queued, private := c.countQueue()
	if queued != c.queued {
		return fmt.Errorf("free queue holds %d blocks, booked %d", queued, c.queued)
	}
	for _, q := range e.running {
		held := e.blocks(e.computed(&e.seqs[q])) - e.seqs[q].shared
		for _, ch := range e.chunks {
			if ch.seq == q {
				held = e.blocks(e.seqs[q].computed+ch.tokens) - e.seqs[q].shared
			}
		}
		if e.steps > 0 && e.seqs[q].decoding {
			held = e.blocks(e.computed(&e.seqs[q])+1) - e.seqs[q].shared
		}
		private += held
	}
	if n := c.empty + inSlots + private; e.steps == 0 && int(n) != e.cfg.KVBlocks {
		return fmt.Errorf("%d empty + %d shared + %d private blocks, pool has %d", c.empty, inSlots, private, e.cfg.KVBlocks)
	}
	if len(e.running) == 0 && int(c.free()) != e.cfg.KVBlocks {
		return fmt.Errorf("nothing runs and %d of %d blocks are held", e.cfg.KVBlocks-int(c.free()), e.cfg.KVBlocks)
	}
	return nil
}

// checkAdapters recounts the running sequences of every adapter.
func (e *Engine) checkAdapters() error {
	running, busy := map[int32]int32{}, 0
	for _, q := range e.running {
		running[e.seqs[q].Adapter]++
	}
	delete(running, 0)
	for i, s := range e.loras.slots {
		if n := running[s.adapter]; n != s.running {
			return fmt.Errorf("adapter slot %d: %d sequences of adapter %d run, booked %d", i, n, s.adapter, s.running)
		}
		if s.running > 0 {
			busy++
		}
		delete(running, s.adapter)
	}
	if len(running) > 0 || busy != e.loras.busy {
		return fmt.Errorf("%d adapters run, booked %d; %d run without a slot", busy, e.loras.busy, len(running))
	}
	return nil
}

// checkSlots checks every slot's runs against its resident and held blocks and returns the resident blocks of all.
func (c *cache) checkSlots(seqs []seq) (int32, error) {
	total := int32(0)
	for i := range c.slots {
		s, st := int32(i), &c.slots[i]
		total += st.resident
		at := c.held(seqs, s)
		for r := st.newest; r != 0; r = c.runs[r].older {
			if c.runs[r].lo != at {
				return 0, fmt.Errorf("slot %d: a run starts at block %d, want %d", s, c.runs[r].lo, at)
			}
			at = c.runs[r].hi
		}
		if at != c.lay.slots[s].lo+st.resident {
			return 0, fmt.Errorf("slot %d: runs end at block %d, resident at %d", s, at, c.lay.slots[s].lo+st.resident)
		}
		if p := c.lay.slots[s].parent; p >= 0 && st.resident > 0 && c.slots[p].resident < c.lay.slots[p].hi-c.lay.slots[p].lo {
			return 0, fmt.Errorf("slot %d is resident, its parent is not whole", s)
		}
	}
	return total, nil
}

// countQueue returns the blocks in the free queue, and how many of them are private.
func (c *cache) countQueue() (queued, private int32) {
	for i := c.head; i != 0; i = c.runs[i].next {
		n := c.runs[i].hi - c.runs[i].lo
		queued += n
		if c.runs[i].slot < 0 {
			private += n
		}
	}
	return queued, private
}
