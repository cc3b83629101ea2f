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

// remove takes out the one at place i; those before it keep their order.
func (l *line) remove(i int) {
	last := len(l.items) - 1
	for ; i > 0; i-- {
		l.items[(l.head+i)&last] = l.items[(l.head+i-1)&last]
	}
	l.head = (l.head + 1) & last
	l.n--
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
