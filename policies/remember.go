package policies

import "time"

// remembering gives a policy that believes nothing a belief: the router's record of what it sent where. It picks as the
// policy does; the decision tells the winner's hit, and charges only the rest.
type remembering struct {
	forward
	index indexed
}

var (
	_ wrapped  = (*remembering)(nil)
	_ Believer = (*remembering)(nil)
)

// remember returns the policy, with a belief if it has none.
func remember(p Policy) Policy {
	if _, ok := p.(Believer); ok {
		return p
	}
	return &remembering{forward: around(p), index: indexed{index: NewPrefixIndex(0), capacity: 1}}
}

// Believe fills in what was sent where.
func (m *remembering) Believe(r *Request, v *View) { m.index.believe(r, v) }

// Pick lets the policy pick and reports the hit.
func (m *remembering) Pick(r *Request, v *View, d *Decision) {
	m.inner.Pick(r, v, d)
	if d.Action != Dispatch || len(v.Hits) < len(v.Replicas) {
		return
	}
	most := max(0, r.PromptTokens-1)
	for i := range v.Replicas {
		if capable(r, &v.Replicas[i]) == passed {
			d.BestHit = max(d.BestHit, min(v.Hits[i].Tokens, most))
		}
	}
	d.Hit = max(0, min(v.Hits[d.Replica].Tokens, most))
	d.Charge = r.PromptTokens - d.Hit
	d.Affinity = float64(d.Hit) / float64(max(1, r.PromptTokens))
}

// Dispatched remembers what the replica is now going to have.
func (m *remembering) Dispatched(r *Request, v *View, d *Decision) {
	m.index.dispatched(r, v, d.Replica)
	m.forward.Dispatched(r, v, d)
}

// Completed remembers that the request no longer holds its prefix.
func (m *remembering) Completed(now time.Duration, r *Request, replica int) {
	m.index.completed(r, replica)
	m.forward.Completed(now, r, replica)
}

// Forget tells that a replica lost its cache.
func (m *remembering) Forget(replica int) {
	m.index.forget(replica)
	m.forward.Forget(replica)
}

// Move tells that the replica at from is now at to.
func (m *remembering) Move(from, to int) {
	m.index.forget(to)
	m.index.move(from, to)
	m.forward.Move(from, to)
}

// BeliefStats tells what was sent where.
func (m *remembering) BeliefStats(hot int) BeliefStats { return m.index.beliefs(hot) }
