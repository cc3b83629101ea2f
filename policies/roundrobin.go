package policies

import "time"

// RoundRobin gives each capable replica a turn, in the natural order of their names (r2 before r10). Requests of
// different models or needs take separate turns, so that one kind does not shift another's. The turn moves in
// Dispatched only.
type RoundRobin struct {
	last map[turn]string // name of the replica that served last
}

type turn struct {
	model ID
	needs Caps
}

var (
	_ Policy   = (*RoundRobin)(nil)
	_ Observer = (*RoundRobin)(nil)
)

// Pick chooses the first capable replica after the last one served.
func (p *RoundRobin) Pick(r *Request, v *View, d *Decision) {
	last := p.last[turnOf(r)]
	pickPlain(r, v, d, func(i, j int) bool {
		a, b := v.Replicas[i].Name, v.Replicas[j].Name
		if laterA, laterB := before(last, a), before(last, b); laterA != laterB {
			return laterA
		}
		return before(a, b)
	})
}

// Dispatched moves the turn.
func (p *RoundRobin) Dispatched(r *Request, v *View, d *Decision) {
	if p.last == nil {
		p.last = make(map[turn]string)
	}
	p.last[turnOf(r)] = v.Replicas[d.Replica].Name
}

// FirstToken does nothing.
func (p *RoundRobin) FirstToken(time.Duration, *Request, int) {}

// Completed does nothing.
func (p *RoundRobin) Completed(time.Duration, *Request, int) {}

func turnOf(r *Request) turn { return turn{r.Model, r.Needs} }

// before orders names: shorter first, then by bytes, so that numbered names come in the order of their numbers.
func before(a, b string) bool {
	if len(a) != len(b) {
		return len(a) < len(b)
	}
	return a < b
}
