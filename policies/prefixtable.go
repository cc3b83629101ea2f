package policies

// entry is a block that at least one replica has.
type entry struct {
	hash uint64
	id   int32 // its own index in hashTable.entries
	row  int32 // first of its slots, 0 while it has none
	n    int32 // slots
	unit int32 // it may be cut at multiples of this many tokens; 0: only whole
	size uint8 // the row has room for 2^size slots
}

// hashTable finds blocks by hash: open addressing with linear probing, at most half full. With a Go map instead, Match
// and Insert of three blocks took 1.8 times as long on 8 replicas, and every request pays for both.
type hashTable struct {
	cells   []int32 // indices into entries, 0: empty; a power of two
	shift   uint8   // 64 - log2 of len(cells)
	used    int
	entries []entry // the first is nobody's
	free    int32   // head of the list of free entries, linked by row; 0: none
}

// find returns a block's entry, nil if there is none. It is valid until the next findOrAdd.
func (t *hashTable) find(hash uint64) *entry {
	if t.used == 0 {
		return nil
	}
	mask := len(t.cells) - 1
	for i := t.home(hash); ; i = (i + 1) & mask {
		id := t.cells[i&mask]
		if id == 0 {
			return nil
		}
		if e := &t.entries[id]; e.hash == hash {
			return e
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
	t.put(id)
	return &t.entries[id]
}

// remove takes an entry out and closes the gap, so that no probe stops too early.
func (t *hashTable) remove(id int32) {
	mask := len(t.cells) - 1
	gap := t.home(t.entries[id].hash)
	for t.cells[gap] != id {
		gap = (gap + 1) & mask
	}
	for i := (gap + 1) & mask; t.cells[i] != 0; i = (i + 1) & mask {
		home := t.home(t.entries[t.cells[i]].hash)
		if (i-home)&mask >= (i-gap)&mask {
			t.cells[gap] = t.cells[i]
			gap = i
		}
	}
	t.cells[gap] = 0
	t.used--
	t.entries[id] = entry{row: t.free}
	t.free = id
}

// home is where the probe for a hash begins. Hashes may be of any quality, so they are spread (Knuth, TAOCP 6.4).
func (t *hashTable) home(hash uint64) int { return int(hash * 0x9e3779b97f4a7c15 >> t.shift) }

func (t *hashTable) put(id int32) {
	mask := len(t.cells) - 1
	i := t.home(t.entries[id].hash)
	for t.cells[i] != 0 {
		i = (i + 1) & mask
	}
	t.cells[i] = id
}

func (t *hashTable) take() int32 {
	if id := t.free; id != 0 {
		t.free = t.entries[id].row
		return id
	}
	t.entries = append(t.entries, entry{})
	return int32(len(t.entries) - 1)
}

// grow doubles the cells.
func (t *hashTable) grow() {
	if len(t.cells) == 0 {
		t.cells, t.shift, t.entries = make([]int32, 16), 60, make([]entry, 1)
		return
	}
	old := t.cells
	t.cells, t.shift = make([]int32, 2*len(old)), t.shift-1
	for _, id := range old {
		if id != 0 {
			t.put(id)
		}
	}
}
