package policies

// Bounded leaves out the replicas that have more than Load times the mean of own requests in flight, this request
// included (Mirrokni, Thorup, Zadimoghaddam: "Consistent hashing with bounded loads", SODA 2018). One with the fewest is
// never left out.
type Bounded struct {
	forward
	Load float64 // at least 1
}

var _ wrapped = (*Bounded)(nil)

var boundedKnobs = []field[Bounded]{
	{name: "load", doc: "times the mean of own requests in flight above which a replica is left out", at: func(c *Bounded) any { return &c.Load }, min: 1, max: 1e9},
}

// Pick lets the wrapped policy pick among those that are not overloaded.
func (b *Bounded) Pick(r *Request, v *View, d *Decision) {
	var total, n int64
	for i := range v.Replicas {
		if capable(r, &v.Replicas[i]) == passed {
			total += int64(v.Local[i].InFlight)
			n++
		}
	}
	most := float64(b.Load*float64(total+1)) / float64(max(1, n))
	b.narrow.begin(v)
	for i := range v.Replicas {
		if float64(v.Local[i].InFlight) <= most {
			b.narrow.only(r, v, i)
		}
	}
	b.pick(r, v, d)
}
