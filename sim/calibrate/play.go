package calibrate

import (
	"context"
	"fmt"
	"hash/fnv"
	"math"

	"github.com/seed-2cee110a/triage/engine"
	"github.com/seed-2cee110a/triage/sim"
	"github.com/seed-2cee110a/triage/traces"
)

// latency is what became of a request in the simulation, s.
type latency struct{ ttft, e2e float64 }

// server is the replicas of a log, but for their cost model.
type server struct {
	cfg    engine.Config
	layout *engine.Layout
	leaf   []int32 // by request
	reuse  []int32 // likewise: tokens of prompt and output that a later turn can hit, see engine.Sequence
	turns  [][]int // requests by replica, in order of arrival
}

// newServer sets up replicas. Prompts with the same id have the length of the first of them.
func (l *Log) newServer(cfg engine.Config, blockSize int) (*server, error) {
	s := &server{cfg: cfg, leaf: make([]int32, len(l.Requests)), reuse: make([]int32, len(l.Requests))}
	forest := &engine.Forest{}
	if l.identity {
		t, err := l.trace(cfg, blockSize)
		if err != nil {
			return nil, err
		}
		bound := sim.BindOutputs(t)
		forest = &engine.Forest{Parent: t.Forest.Parent, End: t.Forest.End, Walks: bound.Walks}
		for row := range t.Len() {
			s.leaf[t.Line[row]], s.reuse[t.Line[row]] = bound.Path(int32(row))
		}
	} else {
		for i := range s.leaf {
			s.leaf[i] = -1
		}
	}
	s.layout = engine.NewLayout(forest, cfg.BlockSize)
	names := l.replicas()
	s.turns = make([][]int, len(names))
	place := map[string]int{}
	for i, n := range names {
		place[n] = i
	}
	for i := range l.Requests {
		k := place[l.Requests[i].Replica]
		s.turns[k] = append(s.turns[k], i)
	}
	return s, nil
}

// trace makes the prefix forest. The line of a record is the index of its request.
func (l *Log) trace(cfg engine.Config, blockSize int) (*traces.Trace, error) {
	size := int32(cfg.BlockSize)
	for i := range l.Requests {
		if l.Requests[i].blocks != nil {
			size = int32(blockSize)
			if l.blockSize > 0 {
				size = l.blockSize
			}
			break
		}
	}
	b := traces.NewBuilder(traces.Meta{BlockSize: size, T0UnixNs: traces.Unknown, TimeResolution: traces.Unknown})
	lengths := map[string]int32{}
	for i := range l.Requests {
		q := &l.Requests[i]
		r := traces.NewRecord()
		r.ArrivalNs, r.Line, r.PromptTokens, r.OutputTokens, r.Blocks = int64(q.At/engine.Nanosecond), int64(i), q.Prompt, q.Output, q.blocks
		r.Session = q.session
		if q.blocks == nil && q.id != "" {
			if lengths[q.id] == 0 {
				lengths[q.id] = q.Prompt
			}
			q.Prompt = lengths[q.id]
			r.PromptTokens, r.Blocks = q.Prompt, idBlocks(q.id, (q.Prompt+size-1)/size)
		}
		if err := b.Add(r); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", l.Name, q.Line, err)
		}
	}
	return b.Build()
}

// idBlocks are the blocks of a prompt that is known by a name.
func idBlocks(id string, n int32) []int64 {
	h := fnv.New64a()
	h.Write([]byte(id))
	start := int64(h.Sum64() >> 1)
	out := make([]int64, n)
	for k := range out {
		out[k] = (start + int64(k)*0x9e3779b1) & math.MaxInt64
	}
	return out
}

// play plays the first n requests of the log with a cost model and overheads.
func (s *server) play(ctx context.Context, l *Log, p params, n int) ([]latency, error) {
	cfg := s.cfg
	cfg.OverheadBefore = p.before
	out := make([]latency, n)
	for _, turn := range s.turns {
		e, err := engine.New(cfg, p.cost, s.layout)
		if err != nil {
			return nil, err
		}
		d := driver{log: l, engine: e, out: out, sent: make([]engine.Time, n)}
		for k, i := range turn {
			if k%1024 == 0 && ctx.Err() != nil {
				return nil, ctx.Err()
			}
			if i >= n {
				break
			}
			if err := d.send(i, s.leaf[i], s.reuse[i]); err != nil {
				return nil, err
			}
		}
		for d.inFlight > 0 {
			d.to(d.engine.Next())
		}
	}
	return out, nil
}

// driver sends the requests of a log to a replica.
type driver struct {
	log      *Log
	engine   *engine.Engine
	now, lag engine.Time
	inFlight int
	sent     []engine.Time
	out      []latency
	events   []engine.Event
}

// send submits a request when the log says. One that the driver held back comes when the window allows, and as long after
// the one before as in the log: a slower replica delays all that waited, too.
func (d *driver) send(i int, leaf, reuse int32) error {
	q := &d.log.Requests[i]
	if !q.gated {
		d.lag = 0
	}
	at := q.At + d.lag
	d.to(max(at, d.now))
	for w := d.log.window; w > 0 && d.inFlight >= w; {
		d.to(d.engine.Next())
	}
	d.lag = max(0, d.now-q.At)
	d.sent[i] = d.now
	if r := d.engine.Submit(d.now, engine.Sequence{ID: int32(i), Leaf: leaf, Prompt: q.Prompt, Output: q.Output, Reuse: reuse}); r != engine.Accepted {
		return fmt.Errorf("%s:%d: a prompt of %d and an output of %d tokens: the replica refuses it as %s, the server that was measured did not; want a larger KV capacity or max-model-len",
			d.log.Name, q.Line, q.Prompt, q.Output, r)
	}
	d.inFlight++
	return nil
}

func (d *driver) to(at engine.Time) {
	d.now = at
	d.events = d.events[:0]
	d.engine.Advance(at, &d.events)
	for _, v := range d.events {
		after := (v.At - d.sent[v.Seq]).Seconds()
		switch v.Kind {
		case engine.FirstToken:
			d.out[v.Seq].ttft = after
		case engine.Finish:
			d.out[v.Seq].e2e = after
			d.inFlight--
		}
	}
}
