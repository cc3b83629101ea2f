package policies

import "time"

// Lease is a dispatched request's place in a Pool's book. Its methods may be called by any goroutine, in any order and
// more than once: what comes too late does nothing, as do all of them once the replica left the pool.
type Lease struct {
	Replica string // name, "" if nothing was dispatched

	pool   *Pool
	flight *flight
	serial uint64
}

// flight is a request between dispatch and end. Flights are used again, with another serial number.
type flight struct {
	member  *member
	request Request // with blocks of its own
	ticket  Ticket
	serial  uint64
	memory  uint64 // of the brain that dispatched it
	output  int32  // tokens delivered; 0 if not told
	started bool   // its first token came
}

// reserve books a dispatch.
func (p *Pool) reserve(r *Request, v *View, d *Decision) Lease {
	f := p.flight()
	blocks := f.request.Blocks
	*f = flight{member: p.members[d.Replica], request: *r, serial: f.serial, memory: p.brain.memory}
	f.request.Blocks = append(blocks[:0], r.Blocks...)
	f.ticket = p.book.Dispatched(v.Now, r, d)
	if p.brain.observer != nil {
		p.belief.Lock()
		p.brain.observer.Dispatched(r, v, d)
		p.belief.Unlock()
	}
	return Lease{Replica: v.Replicas[d.Replica].Name, pool: p, flight: f, serial: f.serial}
}

// flight returns one that nobody uses.
func (p *Pool) flight() *flight {
	n := len(p.idle)
	if n == 0 {
		return &flight{}
	}
	f := p.idle[n-1]
	p.idle = p.idle[:n-1]
	return f
}

// enter locks the pool and returns the flight if it is not over; the caller must unlock if it got one.
func (l Lease) enter(now time.Duration) *flight {
	if l.pool == nil {
		return nil
	}
	l.pool.mu.Lock()
	if l.flight.serial != l.serial {
		l.pool.mu.Unlock()
		return nil
	}
	l.pool.now = max(l.pool.now, now)
	l.flight.ticket.Replica = l.flight.member.at
	return l.flight
}

// FirstToken tells that the first token was delivered.
func (l Lease) FirstToken(now time.Duration) {
	f, p := l.enter(now), l.pool
	if f == nil {
		return
	}
	defer p.mu.Unlock()
	if f.started || f.member.at < 0 {
		return
	}
	f.started = true
	p.book.FirstToken(p.now, &f.ticket)
	p.observe(f, Observer.FirstToken)
}

// Output tells how many tokens were delivered, for the feedback on TPOT and for what is expected of the tenant's next
// requests.
func (l Lease) Output(tokens int32) {
	if f := l.enter(0); f != nil {
		f.output = tokens
		l.pool.mu.Unlock()
	}
}

// Done tells that the request is finished.
func (l Lease) Done(now time.Duration) { l.end(now, true) }

// Fail tells that the request failed or was cancelled. What its prefill left in the replica's cache is unknown; it is
// believed to be there. Cordon a replica that cannot be reached, or it goes on attracting what it is believed to have.
func (l Lease) Fail(now time.Duration) { l.end(now, false) }

func (l Lease) end(now time.Duration, finished bool) {
	f, p := l.enter(now), l.pool
	if f == nil {
		return
	}
	defer p.mu.Unlock()
	if f.member.at >= 0 {
		if finished {
			f.ticket.Output = f.output
		}
		p.book.Done(p.now, &f.ticket)
		p.observe(f, Observer.Completed)
		if finished && f.output > 0 && p.brain.finisher != nil {
			p.brain.finisher.Finished(p.now, &f.request, f.member.at, f.output)
		}
	}
	f.serial++
	f.member = nil
	p.idle = append(p.idle, f)
	p.wake()
}

// observe tells the policy, unless its memory began after the flight.
func (p *Pool) observe(f *flight, event func(Observer, time.Duration, *Request, int)) {
	if p.brain.observer == nil || f.memory != p.brain.memory {
		return
	}
	p.belief.Lock()
	defer p.belief.Unlock()
	event(p.brain.observer, p.now, &f.request, f.member.at)
}
