package traces

import "math"

// radix is the prefix forest while it grows: a node is a run of block ids in an arena of chunks. It is compressed at all
// times, so that memory and look-ups follow the number of nodes and not that of blocks.
//
// A node is known by (what it hangs on, first id, tokens of that block). What it hangs on is a node or, for a root, a
// scope s written as ^s. Only the last block of a run can be partial, and then nothing hangs on the node.
type radix struct {
	block  int32     // tokens of a full block
	chunks [][]int64 // the arena

	on    []int32 // the node before, or ^scope
	start []int64 // of the run: chunk << 32 | offset
	count []int32 // blocks in the run
	tail  []int32 // tokens of the last block

	table []int32 // hash table with linear probing: node + 1, 0 is free
}

func newRadix(block int32) *radix { return &radix{block: block, table: make([]int32, 64)} }

// add walks the path ids from the root of a scope, adding what is new, and returns the node that it ends at. The last
// block has tail tokens. A path has at least one block.
func (f *radix) add(scope int32, ids []int64, tail int32) int32 {
	at := ^scope
	for len(ids) > 0 {
		first := f.block
		if len(ids) == 1 {
			first = tail
		}
		slot := f.find(at, ids[0], first)
		if f.table[slot] == 0 {
			return f.insert(slot, at, ids, tail)
		}
		n := f.table[slot] - 1
		k := f.common(n, ids, tail)
		if k < int(f.count[n]) {
			n = f.split(slot, k)
		}
		at, ids = n, ids[k:]
	}
	return at
}

// common counts the blocks that a path and a node's run share from their starts.
func (f *radix) common(n int32, ids []int64, tail int32) int {
	run := f.run(n)
	m := min(len(run), len(ids))
	k := 0
	for k < m && run[k] == ids[k] {
		k++
	}
	a, b := f.block, f.block
	if k == len(run) {
		a = f.tail[n]
	}
	if k == len(ids) {
		b = tail
	}
	if a != b { // the same id with another number of tokens is another block
		k--
	}
	return k
}

// split cuts the node in a slot after k blocks. The lower part keeps its number, with all that hangs on it; the
// upper part takes the slot and is returned.
func (f *radix) split(slot, k int) int32 {
	low := f.table[slot] - 1
	up := f.push(f.on[low], f.start[low], int32(k), f.block)
	f.table[slot] = up + 1
	f.on[low], f.start[low], f.count[low] = up, f.start[low]+int64(k), f.count[low]-int32(k)
	f.table[f.find(up, f.run(low)[0], f.first(low))] = low + 1
	f.grow()
	return up
}

func (f *radix) insert(slot int, on int32, ids []int64, tail int32) int32 {
	n := f.push(on, f.store(ids), int32(len(ids)), tail)
	f.table[slot] = n + 1
	f.grow()
	return n
}

func (f *radix) push(on int32, start int64, count, tail int32) int32 {
	f.on = append(f.on, on)
	f.start = append(f.start, start)
	f.count = append(f.count, count)
	f.tail = append(f.tail, tail)
	return int32(len(f.on) - 1)
}

// store copies a run to the arena. A run lies in one chunk.
func (f *radix) store(ids []int64) int64 {
	const size = 1 << 15
	last := len(f.chunks) - 1
	if last < 0 || cap(f.chunks[last])-len(f.chunks[last]) < len(ids) {
		f.chunks = append(f.chunks, make([]int64, 0, max(size, len(ids))))
		last++
	}
	at := len(f.chunks[last])
	f.chunks[last] = append(f.chunks[last], ids...)
	return int64(last)<<32 | int64(at)
}

// run returns a node's ids.
func (f *radix) run(n int32) []int64 {
	at := f.start[n]
	return f.chunks[at>>32][at&math.MaxUint32:][:f.count[n]]
}

// first returns the tokens of a node's first block.
func (f *radix) first(n int32) int32 {
	if f.count[n] == 1 {
		return f.tail[n]
	}
	return f.block
}

// find returns the slot of a node, or the free one where it belongs.
func (f *radix) find(on int32, id int64, tokens int32) int {
	mask := len(f.table) - 1
	slot := int(mix(mix(uint64(uint32(on))<<32|uint64(uint32(tokens)))^uint64(id))) & mask
	for f.table[slot] != 0 {
		n := f.table[slot] - 1
		if f.on[n] == on && f.run(n)[0] == id && f.first(n) == tokens {
			break
		}
		slot = (slot + 1) & mask
	}
	return slot
}

// grow keeps the table at most half full.
func (f *radix) grow() {
	if 2*len(f.on) <= len(f.table) {
		return
	}
	f.table = make([]int32, 4*len(f.table))
	for n := range f.on {
		f.table[f.find(f.on[n], f.run(int32(n))[0], f.first(int32(n)))] = int32(n) + 1
	}
}

// finish numbers the nodes in order of their first walk and returns the forest; leaf is renumbered in place. salts
// has a number for each scope that its hashes start from.
func (f *radix) finish(leaf []int32, salts []uint64) Forest {
	number, order := f.number(leaf)
	out := Forest{
		Parent: make([]int32, len(order)),
		End:    make([]int32, len(order)),
		Walks:  make([]int32, len(order)),
		Hash:   make([]uint64, len(order)),
	}
	id := uint64(0)
	for n, old := range order {
		end, hash := int32(0), uint64(0)
		if on := f.on[old]; on >= 0 {
			p := number[on]
			out.Parent[n], end, hash = p, out.End[p], out.Hash[p]
		} else {
			out.Parent[n], hash = -1, salts[^on]
		}
		for k := range f.count[old] {
			tokens := f.block
			if k == f.count[old]-1 {
				tokens = f.tail[old]
			}
			end += tokens
			hash = mix(hash ^ mix(id<<32|uint64(tokens)))
			id++
		}
		out.End[n], out.Hash[n] = end, hash
	}
	out.count(leaf)
	return out
}

// number renumbers the leaves' nodes, parents first. It returns old to new and new to old.
func (f *radix) number(leaf []int32) (number, order []int32) {
	number = make([]int32, len(f.on))
	for i := range number {
		number[i] = -1
	}
	order = make([]int32, 0, len(f.on))
	var path []int32
	for i, l := range leaf {
		if l < 0 {
			continue
		}
		path = path[:0]
		for n := l; n >= 0 && number[n] < 0; n = f.on[n] {
			path = append(path, n)
		}
		for k := len(path) - 1; k >= 0; k-- {
			number[path[k]] = int32(len(order))
			order = append(order, path[k])
		}
		leaf[i] = number[l]
	}
	return number, order
}

// count fills Walks: every request walks its leaf and all that is above.
func (f *Forest) count(leaf []int32) {
	for _, l := range leaf {
		if l >= 0 {
			f.Walks[l]++
		}
	}
	for n := len(f.Parent) - 1; n >= 0; n-- {
		if p := f.Parent[n]; p >= 0 {
			f.Walks[p] += f.Walks[n]
		}
	}
}

// mix is the finaliser of splitmix64 (https://prng.di.unimi.it/splitmix64.c) after one step of its counter.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
