package engine

// cache is a replica's pool of KV blocks. Blocks are never numbered: what counts is how many are empty, which leading
// blocks of each shared node are resident, who holds them, and the order of the rest in the free queue.
//
// In every slot the blocks [lo, held) have a holder, [held, lo+resident) wait in the free queue, and nothing beyond is
// resident. held is the longest extent of any holder. Indices into runs and sequences start at 1; 0 is none.
type cache struct {
	lay        *Layout
	slots      []slotState
	runs       []run
	spare      int32 // free list of runs, linked by next
	head, tail int32 // the free queue: eviction takes the head
	empty      int32 // blocks that hold nothing
	queued     int32 // blocks in the free queue
	evicted    int64
	watch      *watch // nil if nobody asks what changes
}

// slotState is one shared node on one replica.
type slotState struct {
	resident int32 // leading blocks that are cached
	full     int32 // sequences that hold all blocks of the node
	partial  int32 // list of the sequences whose shared run ends inside the node
	newest   int32 // its run with the lowest blocks, which is the one queued last
}

// run is a stretch of blocks [lo, hi) in the free queue, hi-1 being the oldest. Within a slot higher runs are older.
type run struct {
	slot         int32 // -1: private blocks
	owner        int32 // private blocks of a preempted sequence, which alone can hit them
	lo, hi       int32
	prev, next   int32 // in the queue; prev is nearer to eviction
	newer, older int32 // in the slot
}

func newCache(lay *Layout, blocks int) cache {
	return cache{lay: lay, slots: make([]slotState, len(lay.slots)), runs: make([]run, 1), empty: int32(blocks)}
}

// free returns the blocks that can be allocated.
func (c *cache) free() int32 { return c.empty + c.queued }

// push puts a run at the tail of the free queue and returns its index.
func (c *cache) push(r run) int32 {
	i := c.spare
	if i != 0 {
		c.spare = c.runs[i].next
	} else {
		i = int32(len(c.runs))
		c.runs = append(c.runs, run{})
	}
	r.prev, r.next = c.tail, 0
	if c.tail != 0 {
		c.runs[c.tail].next = i
	} else {
		c.head = i
	}
	c.tail = i
	if r.slot >= 0 {
		r.older = c.slots[r.slot].newest
		if r.older != 0 {
			c.runs[r.older].newer = i
		}
		c.slots[r.slot].newest = i
	}
	c.runs[i] = r
	c.queued += r.hi - r.lo
	return i
}

// drop unlinks a run that has no blocks left.
func (c *cache) drop(i int32) {
	r := &c.runs[i]
	if r.prev != 0 {
		c.runs[r.prev].next = r.next
	} else {
		c.head = r.next
	}
	if r.next != 0 {
		c.runs[r.next].prev = r.prev
	} else {
		c.tail = r.prev
	}
	if r.slot >= 0 {
		if r.newer != 0 {
			c.runs[r.newer].older = r.older
		} else {
			c.slots[r.slot].newest = r.older
		}
		if r.older != 0 {
			c.runs[r.older].newer = r.newer
		}
	}
	*r = run{next: c.spare}
	c.spare = i
}

// take allocates n blocks: empty ones first, then the oldest in the queue. There must be as many.
func (c *cache) take(n int32, seqs []seq) {
	m := min(n, c.empty)
	c.empty -= m
	if n -= m; n == 0 {
		return
	}
	c.queued -= n
	c.evicted += int64(n)
	for n > 0 {
		r := &c.runs[c.head]
		m := min(n, r.hi-r.lo)
		r.hi -= m
		n -= m
		if r.slot >= 0 {
			c.slots[r.slot].resident -= m
			if c.watch != nil {
				c.watch.mark(r.slot)
			}
		}
		if r.lo == r.hi {
			if r.owner != 0 {
				seqs[r.owner].private = 0
			}
			c.drop(c.head)
		}
	}
}

