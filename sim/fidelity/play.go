package fidelity

import (
	"context"
	"fmt"

	"github.com/seed-2cee110a/triage/engine"
)

// timing is what became of a request in the simulation; instants since the run began.
type timing struct {
	sent, first, finish engine.Time // -1 if it was refused
}

// between is how long after a drawn stage has drained the next one starts.
const between = 4 * engine.Second

// player sends requests to one replica.
type player struct {
	engine   *engine.Engine
	now      engine.Time
	inFlight int
	out      []timing
	events   []engine.Event
}

// play runs a workload on a server. window is how many requests may be in flight at most, 0 for no limit; with one,
// requests beyond the first window are sent when another finishes and their arrivals are ignored.
func play(ctx context.Context, s *server, w *workload, window int) ([]timing, error) {
	f, node := w.forest()
	e, err := engine.New(s.cfg, s.cost, engine.NewLayout(f, s.cfg.BlockSize))
	if err != nil {
		return nil, err
	}
	p := &player{engine: e, out: make([]timing, len(w.requests))}
	var start engine.Time
	for i, q := range w.requests {
		if i%1024 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if !w.traced && i > 0 && q.stage != w.requests[i-1].stage {
			p.drain()
			start = max(p.now, start+seconds(w.stages[q.stage-1].Seconds)) + between
		}
		at := start + q.at
		if window > 0 && i >= window {
			at = 0
		}
		if err := p.send(i, at, window, engine.Sequence{ID: int32(i), Leaf: node[q.id], Prompt: q.prompt, Output: q.output}); err != nil {
			return nil, err
		}
	}
	p.drain()
	return p.out, nil
}

// send submits request i at the instant at, or as soon after it as the window allows.
func (p *player) send(i int, at engine.Time, window int, s engine.Sequence) error {
	for window > 0 && p.inFlight >= window {
		p.step()
	}
	p.to(max(at, p.now))
	p.out[i] = timing{sent: p.now, first: -1, finish: -1}
	switch p.engine.Submit(p.now, s) {
	case engine.Accepted:
		p.inFlight++
	case engine.NeverFits:
		return fmt.Errorf("request %d never fits the replica's KV blocks", i+1)
	}
	return nil
}

// drain waits for all that is in flight.
func (p *player) drain() {
	for p.inFlight > 0 {
		p.step()
	}
}

// step goes on to the next instant at which something may be delivered.
func (p *player) step() { p.to(p.engine.Next()) }

func (p *player) to(at engine.Time) {
	p.now = at
	p.events = p.events[:0]
	p.engine.Advance(at, &p.events)
	for _, v := range p.events {
		switch v.Kind {
		case engine.FirstToken:
			p.out[v.Seq].first = v.At
		case engine.Finish:
			p.out[v.Seq].finish = v.At
			p.inFlight--
		}
	}
}
