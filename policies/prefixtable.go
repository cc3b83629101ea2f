package policies

// entry is a block that at least one replica has.
type entry struct {
	hash uint64
	id   int32  // its own index in hashTable.entries
	row  int32  // first of its slots, 0 while it has none
	n    int32  // slots
	unit int32  // it may be cut at multiples of this many tokens; 0: only whole
	size uint8  // the row has room for 2^size slots
	uses uint32 // requests that were sent with it since it is there
}

// hashTable finds blocks by hash: open addressing with linear probing, at most half full. With a Go map instead, Match
// and Insert of three blocks took 1.8 times as long on 8 replicas, and every request pays for both.
type hashTable struct {
	cells   []cell // a power of two
	shift   uint8  // 32 - log2 of len(cells)
	used    int
	entries []entry // the first is nobody's
	free    int32   // head of the list of free entries, linked by row; 0: none
}

// cell is a place of the table. The tag tells most blocks apart, and where their probes began, without a look at the
// entry.
type cell struct {
	tag uint32 // upper half of the spread hash
	id  int32  // index into entries, 0: empty
}

// find returns a block's entry, nil if there is none. It is valid until the next findOrAdd.
func (t *hashTable) find(hash uint64) *entry {
	if t.used == 0 {
		return nil
	}
	tag, mask := spread(hash), len(t.cells)-1
	for i := t.home(tag); ; i = (i + 1) & mask {
		c := t.cells[i&mask]
		if c.id == 0 {
			return nil
		}
		if c.tag == tag {
			if e := &t.entries[c.id]; e.hash == hash {
				return e
			}
		}
	}
}

// findOrAdd returns a block's entry, a new one without slots if there was none.
func (t *hashTable) findOrAdd(hash uint64) *entry {
	if e := t.find(hash); e != nil {
		return e
	}
	if 2*(t.used+1) > len(t.cells) {
		t.grow()
	}
	id := t.take()
	t.entries[id] = entry{hash: hash, id: id}
	t.used++
	t.put(cell{spread(hash), id})
	return &t.entries[id]
}

// remove takes an entry out and closes the gap, so that no probe stops too early.
func (t *hashTable) remove(id int32) {
	mask := len(t.cells) - 1
	gap := t.home(spread(t.entries[id].hash))
	for t.cells[gap].id != id {
		gap = (gap + 1) & mask
	}
	for i := (gap + 1) & mask; t.cells[i].id != 0; i = (i + 1) & mask {
		if home := t.home(t.cells[i].tag); (i-home)&mask >= (i-gap)&mask {
			t.cells[gap] = t.cells[i]
			gap = i
		}
	}
	t.cells[gap] = cell{}
	t.used--
	t.entries[id] = entry{row: t.free}
	t.free = id
}

// spread mixes a hash, which may be of any quality (Knuth, TAOCP 6.4).
func spread(hash uint64) uint32 { return uint32(hash * 0x9e3779b97f4a7c15 >> 32) }

// home is where the probe for a tag begins.
func (t *hashTable) home(tag uint32) int { return int(tag >> t.shift) }

func (t *hashTable) put(c cell) {
	mask := len(t.cells) - 1
	i := t.home(c.tag)
	for t.cells[i].id != 0 {
		i = (i + 1) & mask
	}
	t.cells[i] = c
}

func (t *hashTable) take() int32 {
	if id := t.free; id != 0 {
		t.free = t.entries[id].row
		return id
	}
	t.entries = append(t.entries, entry{})
	return int32(len(t.entries) - 1)
}

// grow doubles the cells, up to 2^32 of them.
func (t *hashTable) grow() {
	if len(t.cells) == 0 {
		t.cells, t.shift, t.entries = make([]cell, 16), 28, make([]entry, 1)
		return
	}
	old := t.cells
	t.cells, t.shift = make([]cell, 2*len(old)), t.shift-1
	for _, c := range old {
		if c.id != 0 {
			t.put(c)
		}
	}
}
