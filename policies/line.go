package policies

// line is a queue whose items are known by their serial numbers, from 0 on.
type line[T any] struct {
	items []T
	head  int   // of those that are left
	next  int64 // serial number of items[head]
}

// push appends an item and returns its serial number.
func (l *line[T]) push(x T) int64 {
	if l.head > 64 && 2*l.head > len(l.items) {
		l.items = l.items[:copy(l.items, l.items[l.head:])]
		l.head = 0
	}
	l.items = append(l.items, x)
	return l.next + int64(len(l.all())-1)
}

// all returns those that are left, in order.
func (l *line[T]) all() []T { return l.items[l.head:] }

func (l *line[T]) empty() bool { return l.head == len(l.items) }

// first returns the one that is longest in the line, nil if there is none.
func (l *line[T]) first() *T {
	if l.empty() {
		return nil
	}
	return &l.items[l.head]
}

// pop drops the first.
func (l *line[T]) pop() {
	l.head++
	l.next++
}

// find returns the item with a serial number, nil if it was dropped.
func (l *line[T]) find(serial int64) *T {
	if serial < l.next {
		return nil
	}
	return &l.all()[serial-l.next]
}
