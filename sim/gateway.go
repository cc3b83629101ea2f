package sim

import "github.com/seed-2cee110a/triage/engine"

// gate is the queue at the gateway: first come, first served, everyone with the same patience, so that the head gives
// up first.
type gate struct {
	rows  []int32
	until []engine.Time
	head  int
	limit int // 0 is none
}

func (g *gate) len() int { return len(g.rows) - g.head }

func (g *gate) full() bool { return g.limit > 0 && g.len() >= g.limit }

func (g *gate) push(row int32, until engine.Time) {
	g.rows = append(g.rows, row)
	g.until = append(g.until, until)
}

func (g *gate) front() int32 { return g.rows[g.head] }

func (g *gate) pop() int32 {
	row := g.rows[g.head]
	g.head++
	if g.head == len(g.rows) {
		g.rows, g.until, g.head = g.rows[:0], g.until[:0], 0
	}
	return row
}

// deadline returns when the head gives up.
func (g *gate) deadline() engine.Time {
	if g.len() == 0 {
		return engine.Never
	}
	return g.until[g.head]
}
