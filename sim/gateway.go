package sim

import (
	"fmt"
	"time"

	"github.com/seed-2cee110a/triage/engine"
	"github.com/seed-2cee110a/triage/policies"
)

// Gateway is the queue in front of each router, and what the gateway refuses before.
type Gateway struct {
	MaxQueue  int           // requests that a router holds at most; more are shed with 429. 0 is no limit
	MaxTokens int64         // prompt and expected output tokens that it holds at most; likewise
	Deadline  time.Duration // longest hold; then 503
	EDF       bool          // earliest deadline first, not first come, first served
	Turn      int64         // tenants take turns of so many tokens; 0: they take none
	Classes   []Class       // of requests by their SLO; the first that fits
	Limits    []TenantLimit // the first that fits

	// Most that a router has in flight on a replica; 0 is no limit. A replica that has as many is no candidate.
	InFlight       int32 // requests
	InFlightTokens int64 // prompt and expected output tokens
}

// Class is how requests with an SLO are held.
type Class struct {
	SLO      string // as in the trace; "*" is any, and "" those without
	Priority int16  // a higher one goes first
	Deadline time.Duration
}

// TenantLimit is how many tokens, of prompts and generated, a tenant may use; beyond that its requests are shed with 429.
type TenantLimit struct {
	Tenant string // as in the trace; "*" is any
	policies.RateLimit
}

// class returns how a request is held.
func (s *Stage) class(row int32) Class {
	slo := s.trace.Strings[s.trace.SLO[row]]
	for _, c := range s.cfg.Gateway.Classes {
		if c.SLO == slo || c.SLO == "*" {
			return c
		}
	}
	return Class{Deadline: s.cfg.Gateway.Deadline}
}

// newLimiter returns the run's rate limits, nil if there are none.
func (s *Stage) newLimiter() *policies.Limiter {
	if len(s.cfg.Gateway.Limits) == 0 {
		return nil
	}
	return policies.NewLimiter(func(tenant policies.ID) policies.RateLimit {
		for _, l := range s.cfg.Gateway.Limits {
			if l.Tenant == "*" || l.Tenant == s.trace.Strings[tenant] {
				return l.RateLimit
			}
		}
		return policies.RateLimit{}
	})
}

// newQueue returns an empty queue of a router.
func (s *Stage) newQueue() *policies.HoldQueue {
	g := &s.cfg.Gateway
	return policies.NewHoldQueue(policies.HoldConfig{MaxRequests: g.MaxQueue, MaxTokens: g.MaxTokens, EDF: g.EDF, Quantum: g.Turn})
}

// reorders says whether a queue may put a request in front of one that came before.
func (g *Gateway) reorders() bool { return g.EDF || g.Turn > 0 || len(g.Classes) > 0 }

// admit asks the rate limits about a request.
func (r *run) admit(o *Outcome) bool {
	if r.limiter == nil {
		return true
	}
	after, ok := r.limiter.Admit(r.now.Duration(), policies.ID(r.trace.Tenant[o.Row]), r.trace.Prompt[o.Row])
	if !ok {
		if r.result.RetryAfter == nil {
			r.result.RetryAfter = map[int32]time.Duration{}
		}
		r.result.RetryAfter[o.Row] = after
		r.refuse(o, RateLimited)
	}
	return ok
}

// hold queues a request at its router and reports whether there was room.
func (r *run) hold(w *router, o *Outcome) bool {
	c := r.class(o.Row)
	if c.Deadline == 0 {
		r.refuse(o, Deadline)
		return false
	}
	t, now := r.trace, r.now.Duration()
	if !w.queue.Push(policies.Held{ID: o.Row, Lane: policies.ID(r.line(o.Row)), Tenant: policies.ID(t.Tenant[o.Row]), Priority: c.Priority,
		Tokens: int64(t.Prompt[o.Row]) + int64(w.request.EstOutput), Arrived: o.Arrived.Duration(), Deadline: now + c.Deadline}) {
		r.refuse(o, QueueFull)
		return false
	}
	o.Held = true
	r.result.Outcomes[o.Row] = *o
	return true
}

// giveUp returns when the next held request gives up, Never if none is held.
func (r *run) giveUp() engine.Time {
	t := engine.Never
	for _, w := range r.routers {
		if d, ok := w.queue.NextDeadline(); ok {
			t = min(t, engine.FromDuration(d))
		}
	}
	return t
}

// expire lets held requests give up.
func (r *run) expire() bool {
	happened := false
	for _, w := range r.routers {
		for {
			row, ok := w.queue.Expire(r.now.Duration())
			if !ok {
				break
			}
			r.refuse(&r.result.Outcomes[row], Deadline)
			happened = true
		}
	}
	return happened
}

// retry tries the held requests again, router by router, and then those that a crash cut off.
func (r *run) retry() bool {
	happened := false
	for _, w := range r.routers {
		happened = r.release(w) || happened
	}
	r.resend()
	return happened
}

// release tries a router's held requests again.
func (r *run) release(w *router) bool {
	if w.queue.Len() == 0 {
		return false
	}
	return w.queue.Release(func(row int32) bool { return r.try(w, &r.result.Outcomes[row]) })
}

// check says what is wrong, by flag name.
func (g Gateway) check() error {
	switch {
	case g.MaxQueue < 0:
		return fmt.Errorf("gateway-queue is %d, want 0 (no limit) or more", g.MaxQueue)
	case g.MaxTokens < 0:
		return fmt.Errorf("gateway-tokens is %d, want 0 (no limit) or more", g.MaxTokens)
	case g.Deadline < 0 || g.Deadline > longest:
		return fmt.Errorf("gateway-deadline is %v, want 0 to %v", g.Deadline, longest)
	case g.Turn != 0 && g.Turn < leastTurn:
		return fmt.Errorf("gateway-turn is %d, want 0 (tenants take no turns) or at least %d tokens", g.Turn, leastTurn)
	case g.InFlight < 0:
		return fmt.Errorf("max-inflight is %d, want 0 (no limit) or more", g.InFlight)
	case g.InFlightTokens < 0:
		return fmt.Errorf("max-inflight-tokens is %d, want 0 (no limit) or more", g.InFlightTokens)
	}
	for _, c := range g.Classes {
		if c.Deadline < 0 || c.Deadline > longest {
			return fmt.Errorf("the class %q has the deadline %v, want 0 to %v", c.SLO, c.Deadline, longest)
		}
	}
	for _, l := range g.Limits {
		if !(l.Rate > 0 && l.Rate < 1e12 && l.Burst >= 1 && l.Burst < 1e15) {
			return fmt.Errorf("the rate limit of tenant %q is %v tokens a second and %v at once, want more than 0 and at least 1", l.Tenant, l.Rate, l.Burst)
		}
	}
	return nil
}

// leastTurn keeps the number of turns that a long prompt waits for small.
const leastTurn = 64

// String returns SLO=PRIORITY:DEADLINE.
func (c Class) String() string { return fmt.Sprintf("%s=%d:%v", c.SLO, c.Priority, c.Deadline) }

// String returns TENANT=TOKENS_PER_S:BURST.
func (l TenantLimit) String() string { return fmt.Sprintf("%s=%v:%v", l.Tenant, l.Rate, l.Burst) }
