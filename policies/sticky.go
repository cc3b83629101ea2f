package policies

import (
	"math"
	"time"
)

// Sticky keeps to the replicas that are believed to have at least Share of the prompt cached, until they are saturated:
// if the best of them has its uncached tokens in flight done more than Penalty later than the best of the others, all
// are candidates. A policy without a belief is given the router's record of what it sent where. After llm-d's
// prefix-cache-affinity-filter (llm-d-router, v0.10 of its endpoint picker), with tokens of the router's own book; it
// explores nothing.
type Sticky struct {
	forward
	Share   float64       // of the prompt, 0..1
	Penalty time.Duration // how much later the first token may come for the sake of the cache
	Rate    float64       // uncached tokens a second that a replica prefills
}

var _ wrapped = (*Sticky)(nil)

var stickyKnobs = []field[Sticky]{
	{name: "share", doc: "of the prompt believed cached from which a replica is kept to", at: func(c *Sticky) any { return &c.Share }, max: 1},
	{name: "penalty", doc: "how much later the best of them may begin than the best other, before all are candidates", at: func(c *Sticky) any { return &c.Penalty }},
	{name: "rate", doc: "uncached tokens a second that a replica prefills", at: func(c *Sticky) any { return &c.Rate }, min: 1, max: 1e9},
}

// Pick lets the wrapped policy pick among the replicas with the prefix, or all.
func (s *Sticky) Pick(r *Request, v *View, d *Decision) {
	s.narrow.begin(v)
	sticky, other := int64(math.MaxInt64), int64(math.MaxInt64) // fewest uncached tokens in flight
	for i := range v.Replicas {
		if capable(r, &v.Replicas[i]) != passed {
			continue
		}
		if ahead := v.Local[i].UncachedPrefill; s.has(r, v, i) {
			s.narrow.only(r, v, i)
			sticky = min(sticky, ahead)
		} else {
			other = min(other, ahead)
		}
	}
	if other < sticky && float64(sticky-other)/s.Rate > s.Penalty.Seconds() {
		s.narrow.begin(v)
	}
	s.pick(r, v, d)
}

// has tells whether enough of the prompt is believed cached. The prompt's last token is always computed and does not
// count.
func (s *Sticky) has(r *Request, v *View, i int) bool {
	if i >= len(v.Hits) || v.Hits[i].Tokens <= 0 {
		return false
	}
	return float64(v.Hits[i].Tokens) >= float64(s.Share*float64(max(1, r.PromptTokens-1)))
}
