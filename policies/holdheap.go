package policies

import (
	"container/heap"
	"time"
)

// held is a request in a HoldQueue.
type held struct {
	Held
	key   time.Duration // what its flow is ordered by
	order int64         // of arrival; decides between equals
	gone  bool
}

// heldHeap is requests in order of their key, or of their deadline.
type heldHeap struct {
	items []*held
	byDue bool
}

func (h *heldHeap) key(i int) time.Duration {
	if h.byDue {
		return h.items[i].Deadline
	}
	return h.items[i].key
}

func (h *heldHeap) Len() int { return len(h.items) }

func (h *heldHeap) Less(i, j int) bool {
	if a, b := h.key(i), h.key(j); a != b {
		return a < b
	}
	return h.items[i].order < h.items[j].order
}

func (h *heldHeap) Swap(i, j int) { h.items[i], h.items[j] = h.items[j], h.items[i] }

func (h *heldHeap) Push(x any) { h.items = append(h.items, x.(*held)) }

func (h *heldHeap) Pop() any {
	last := len(h.items) - 1
	x := h.items[last]
	h.items[last] = nil
	h.items = h.items[:last]
	return x
}

// first returns the next request that is not gone, nil if there is none. Those that are gone are dropped as they come up.
func (h *heldHeap) first() *held {
	for len(h.items) > 0 && h.items[0].gone {
		heap.Pop(h)
	}
	if len(h.items) == 0 {
		return nil
	}
	return h.items[0]
}

func (h *heldHeap) push(x *held) { heap.Push(h, x) }
