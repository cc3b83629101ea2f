package sim

import (
	"cmp"
	"container/heap"
	"errors"
	"fmt"
	"math"

	"github.com/seed-2cee110a/triage/engine"
	"github.com/seed-2cee110a/triage/traces"
)

// turns is which request follows which, and how long after its answer.
type turns struct {
	first []int32       // rows that wait for nobody, in order of arrival
	start []int32       // by row: where its followers begin in after; one more for the end
	after []int32       // rows that wait for another
	think []engine.Time // by row: from the answer of the turn before; 0 for first turns
}

// closeSessions finds out which request waits for which.
func (s *Stage) closeSessions() error {
	before := s.trace.Previous()
	if before == nil {
		return errors.New("closed sessions need to know which request follows which, but the trace names neither parents nor sessions; replay it with open ones")
	}
	before = before[:s.cfg.Limit]
	t := &turns{start: make([]int32, len(before)+1), think: make([]engine.Time, len(before))}
	for row, p := range before {
		if p == traces.Unknown {
			t.first = append(t.first, int32(row))
			continue
		}
		think, err := s.think(row, int(p))
		if err != nil {
			return err
		}
		t.think[row] = think
		t.start[p+1]++
	}
	for row := range before {
		t.start[row+1] += t.start[row]
	}
	t.after = make([]int32, len(before)-len(t.first))
	fill := append([]int32(nil), t.start...)
	for row, p := range before {
		if p != traces.Unknown {
			t.after[fill[p]] = int32(row)
			fill[p]++
		}
	}
	s.turns = t
	return nil
}

// think returns how long after the answer to row parent a row comes: as the trace says, or as its log shows, from the end
// of the one to the start of the other, or as configured.
func (s *Stage) think(row, parent int) (engine.Time, error) {
	t := s.trace
	ns := t.ThinkNs(row)
	if ns == traces.Unknown {
		switch e2e := t.E2ENsObs(parent); {
		case e2e != traces.Unknown:
			ns = max(0, t.ArrivalNs[row]-t.ArrivalNs[parent]-e2e)
		case s.cfg.Think > 0:
			ns = int64(s.cfg.Think)
		default:
			return 0, fmt.Errorf("closed sessions need the time from an answer to the next turn: for request %d (line %d) the trace says no think time, and no E2E of the turn before it; give --think, such as --think 10s",
				row+1, t.Line[row])
		}
	}
	x := float64(ns) * 1000 / s.cfg.Speed
	if s.cfg.Speed == 1 && ns <= int64(lastArrival)/1000 {
		return engine.Time(ns) * engine.Nanosecond, nil
	}
	if !(x >= 0 && x <= float64(lastArrival)) {
		return 0, fmt.Errorf("request %d comes %.0f s after the answer before it, want at most %.0f s", row+1, float64(ns)/1e9/s.cfg.Speed, lastArrival.Seconds())
	}
	return engine.Time(math.Round(x)), nil
}

// chain is the arrivals of a run with closed sessions: first turns as logged, later ones as the answers come.
type chain struct {
	*turns
	arrivals []engine.Time // of first turns, by row
	opened   int           // first turns that have arrived
	due      []turn        // later turns whose time is known: a heap by time, then row
}

type turn struct {
	at  engine.Time
	row int32
}

func newChain(s *Stage) *chain {
	if s.turns == nil {
		return nil
	}
	return &chain{turns: s.turns, arrivals: s.arrivals}
}

func (a turn) compare(b turn) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.row, b.row)) }

// front returns the next request to arrive; its time is Never if none is known.
func (c *chain) front() turn {
	next := turn{at: engine.Never}
	if c.opened < len(c.first) {
		row := c.first[c.opened]
		next = turn{c.arrivals[row], row}
	}
	if len(c.due) > 0 && c.due[0].compare(next) < 0 {
		next = c.due[0]
	}
	return next
}

func (c *chain) next() engine.Time { return c.front().at }

// take takes the next request to arrive and returns its row.
func (c *chain) take() int32 {
	t := c.front()
	if len(c.due) > 0 && c.due[0] == t {
		heap.Pop((*turnHeap)(&c.due))
	} else {
		c.opened++
	}
	return t.row
}

// ended tells that a request was answered, refused or given up at an instant.
func (c *chain) ended(row int32, at engine.Time) {
	for _, next := range c.after[c.start[row]:c.start[row+1]] {
		heap.Push((*turnHeap)(&c.due), turn{at + c.think[next], next})
	}
}

// turnHeap is a heap of turns, the next one first.
type turnHeap []turn

func (h turnHeap) Len() int           { return len(h) }
func (h turnHeap) Less(i, j int) bool { return h[i].compare(h[j]) < 0 }
func (h turnHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *turnHeap) Push(x any)        { *h = append(*h, x.(turn)) }

func (h *turnHeap) Pop() any {
	last := len(*h) - 1
	t := (*h)[last]
	*h = (*h)[:last]
	return t
}
