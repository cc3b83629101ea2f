package policies

import "time"

// slab holds the slots of all blocks. The slots of one block are a row: they lie side by side, in no order, with room
// for a power of two of them. Rows move as they grow and shrink; place 0 is nobody's.
type slab struct {
	slots []slot
	free  [rowSizes]int32 // heads of the lists of free rows by size, linked by next; 0: none
}

// rowSizes bounds a row to 2^(rowSizes-1) slots.
const rowSizes = 24

// slot says that a replica has a block. It is linked into the replica's list.
type slot struct {
	touched    time.Duration // last use
	prev, next int32         // more and less recent neighbours
	entry      int32         // the block
	replica    int32
	tokens     int32 // of the block, from its start
	inFlight   int32 // requests in flight on the replica that use it
}

// list is a replica's slots in order of use: a ring through a slot of its own.
type list struct {
	ring   int32 // its next is the most recent, its prev the oldest
	tokens int64 // sum over the list; 0 exactly if it is empty
}

func newSlab() slab { return slab{slots: make([]slot, 1)} }

func (s *slab) newList() list {
	ring := s.take(0)
	s.slots[ring] = slot{prev: ring, next: ring}
	return list{ring: ring}
}

func (s *slab) oldest(l *list) int32 { return s.slots[l.ring].prev }

// use makes a slot the most recent of its list, with these tokens and one request in flight more.
func (s *slab) use(l *list, at int32, tokens int32, now time.Duration) {
	if s.slots[at].next != 0 {
		s.unlink(l, at)
	}
	x, ring := &s.slots[at], &s.slots[l.ring]
	x.touched, x.tokens = now, tokens
	x.inFlight++
	x.prev, x.next = l.ring, ring.next
	s.slots[ring.next].prev = at
	ring.next = at
	l.tokens += int64(tokens)
}

func (s *slab) unlink(l *list, at int32) {
	x := &s.slots[at]
	s.slots[x.prev].next = x.next
	s.slots[x.next].prev = x.prev
	l.tokens -= int64(x.tokens)
}

// row returns the slots of a block.
func (s *slab) row(e *entry) []slot { return s.slots[e.row : e.row+e.n] }

// find returns the place of the replica's slot of a block, 0 if it has none.
func (s *slab) find(e *entry, replica int32) int32 {
	row := s.row(e)
	for i := range row {
		if row[i].replica == replica {
			return e.row + int32(i)
		}
	}
	return 0
}

// add gives a block a slot more and returns its place. The slot must be used before anything else happens.
func (s *slab) add(e *entry, replica int32) int32 {
	switch {
	case e.row == 0:
		e.row, e.size = s.take(0), 0
	case e.n == 1<<e.size:
		s.resize(e, e.size+1)
	}
	at := e.row + e.n
	e.n++
	s.slots[at] = slot{entry: e.id, replica: replica}
	return at
}

// remove takes an unlinked slot from its block.
func (s *slab) remove(e *entry, at int32) {
	e.n--
	if last := e.row + e.n; at != last {
		s.move(last, at)
	}
	switch {
	case e.n == 0:
		s.give(e.row, e.size)
		e.row = 0
	case e.n<<2 <= 1<<e.size:
		s.resize(e, e.size-1)
	}
}

// resize moves a block's slots to a row of another size.
func (s *slab) resize(e *entry, size uint8) {
	to := s.take(size)
	for i := range e.n {
		s.move(e.row+i, to+i)
	}
	s.give(e.row, e.size)
	e.row, e.size = to, size
}

func (s *slab) move(from, to int32) {
	x := s.slots[from]
	s.slots[to] = x
	s.slots[x.prev].next = to
	s.slots[x.next].prev = to
}

// take returns a row of 2^size slots.
func (s *slab) take(size uint8) int32 {
	if row := s.free[size]; row != 0 {
		s.free[size] = s.slots[row].next
		return row
	}
	row := int32(len(s.slots))
	for range 1 << size {
		s.slots = append(s.slots, slot{})
	}
	return row
}

// give returns a row to the free ones.
func (s *slab) give(row int32, size uint8) {
	s.slots[row].next = s.free[size]
	s.free[size] = row
}
