package policies

import (
	"errors"
	"fmt"
	"slices"
)

// Join adds a replica. Signals may hold what is known of it before its first report, as its KV capacity. A Salt of 0 is
// filled in. Joining a name that is there is an error: a replica that restarted leaves first, so that nothing is
// believed of its cache and what it had in flight is dropped.
func (p *Pool) Join(r Replica) error {
	if r.Name == "" {
		return errors.New("pool: the replica has no name")
	}
	if err := r.Signals.check(); err != nil {
		return fmt.Errorf("pool: replica %q: %w", r.Name, err)
	}
	if r.Salt == 0 {
		r.Salt = Salt(r.Name)
	}
	r.Adapters = slices.Clone(r.Adapters)
	defer p.change()()
	if p.byName[r.Name] != nil {
		return fmt.Errorf("pool: replica %q is there already, want it to leave before it joins again", r.Name)
	}
	m := &member{at: len(p.members)}
	p.byName[r.Name] = m
	p.members = append(p.members, m)
	p.replicas = append(p.replicas, r)
	p.book.join()
	return nil
}

// Leave drops a replica, all that is booked on it and all that is believed of its cache. Leases on it do nothing from
// now on. To let it finish what it has, Cordon it first.
func (p *Pool) Leave(name string) error {
	defer p.change()()
	m, err := p.member(name)
	if err != nil {
		return err
	}
	at, last := m.at, len(p.members)-1
	p.forget(at, last)
	p.book.leave(at)
	p.members[at], p.replicas[at] = p.members[last], p.replicas[last]
	p.members[at].at, m.at = at, -1
	p.members[last], p.replicas[last] = nil, Replica{}
	p.members, p.replicas = p.members[:last], p.replicas[:last]
	delete(p.byName, name)
	return nil
}

// forget lets the policy's memory follow: the replica at last takes the place of the one that leaves.
func (p *Pool) forget(at, last int) {
	switch {
	case p.brain.mover == nil:
	case at == last:
		p.brain.mover.Forget(at)
	default:
		p.brain.mover.Move(last, at)
	}
}

// Cordon tells that a replica takes no new requests, or that it does again.
func (p *Pool) Cordon(name string, on bool) error {
	return p.edit(name, func(r *Replica, _ int) { r.Cordoned = on })
}

// Report files what a replica said of itself, in place of all that it said before. A report that is not newer than the
// last one is dropped. SampledAt is when the numbers were taken; if only the question and the answer have times, it is
// that of the question.
func (p *Pool) Report(name string, s Signals) error {
	if err := s.check(); err != nil {
		return fmt.Errorf("pool: replica %q: %w", name, err)
	}
	return p.edit(name, func(r *Replica, at int) {
		m := p.members[at]
		if s.SampledAt > r.Signals.SampledAt || s.SampledAt == r.Signals.SampledAt && !m.reported {
			r.Signals, m.reported = s, true
			p.book.Sampled(at, s.SampledAt, s.SampledAt-p.config.Transit)
		}
	})
}

// ReportAdapters tells which adapters a replica has loaded, or which are in use if its reports have Signals.Resident
// off. A report with HasAdapters vouches for them; without one they make an adapter hot, and stop nothing.
func (p *Pool) ReportAdapters(name string, adapters []ID) error {
	adapters = slices.Clone(adapters)
	return p.edit(name, func(r *Replica, _ int) { r.Adapters = adapters })
}

// edit changes a replica under both locks, without changing its place.
func (p *Pool) edit(name string, change func(r *Replica, at int)) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	m, err := p.member(name)
	if err != nil {
		return err
	}
	p.belief.Lock()
	defer p.belief.Unlock()
	change(&p.replicas[m.at], m.at)
	p.wake()
	return nil
}

func (p *Pool) member(name string) (*member, error) {
	if m := p.byName[name]; m != nil {
		return m, nil
	}
	return nil, fmt.Errorf("pool: unknown replica %q, want one that joined and did not leave", name)
}

// check refuses numbers that no replica can have.
func (s *Signals) check() error {
	switch {
	case s.Waiting < 0 || s.Running < 0:
		return fmt.Errorf("waiting %d and running %d, want at least 0", s.Waiting, s.Running)
	case !(s.KVUsed >= 0 && s.KVUsed <= 1):
		return fmt.Errorf("KV used is %v, want 0..1", s.KVUsed)
	case s.KVTokens < 0 || s.BlockSize < 0:
		return fmt.Errorf("KV tokens %d and block size %d, want at least 0", s.KVTokens, s.BlockSize)
	case s.MaxAdapters < 0:
		return fmt.Errorf("adapter slots %d, want at least 0", s.MaxAdapters)
	}
	return nil
}