// resident returns how many leading blocks of a path are cached under its own identity.
func (c *cache) resident(path []int32) int32 {
	n := int32(0)
	for _, s := range path {
		st := &c.slots[s]
		n = c.lay.slots[s].lo + st.resident
		if n < c.lay.slots[s].hi {
			break
		}
	}
	return n
}

// waiting returns how many of the first n blocks of a path are in the free queue.
func (c *cache) waiting(path []int32, n int32) int32 {
	w := int32(0)
	for _, s := range path {
		if c.lay.slots[s].lo >= n {
			break
		}
		if i := c.slots[s].newest; i != 0 {
			w += max(0, min(n, c.lay.slots[s].hi)-c.runs[i].lo)
		}
	}
	return w
}

// pin makes sequence q a holder of the first n resident blocks of a path, n > 0 only if the path is not empty.
func (c *cache) pin(q int32, seqs []seq, path []int32, n int32) {
	for _, s := range path {
		if c.lay.slots[s].lo >= n {
			break
		}
		c.unqueue(s, min(n, c.lay.slots[s].hi))
		c.hold(q, seqs, s, n)
	}
	seqs[q].shared = n
}

// unqueue takes the blocks of slot s below end out of the free queue.
func (c *cache) unqueue(s, end int32) {
	for i := c.slots[s].newest; i != 0 && c.runs[i].lo < end; i = c.slots[s].newest {
		r := &c.runs[i]
		m := min(end, r.hi)
		c.queued -= m - r.lo
		r.lo = m
		if r.lo < r.hi {
			return
		}
		c.drop(i)
	}
}

// hold books q, whose shared run ends at block n, as a new holder in slot s.
func (c *cache) hold(q int32, seqs []seq, s, n int32) {
	st := &c.slots[s]
	if n >= c.lay.slots[s].hi {
		st.full++
	} else {
		seqs[q].nextPartial = st.partial
		st.partial = q
	}
	seqs[q].slot = s
}

// unlink removes q from the partial holders of slot s.
func (c *cache) unlink(q int32, seqs []seq, s int32) {
	p := &c.slots[s].partial
	for *p != q {
		p = &seqs[*p].nextPartial
	}
	*p = seqs[q].nextPartial
	seqs[q].nextPartial = 0
}

// held returns the end of the longest extent that anybody holds in slot s, as a block of the prompt.
func (c *cache) held(seqs []seq, s int32) int32 {
	st := &c.slots[s]
	if st.full > 0 {
		return c.lay.slots[s].hi
	}
	end := c.lay.slots[s].lo
	for q := st.partial; q != 0; q = seqs[q].nextPartial {
		end = max(end, seqs[q].shared)
	}
	return end
}

// extend caches the blocks of q up to full under the identities on its path, as far as nobody cached them before.
// path holds the slots from the one in which q's shared run ends, or the one below it.
func (c *cache) extend(q int32, seqs []seq, path []int32, full int32) {
	sq := &seqs[q]
	for _, s := range path {
		lo, hi := c.lay.slots[s].lo, c.lay.slots[s].hi
		if sq.shared >= hi {
			continue
		}
		st := &c.slots[s]
		if sq.shared >= full || lo+st.resident > sq.shared {
			return
		}
		if sq.shared > lo {
			c.unlink(q, seqs, s)
		}
		sq.shared = min(full, hi)
		st.resident = sq.shared - lo
		if c.watch != nil {
			c.watch.mark(s)
		}
		c.hold(q, seqs, s, sq.shared)
	}
}

// release ends q's hold on its shared run; blocks that nobody else holds are queued, last block first.
func (c *cache) release(q int32, seqs []seq) {
	end := seqs[q].shared
	if end == 0 {
		return
	}
	for s := seqs[q].slot; s >= 0; s = c.lay.slots[s].parent {
		if end < c.lay.slots[s].hi {
			c.unlink(q, seqs, s)
		} else {
			c.slots[s].full--
		}
		if h := c.held(seqs, s); h < end {
			c.push(run{slot: s, lo: h, hi: end})
		}
		end = c.lay.slots[s].lo
	}
	seqs[q].shared = 0
}
