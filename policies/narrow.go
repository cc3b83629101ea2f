package policies

// narrow lets a policy pick among some of the replicas: to the policy the others are cordoned, so that all keep their
// places and its memory needs no care. What it says of them comes out as PassedOver.
type narrow struct {
	view    View
	keep    []bool // parallel to the replicas
	kept    int
	dropped int // capable replicas that are not kept
}

// begin keeps none of the replicas.
func (n *narrow) begin(v *View) {
	if cap(n.keep) < len(v.Replicas) {
		n.keep = make([]bool, len(v.Replicas))
		n.view.Replicas = make([]Replica, len(v.Replicas))
	}
	n.keep = n.keep[:len(v.Replicas)]
	clear(n.keep)
	n.kept = 0
}

// only keeps replica i, if it is capable of the request.
func (n *narrow) only(r *Request, v *View, i int) {
	if !n.keep[i] && capable(r, &v.Replicas[i]) == passed {
		n.keep[i] = true
		n.kept++
	}
}

// pick lets the policy pick among those kept. It is false, with an unfinished decision, if the policy dispatches to none
// of them.
func (n *narrow) pick(p Policy, r *Request, v *View, d *Decision) bool {
	replicas := n.view.Replicas[:len(v.Replicas)]
	n.view = *v
	n.view.Replicas = replicas
	n.dropped = 0
	copy(replicas, v.Replicas)
	for i := range replicas {
		if !n.keep[i] && capable(r, &replicas[i]) == passed {
			replicas[i].Cordoned = true
			n.dropped++
		}
	}
	p.Pick(r, &n.view, d)
	d.Rejected[Cordoned] -= int32(n.dropped)
	d.Rejected[PassedOver] += int32(n.dropped)
	return d.Action == Dispatch
}

// pick decides among the replicas kept; among all if none of them takes the request: a wrapper never holds or refuses
// what the policy alone would send.
func (f *forward) pick(r *Request, v *View, d *Decision) {
	if f.narrow.kept == 0 || !f.narrow.pick(f.inner, r, v, d) {
		f.inner.Pick(r, v, d)
	}
}
