package policies

import (
	"fmt"
	"slices"
	"sync"
	"time"
)

// Pool is the state of a live router: the replicas as they come and go, what they last said, the Book, the policy in
// force and its memory. It is safe for concurrent use and keeps no clock: every instant is a time.Duration since the
// router began, from a monotonic clock. One that is earlier than another the Pool has seen is read as that one.
//
// Two locks make a decision. The policy believes under the read side of the belief lock, many requests at once. It
// picks under the book lock, and what it picked is booked before the lock is given back, or two requests would both
// choose the best replica. If the replicas or the policy changed in between, it believes again. Writing the belief takes
// both locks, so that it is never about a replica that left.
//
// One lock for the belief is enough: all the locking of a request of 3 blocks takes a microsecond or two among 8
// replicas and of 512 blocks some 20 (BenchmarkPool), which is tens of thousands of requests a second. A copy of the
// index for every write would cost more than the write, and shards by hash would have to be locked one by one along a
// prefix.
type Pool struct {
	config PoolConfig
	calls  sync.Pool // of *call

	mu     sync.Mutex // the book lock; taken before belief
	belief sync.RWMutex

	// Written under both locks.
	brain    brain
	replicas []Replica
	epoch    uint64 // differs whenever brain or the places of replicas differ

	// Under mu.
	book    Book
	members []*member // parallel to replicas
	byName  map[string]*member
	now     time.Duration // latest seen
	idle    []*flight
	changed chan struct{} // closed at the next change that may let a held request go; nil if nobody waits
}

// PoolConfig sets up a Pool. The zero value is ready.
type PoolConfig struct {
	// Transit is how long a request is on its way before a replica counts it: a sample shows what was dispatched that
	// long before it.
	Transit time.Duration

	// HalfLife is the time in which a measured TTFT or TPOT loses half its weight; 0 is the policy's, or 30 s if it looks at
	// none. A replica that is sent nothing drifts back to the mean of its model, so that it is tried again.
	HalfLife time.Duration

	// Routers is how many routers share the replicas, each with a Pool of its own; 0 is 1.
	Routers int

	Log *DecisionLog // gets every decision; nil for none
}

// member is a replica from when it joins until it leaves. A replica that comes back is another member.
type member struct {
	at       int  // its place, -1 once it left
	reported bool // its signals are of a report
}

// call is the scratch of one Route.
type call struct {
	view     View // what the policy sees; Local only in decide
	epoch    uint64
	decision Decision
	logged   View
}

// NewPool returns a router without replicas that scores by a weights file.
func NewPool(w WeightsFile, c PoolConfig) (*Pool, error) {
	b, err := brainOf(w)
	if err != nil {
		return nil, err
	}
	return newPool(b, c)
}

// NewPoolOf returns a router without replicas that decides by any policy. The policy belongs to the Pool from now on.
func NewPoolOf(p Policy, c PoolConfig) (*Pool, error) {
	b, err := brainFrom(p)
	if err != nil {
		return nil, err
	}
	return newPool(b, c)
}

func newPool(b brain, c PoolConfig) (*Pool, error) {
	switch {
	case c.Transit < 0:
		return nil, fmt.Errorf("pool: transit is %v, want at least 0s", c.Transit)
	case c.HalfLife < 0:
		return nil, fmt.Errorf("pool: half-life is %v, want at least 0s", c.HalfLife)
	case c.Routers < 0:
		return nil, fmt.Errorf("pool: routers is %d, want at least 0", c.Routers)
	}
	p := &Pool{config: c, brain: b, byName: map[string]*member{}}
	p.measure()
	return p, nil
}

// measure sets the half-life of the feedback.
func (p *Pool) measure() {
	half := p.config.HalfLife
	if half == 0 {
		half = 30 * time.Second
		if u, ok := p.brain.policy.(FeedbackUser); ok {
			if own, wanted := u.Feedback(); wanted {
				half = own
			}
		}
	}
	p.book.Measure(half)
}

