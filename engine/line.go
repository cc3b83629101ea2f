package engine

// line is the waiting queue: a ring of sequence indices.
type line struct {
	items   []int32 // length a power of two
	head, n int
}

func (l *line) len() int { return l.n }

func (l *line) at(i int) int32 { return l.items[(l.head+i)&(len(l.items)-1)] }

func (l *line) pushBack(q int32) {
	l.grow()
	l.items[(l.head+l.n)&(len(l.items)-1)] = q
	l.n++
}

func (l *line) pushFront(q int32) {
	l.grow()
	l.head = (l.head - 1) & (len(l.items) - 1)
	l.items[l.head] = q
	l.n++
}

func (l *line) popFront() int32 {
	q := l.items[l.head]
	l.head = (l.head + 1) & (len(l.items) - 1)
	l.n--
	return q
}

func (l *line) grow() {
	if l.n < len(l.items) {
		return
	}
	items := make([]int32, max(8, 2*l.n))
	for i := range l.n {
		items[i] = l.at(i)
	}
	l.items, l.head = items, 0
}
