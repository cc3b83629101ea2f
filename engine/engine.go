package engine

import (
	"fmt"
	"slices"
)

// Engine is one replica. See the package comment for what it does.
type Engine struct {
	cfg   Config
	given CostModel // New's
	cost  CostModel // of the steps to come
	mixed CostModel // the same, of those that serve several adapters
	lay   *Layout

	cache   cache
	seqs    []seq   // slab, from index 1
	spare   int32   // free list of seqs
	running []int32 // in admission order
	line    line    // submitted and not running, head first

	admissions int32

	decode  decoders
	prefill int     // running sequences that prefill
	chunks  []chunk // this step's prefill work, in batch order
	loras   loras

	// The steps in progress: steps equal ones, the first started at start, the last ends at end. None if steps is 0;
	// then end is when the last step ended.
	steps      int64
	start, end Time
	first      Time // duration of the first; each next one takes ramp longer
	ramp       Time
	previous   Time // start of the step that ended last

	now    Time // the latest instant the engine was asked about
	closed Time // submissions at or before this instant are over
	events []Event
	read   int // events already delivered
	stats  Stats
	path   []int32 // scratch
}

// seq is a sequence on this replica.
type seq struct {
	Sequence
	joined      Time // when it joined the waiting queue
	scheduled   Time // start of its first step
	leaf        int32
	emitted     int32
	computed    int32 // tokens in KV; while it decodes this is behind by decode.count - since
	order       int32 // value of admissions when it was admitted: the running list is in this order
	since       int64 // value of decode.count at which computed was right
	hit         int32
	preemptions int32
	shared      int32 // blocks of its shared run, held
	slot        int32 // slot in which that run ends, if there is one
	nextPartial int32
	private     int32 // run of its private blocks while it is preempted
	decoding    bool
	admitted    bool // once, ever
}

// chunk is a prefill chunk scheduled in this step.
type chunk struct {
	seq    int32
	tokens int32
}

// New returns an idle replica with a cold cache. The layout must have been cut with cfg.BlockSize.
func New(cfg Config, cost CostModel, lay *Layout) (*Engine, error) {
	if err := cfg.Check(); err != nil {
		return nil, err
	}
	if int(lay.blockSize) != cfg.BlockSize {
		return nil, fmt.Errorf("layout has blocks of %d tokens, want %d", lay.blockSize, cfg.BlockSize)
	}
	e := &Engine{cfg: cfg, given: cost, lay: lay, cache: newCache(lay, cfg.KVBlocks), seqs: make([]seq, 1), closed: -1}
	e.decode.phases = make([]int32, cfg.BlockSize)
	e.loras.slots = make([]loraSlot, cfg.MaxLoRAs)
	e.price(cost)
	return e, nil
}

// Submit hands over a sequence dispatched at now, which must not be before any instant the engine was asked about. A
// sequence that can never be served is refused at once.
func (e *Engine) Submit(now Time, s Sequence) Reason {
	if r := e.Refuse(s); r != Accepted {
		return r
	}
	if now <= e.closed {
		panic("engine: submission at an instant that Next has closed")
	}
	e.run(now)
	if e.cfg.MaxLoRAs == 0 {
		s.Adapter = 0
	}
	s.Reuse = max(s.Prompt, min(s.Reuse, s.Prompt+s.Output-1))
	q := e.alloc()
	e.seqs[q] = seq{Sequence: s, joined: now + e.cfg.OverheadBefore, leaf: e.lay.leafSlot(s.Leaf)}
	e.line.pushBack(q)
	if e.head() == e.line.len()-1 {
		e.cut(e.seqs[q].joined)
	}
	return Accepted
}

// Refuse says whether and why a sequence could never be served.
func (e *Engine) Refuse(s Sequence) Reason {
	tokens := int64(s.Prompt) + int64(s.Output)
	if e.cfg.MaxModelLen > 0 && tokens > int64(e.cfg.MaxModelLen) {
		return TooLong
	}
	b := int64(e.cfg.BlockSize)
	if (tokens-1+b-1)/b > int64(e.cfg.KVBlocks) {
		return NeverFits
	}
	return Accepted
}

// Advance appends the events delivered at or before to, in order. A step due to start exactly at to is not formed yet:
// more may be submitted at that instant.
func (e *Engine) Advance(to Time, out *[]Event) {
	e.run(to)
	for e.read < len(e.events) && e.events[e.read].At <= to {
		*out = append(*out, e.events[e.read])
		e.read++
	}
	if e.read == len(e.events) {
		e.events, e.read = e.events[:0], 0
	}
}

// Next returns a time before which nothing becomes visible, Never if no work is left; it may be a time at which
// nothing does. It closes the present instant, the latest that the engine was asked about: a step due then is formed,
// and nothing more can be submitted, nor Load asked for, at that instant.
func (e *Engine) Next() Time {
	e.run(e.now) // a submission at this instant can have cut the steps in progress to end at it
	e.closed = e.now
	if b := e.boundary(); e.steps == 0 && b <= e.now {
		e.form(b)
	}
	next := Never
	if e.steps > 0 {
		next = e.end + e.cfg.OverheadAfter
	} else if b := e.boundary(); b != Never {
		next = b + e.cfg.OverheadAfter
	}
	if e.read < len(e.events) {
		next = min(next, e.events[e.read].At)
	}
	return next
}