// Route decides about a request that is at the router now. If it is to be dispatched, the lease books it on the
// replica until Lease.Done or Lease.Fail, one of which must be called; else the lease is nobody's and its methods do
// nothing. Decision.Replica is the place in Snapshot at this instant; Lease.Replica is the name.
//
// A held request may be routed again: see Changed. The request is not kept.
func (p *Pool) Route(r *Request, now time.Duration) (Lease, Decision) {
	c, _ := p.calls.Get().(*call)
	if c == nil {
		c = &call{}
	}
	defer p.calls.Put(c)
	p.believe(c, r, now)
	lease, sum := p.decide(c, r, now)
	if p.config.Log != nil {
		p.config.Log.Write(r, &c.logged, &c.decision, sum)
	}
	return lease, c.decision
}

// believe fills in the hits.
func (p *Pool) believe(c *call, r *Request, now time.Duration) {
	p.belief.RLock()
	defer p.belief.RUnlock()
	n := len(p.replicas)
	if cap(c.view.Hits) < n {
		c.view.Hits = make([]Hit, n)
	}
	c.view = View{Now: now, Replicas: p.replicas, Hits: c.view.Hits[:n]}
	c.epoch = p.epoch
	if p.brain.believer != nil {
		p.brain.believer.Believe(r, &c.view)
	} else {
		clear(c.view.Hits)
	}
}

// decide picks and books; it returns the sum of the weights too.
func (p *Pool) decide(c *call, r *Request, now time.Duration) (lease Lease, sum string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.advance(now)
	if c.epoch != p.epoch {
		p.believe(c, r, p.now)
	}
	c.view.Now, c.view.Local, c.view.InUse, c.view.Idle, c.view.Routers = p.now, p.book.Local, p.book.InUse, p.book.Idle, p.config.Routers
	p.brain.policy.Pick(r, &c.view, &c.decision)
	if p.config.Log != nil {
		c.logged.set(&c.view)
	}
	if c.decision.Action == Dispatch {
		lease = p.reserve(r, &c.view, &c.decision)
	}
	return lease, p.brain.sum
}

// advance moves the clock and works out the feedback that is due.
func (p *Pool) advance(now time.Duration) {
	p.now = max(p.now, now)
	p.book.Tune(p.now, p.replicas)
}

// set makes v a copy of the view that stays as it is.
func (v *View) set(from *View) {
	v.Now, v.Routers = from.Now, from.Routers
	v.Replicas = append(v.Replicas[:0], from.Replicas...)
	v.Local = append(v.Local[:0], from.Local...)
	v.InUse, v.Idle = copyLists(v.InUse, from.InUse), copyLists(v.Idle, from.Idle)
	v.Hits = append(v.Hits[:0], from.Hits...)
}

// copyLists copies lists into those that to has.
func copyLists(to, from [][]ID) [][]ID {
	to = slices.Grow(to[:0], len(from))[:len(from)]
	for i, ids := range from {
		to[i] = append(to[i][:0], ids...)
	}
	return to
}

// Snapshot returns a copy of what a policy would see now, without hits.
func (p *Pool) Snapshot() View {
	p.mu.Lock()
	defer p.mu.Unlock()
	var v View
	v.set(&View{Now: p.now, Replicas: p.replicas, Local: p.book.Local, InUse: p.book.InUse, Idle: p.book.Idle, Routers: p.config.Routers})
	return v
}

// Changed returns a channel that is closed when something happens that may let a held request go: a request ended, a
// report came, replicas or weights changed. Ask for it before Route, so that no change is missed.
func (p *Pool) Changed() <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.changed == nil {
		p.changed = make(chan struct{})
	}
	return p.changed
}

// wake lets held requests try again.
func (p *Pool) wake() {
	if p.changed != nil {
		close(p.changed)
		p.changed = nil
	}
}

// change takes both locks for a change of the replicas or the policy; the function that it returns ends it.
func (p *Pool) change() (end func()) {
	p.mu.Lock()
	p.belief.Lock()
	p.epoch++
	return func() {
		p.wake()
		p.belief.Unlock()
		p.mu.Unlock()
	}
}
