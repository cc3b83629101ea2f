package engine

import "slices"

// due is something that happens to a decoding sequence when decoders.count comes to at; of two at once the lower order
// is first.
type due struct {
	at    int64
	seq   int32
	order int32
}

func before(a, b due) bool { return a.at < b.at || a.at == b.at && a.order < b.order }

// dueHeap is a binary heap, earliest first.
type dueHeap []due

func (h *dueHeap) push(d due) {
	*h = append(*h, d)
	s := *h
	i := len(s) - 1
	for i > 0 {
		p := (i - 1) / 2
		if !before(d, s[p]) {
			break
		}
		s[i] = s[p]
		i = p
	}
	s[i] = d
}

// remove takes out a sequence, if it is there.
func (h *dueHeap) remove(seq int32) {
	if i := slices.IndexFunc(*h, func(d due) bool { return d.seq == seq }); i >= 0 {
		h.removeAt(i)
	}
}

// removeAt takes out what is at place i.
func (h *dueHeap) removeAt(i int) {
	s := *h
	last := s[len(s)-1]
	s = s[:len(s)-1]
	*h = s
	if i == len(s) {
		return
	}
	for {
		c := 2*i + 1
		if c >= len(s) {
			break
		}
		if c+1 < len(s) && before(s[c+1], s[c]) {
			c++
		}
		if !before(s[c], last) {
			break
		}
		s[i] = s[c]
		i = c
	}
	for i > 0 {
		p := (i - 1) / 2
		if !before(last, s[p]) {
			break
		}
		s[i] = s[p]
		i = p
	}
	s[i] = last
}
