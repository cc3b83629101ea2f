package policies

import "time"

// Stored passes on that a replica now has these blocks of one prefix, named as the requests' are: see EventSink. It does
// nothing if the policy looks at no events.
func (p *Pool) Stored(name string, now time.Duration, blocks []Block) error {
	return p.event(name, now, func(s EventSink, at int) { s.Stored(p.now, at, blocks) })
}

// Evicted passes on that a replica lost the last tokens of a block. A replica that lost all leaves and joins again.
func (p *Pool) Evicted(name string, now time.Duration, hash uint64, tokens int32) error {
	return p.event(name, now, func(s EventSink, at int) { s.Evicted(p.now, at, hash, tokens) })
}

func (p *Pool) event(name string, now time.Duration, tell func(s EventSink, at int)) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	m, err := p.member(name)
	if err != nil {
		return err
	}
	p.now = max(p.now, now)
	if s, ok := p.brain.policy.(EventSink); ok && s.WantsEvents() {
		p.belief.Lock()
		defer p.belief.Unlock()
		tell(s, m.at)
	}
	return nil
}

// BeliefStats tells what the policy in force believes of the replicas' caches; it is empty if it believes nothing.
// Requests wait meanwhile.
func (p *Pool) BeliefStats(hot int) BeliefStats {
	p.mu.Lock()
	defer p.mu.Unlock()
	if b, ok := p.brain.policy.(BeliefReporter); ok {
		return b.BeliefStats(hot)
	}
	return BeliefStats{}
}

// delayed is a policy whose belief may be of a simulated feed, told late on purpose.
type delayed interface{ feedDelay() time.Duration }

func (s *Score) feedDelay() time.Duration {
	if s.config.Prefix != PrefixFromEvents {
		return 0
	}
	return s.config.Delay
}

func (f *forward) feedDelay() time.Duration {
	if d, ok := f.inner.(delayed); ok {
		return d.feedDelay()
	}
	return 0
}
