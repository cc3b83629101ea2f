package policies

// Sample picks among K replicas only, those with the smallest hashes of the request and their names. Where signals are
// old or several routers see the same, they do not all run to the one that looks best (Mitzenmacher: "The power of two
// choices in randomized load balancing", 2001); with one router and its own book a pick among all is better.
type Sample struct {
	forward
	K int // 1..maxSample
}

var _ wrapped = (*Sample)(nil)

const maxSample = 64

// sampleKey keeps the hashes apart from those that break ties.
const sampleKey = 0x73616d706c65

var sampleKnobs = []field[Sample]{
	{name: "k", doc: "replicas to pick among", at: func(c *Sample) any { return &c.K }, min: 1, max: maxSample},
}

// Pick lets the wrapped policy pick among the sample.
func (s *Sample) Pick(r *Request, v *View, d *Decision) {
	var low [maxSample]uint64 // rising
	n, key := 0, mix(r.Key, sampleKey)
	for i := range v.Replicas {
		rep := &v.Replicas[i]
		if capable(r, rep) != passed {
			continue
		}
		h := mix(key, rep.Salt)
		if n == s.K && h >= low[n-1] {
			continue
		}
		n = min(n+1, s.K)
		j := n - 1
		for ; j > 0 && low[j-1] > h; j-- {
			low[j] = low[j-1]
		}
		low[j] = h
	}
	s.narrow.begin(v)
	for i := range v.Replicas {
		if n > 0 && mix(key, v.Replicas[i].Salt) <= low[n-1] {
			s.narrow.only(r, v, i)
		}
	}
	s.pick(r, v, d)
}
