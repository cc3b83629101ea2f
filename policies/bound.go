package policies

import "math"

// divide works out the load above which a replica is saturated: Bound times its even share of what is in flight with
// this request (Mirrokni, Thorup, Zadimoghaddam: "Consistent hashing with bounded loads", SODA 2018). An idle replica is
// never saturated.
func (p *pick) divide(v *View) {
	var total, n int64
	for i := range v.Replicas {
		if capable(p.request, &v.Replicas[i]) == passed {
			total += p.loadOf(&v.Local[i])
			n++
		}
	}
	own := int64(1)
	if p.config.BoundBy == BoundByTokens {
		own = p.whole
	}
	p.share = math.Inf(1)
	if n > 0 {
		p.share = float64(p.config.Bound*float64(total+own)) / float64(n)
	}
}

func (p *pick) loadOf(l *Local) int64 {
	if p.config.BoundBy == BoundByTokens {
		return l.HeldTokens
	}
	return int64(l.InFlight)
}

// saturated tells whether a replica has so much to do that it owns no prefix for now.
func (p *pick) saturated(l *Local) bool { return float64(p.loadOf(l)) > p.share }
