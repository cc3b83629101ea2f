package sim

import "github.com/seed-2cee110a/triage/engine"

// gate is the queue at the gateway. It has a line for each kind of request that other replicas can serve than the rest:
// requests that wait for one model do not stop those for another. A line is first come, first served, and everyone has the
// same patience, so that its head gives up first.
type gate struct {
	lines []line
	n     int // requests held, in all lines
	limit int // 0 is none
}

// line is a queue of its own.
type line struct {
	rows  []int32
	until []engine.Time
	head  int
	stuck bool // its head could not go out at this instant
}

func newGate(lines, limit int) gate { return gate{lines: make([]line, lines), limit: limit} }

func (g *gate) len() int { return g.n }

func (g *gate) full() bool { return g.limit > 0 && g.n >= g.limit }

// free says whether nobody stands in a line.
func (g *gate) free(line int32) bool { return g.lines[line].len() == 0 }

func (g *gate) push(line, row int32, until engine.Time) {
	l := &g.lines[line]
	l.rows = append(l.rows, row)
	l.until = append(l.until, until)
	g.n++
}

// next returns the line that is not stuck whose head came first, nil if there is none.
func (g *gate) next() *line {
	var first *line
	if g.n == 0 {
		return nil
	}
	for i := range g.lines {
		if l := &g.lines[i]; l.len() > 0 && !l.stuck && (first == nil || l.before(first)) {
			first = l
		}
	}
	return first
}

// unstick lets all lines move again.
func (g *gate) unstick() {
	for i := range g.lines {
		g.lines[i].stuck = false
	}
}

// pop takes the head of a line away.
func (g *gate) pop(l *line) int32 {
	row := l.rows[l.head]
	l.head++
	g.n--
	if l.head == len(l.rows) {
		l.rows, l.until, l.head = l.rows[:0], l.until[:0], 0
	}
	return row
}

// deadline returns when the first of the heads gives up.
func (g *gate) deadline() engine.Time {
	t := engine.Never
	if g.n == 0 {
		return t
	}
	for i := range g.lines {
		if l := &g.lines[i]; l.len() > 0 {
			t = min(t, l.until[l.head])
		}
	}
	return t
}

func (l *line) len() int { return len(l.rows) - l.head }

func (l *line) front() int32 { return l.rows[l.head] }

// before says whether the head of l came before that of other.
func (l *line) before(other *line) bool {
	a, b := l.until[l.head], other.until[other.head]
	return a < b || a == b && l.front() < other.front()
}