// Load returns the replica's state after the steps that ended at or before now.
func (e *Engine) Load(now Time) Load {
	e.run(now)
	l := Load{Running: int32(len(e.running)), Waiting: int32(e.line.len())}
	for i := e.line.len() - 1; i >= 0 && e.seqs[e.line.at(i)].joined > now; i-- {
		l.Waiting--
	}
	l.HeldBlocks = int32(e.cfg.KVBlocks) - e.cache.free()
	if e.steps > 1 {
		l.HeldBlocks += e.crossings(e.started(now))
	}
	return l
}

// Still returns an instant before which Load and Adapters stay what they were when Load was last asked for, unless something
// is submitted, the cost changes or the replica is reset until then. They may stay the same for longer.
func (e *Engine) Still() Time {
	until := e.boundary()
	switch {
	case e.steps == 1:
		until = e.end
	case e.steps > 1:
		until = e.start + e.elapsed(e.started(e.now))
	}
	for i := e.line.len() - 1; i >= 0 && e.seqs[e.line.at(i)].joined > e.now; i-- {
		until = min(until, e.seqs[e.line.at(i)].joined)
	}
	return until
}

// Cached returns how many prompt tokens of a leaf's path are in the cache at the latest instant that the engine was
// asked about, in full blocks that more than one request of the trace could hit.
func (e *Engine) Cached(leaf int32) int32 {
	if !e.cfg.EnablePrefixCaching {
		return 0
	}
	e.settle()
	e.path = e.lay.path(e.path[:0], e.lay.leafSlot(leaf), -1)
	return e.cache.resident(e.path) * e.lay.blockSize
}

// Held returns how many of the tokens that Cached counts have a holder, so that reusing them needs no free block. It
// is to be asked right after Cached, and answers for the same leaf.
func (e *Engine) Held() int32 {
	n := e.cache.resident(e.path)
	return (n - e.cache.waiting(e.path, n)) * e.lay.blockSize
}

// Stats returns what the replica has done in the steps that are complete at the latest instant that it was asked about.
func (e *Engine) Stats() Stats {
	e.settle()
	s := e.stats
	s.Evicted = e.cache.evicted
	return s
}

// Clone returns an independent copy of the replica, so that a run can be forked. Nobody watches the copy.
func (e *Engine) Clone() *Engine {
	c := *e
	c.cache.slots, c.cache.runs = slices.Clone(e.cache.slots), slices.Clone(e.cache.runs)
	c.seqs, c.running = slices.Clone(e.seqs), slices.Clone(e.running)
	c.line.items = slices.Clone(e.line.items)
	c.decode.phases, c.decode.finishes = slices.Clone(e.decode.phases), slices.Clone(e.decode.finishes)
	c.decode.fills = slices.Clone(e.decode.fills)
	c.chunks, c.events, c.path = slices.Clone(e.chunks), slices.Clone(e.events), nil
	c.loras.slots = slices.Clone(e.loras.slots)
	c.cache.watch = nil
	return &c
}

// SetCost changes how long steps take, from the first one that is formed at or after now on. The present instant must
// be open, as for a submission.
func (e *Engine) SetCost(now Time, c CostModel) {
	if now <= e.closed {
		panic("engine: cost set at an instant that Next has closed")
	}
	e.run(now)
	if e.steps > 1 {
		e.shorten(e.started(now))
	}
	e.price(c)
}

// price sets the cost of the steps to come.
func (e *Engine) price(c CostModel) {
	e.cost, e.mixed = c, c
	if f := e.cfg.MixedAdapters; f != 0 {
		e.mixed = Scaled(c, f)
	}
}

// Reset makes the replica as New returned it, with New's cost model, but for the memory that it has.
func (e *Engine) Reset() {
	c := cache{lay: e.lay, slots: e.cache.slots, runs: e.cache.runs[:1], empty: int32(e.cfg.KVBlocks)}
	clear(c.slots)
	d := decoders{phases: e.decode.phases, finishes: e.decode.finishes[:0], fills: e.decode.fills[:0]}
	clear(d.phases)
	clear(e.loras.slots)
	*e = Engine{cfg: e.cfg, given: e.given, lay: e.lay, cache: c, decode: d, closed: -1, seqs: e.seqs[:1], running: e.running[:0],
		line: line{items: e.line.items}, chunks: e.chunks[:0], events: e.events[:0], path: e.path[:0], loras: loras{slots: e.loras.slots}}
	e.price(e.given)
}

// run completes the steps that end at or before to and forms those that start before it.
func (e *Engine) run(to Time) {
	e.now = max(e.now, to)
	for {
		if e.steps > 0 {
			if e.end > to {
				return
			}
			e.complete(e.steps)
		}
		b := e.boundary()
		if b >= to {
			return
		}
		e.form(b)
	}
}

// boundary returns when the next step is to be formed, given that none is in progress.
func (e *Engine) boundary() Time {
	if len(e.running) > 0 {
		return e.end
	}
	if e.line.len() > 0 {
		return max(e.end, e.seqs[e.line.at(0)].joined)
	}
	return Never
}

func (e *Engine) alloc() int32 {
	if q := e.spare; q != 0 {
		e.spare = e.seqs[q].nextPartial
		return q
	}
	e.seqs = append(e.seqs, seq{})
	return int32(len(e.seqs) - 1)
}

func (e *Engine) blocks(tokens int32) int32 {
	return (tokens + e.lay.blockSize - 1) / e.lay.blockSize
}
