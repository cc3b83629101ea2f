package sim

import "github.com/seed-2cee110a/triage/engine"

// replica is what the loop needs of an engine. There are two: the engine and, in tests, its reference.
type replica interface {
	Refuse(engine.Sequence) engine.Reason
	Submit(now engine.Time, s engine.Sequence) engine.Reason
	Advance(to engine.Time, out *[]engine.Event)
	Next() engine.Time
	Load(now engine.Time) engine.Load
	Still() engine.Time
	Cached(leaf int32) int32
	Stats() engine.Stats
}

var _ replica = (*engine.Engine)(nil)

// holder is a replica that can say how much of what Cached counts has a holder.
type holder interface{ Held() int32 }

// engine builds a replica of the stage.
func (s *Stage) engine(i int) (replica, error) {
	p := s.of[i]
	return engine.New(s.settings(p), p.cost, p.layout)
}

// settings returns the engine settings of a pool. SingleStep is one for the whole stage.
func (s *Stage) settings(p *ready) engine.Config {
	c := p.cfg.Engine
	c.SingleStep = s.cfg.Engine.SingleStep
	return c
}
