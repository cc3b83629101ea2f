package calibrate

import (
	"container/heap"
	"math"
	"slices"

	"github.com/seed-2cee110a/triage/engine"
)

// Shares for lookForWindow.
const (
	nearWindow = 64  // within a 64th of the most in flight a driver counts as saturated
	saturated  = 0.2 // of the arrivals find it so: chance alone never does that
	leastHeld  = 8   // in flight; below, chance does
)

// lookForWindow finds out whether the driver held a fixed number in flight: then many arrivals find the same largest
// number.
func (l *Log) lookForWindow() {
	if l.window > 0 { // the log says it
		return
	}
	found := l.inFlight()
	top := slices.Max(found)
	var gated []int
	for i, n := range found {
		if n >= top-top/nearWindow {
			gated = append(gated, i)
		}
	}
	if top+1 < leastHeld || float64(len(gated)) < saturated*float64(len(found)) || len(l.replicas()) > 1 {
		return
	}
	l.window = top + 1
	for _, i := range gated {
		l.Requests[i].gated = true
	}
	l.note("the driver held %d requests in flight at most, and %.0f %% of them waited for another to finish: played so", l.window, 100*float64(len(gated))/float64(len(found)))
}

// inFlight counts for each request those that were in flight when it arrived.
func (l *Log) inFlight() []int {
	var ends times
	out := make([]int, len(l.Requests))
	for i := range l.Requests {
		r := &l.Requests[i]
		for len(ends) > 0 && ends[0] <= r.At {
			heap.Pop(&ends)
		}
		out[i] = len(ends)
		if !math.IsNaN(r.E2E) {
			heap.Push(&ends, r.At+fromSeconds(r.E2E))
		}
	}
	return out
}

// times is a heap.
type times []engine.Time

func (t times) Len() int           { return len(t) }
func (t times) Less(i, j int) bool { return t[i] < t[j] }
func (t times) Swap(i, j int)      { t[i], t[j] = t[j], t[i] }
func (t *times) Push(x any)        { *t = append(*t, x.(engine.Time)) }
func (t *times) Pop() any {
	old := *t
	x := old[len(old)-1]
	*t = old[:len(old)-1]
	return x
}
