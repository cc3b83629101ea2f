package engine

// Layout is a forest cut into the blocks of one block size: what all replicas of all runs share. Only nodes that two
// requests or more walk, and in which at least one block ends, get a slot; no other block can be hit by anybody but its
// own sequence.
type Layout struct {
	blockSize int32
	slot      []int32 // by node: the slot of the deepest shared node on its path, itself included; -1 if there is none
	slots     []slot
	nodes     []slotNode // parallel to slots
}

// slot is a shared node: its blocks are [lo, hi), counted from the start of the prompt.
type slot struct {
	parent int32 // the slot before, -1 at a root
	lo, hi int32
}

// slotNode is where a slot comes from.
type slotNode struct {
	node  int32 // of the forest
	start int32 // tokens of the prompt before it
}

// NewLayout cuts a forest into blocks of blockSize tokens.
func NewLayout(f *Forest, blockSize int) *Layout {
	l := &Layout{blockSize: int32(blockSize), slot: make([]int32, len(f.Parent))}
	for n, p := range f.Parent {
		up, start := int32(-1), int32(0)
		if p >= 0 {
			up, start = l.slot[p], f.End[p]
		}
		lo, hi := start/l.blockSize, f.End[n]/l.blockSize
		if f.Walks[n] < 2 || lo == hi {
			l.slot[n] = up
			continue
		}
		l.slot[n] = int32(len(l.slots))
		l.slots = append(l.slots, slot{up, lo, hi})
		l.nodes = append(l.nodes, slotNode{int32(n), start})
	}
	return l
}

// leafSlot returns the slot at which the shared part of a leaf's path ends, -1 if there is none.
func (l *Layout) leafSlot(leaf int32) int32 {
	if leaf < 0 {
		return -1
	}
	return l.slot[leaf]
}

// path appends the slots from just below stop (or the root, if stop is not on the path) down to slot.
func (l *Layout) path(buf []int32, slot, stop int32) []int32 {
	for s := slot; s >= 0 && s != stop; s = l.slots[s].parent {
		buf = append(buf, s)
	}
	for i, j := 0, len(buf)-1; i < j; i, j = i+1, j-1 {
		buf[i], buf[j] = buf[j], buf[i]
	}
	return buf
}

// passes says whether the path down to slot goes through the slot through.
func (l *Layout) passes(slot, through int32) bool {
	for slot > through { // a parent comes before its children
		slot = l.slots[slot].parent
	}
	return slot == through
}
