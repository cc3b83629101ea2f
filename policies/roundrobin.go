package policies

import "time"

// RoundRobin gives each capable replica a turn, in the natural order of their names (r2 before r10). Requests of
// different models or needs take separate turns, so that one kind does not shift another's. The turn moves in
// Dispatched only.
type RoundRobin struct {
	last  map[turn]string // name of the replica that served last
	names []string        // of the replicas at the last Pick, and
	order []int           // their places in the order of names: kept, since they hardly ever change
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
	p.sort(v.Replicas)
	n, next := len(v.Replicas), p.after(p.last[turnOf(r)])
	turns := func(i int) int { return (p.order[i] - next + n) % n }
	pickPlain(r, v, d, func(i, j int) bool { return turns(i) < turns(j) })
}

// sort fills in order unless the replicas are those of the Pick before.
func (p *RoundRobin) sort(replicas []Replica) {
	same := len(replicas) == len(p.names)
	for i := 0; same && i < len(replicas); i++ {
		same = replicas[i].Name == p.names[i]
	}
	if same {
		return
	}
	p.names, p.order = make([]string, len(replicas)), make([]int, len(replicas))
	for i := range replicas {
		p.names[i] = replicas[i].Name
	}
	for i, a := range p.names {
		for _, b := range p.names {
			if before(b, a) {
				p.order[i]++
			}
		}
	}
}

// after returns the place in the order that follows a name, which may have left.
func (p *RoundRobin) after(name string) int {
	n := 0
	for _, other := range p.names {
		if other == name || before(other, name) {
			n++
		}
	}
	return n
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
