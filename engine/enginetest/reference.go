// Package enginetest holds the engine's reference, written to be obviously right, and the tests that compare the two.
// Only tests import it.
package enginetest

import (
	"fmt"

	"github.com/seed-2cee110a/triage/engine"
)

// Reference is the engine written to be obviously right: one block, one step and one sequence at a time, with plain
// loops over slices and maps. It follows the package comment of engine to
// the letter and is what the engine is compared with.
type Reference struct {
	cfg    engine.Config
	given  engine.CostModel // New's
	cost   engine.CostModel
	forest *engine.Forest

	now     engine.Time // the present: the latest instant that a caller named
	waiting []*refSeq   // everything submitted that does not run, head first
	running []*refSeq   // in admission order

	stepping bool        // a step is in progress
	start    engine.Time // of the step in progress, or of the one before
	end      engine.Time // of the same
	batch    []*refSeq   // scheduled in it, in order

	pending []engine.Event // not yet delivered, in order
	pool    refPool
	loras   refLoRAs
	stats   engine.Stats
	seen    refSeen

	accepted []*refSeq

	// AtOnce takes back two simplifications: each running sequence looks at the cache before the next one allocates, as
	// in vLLM, and private blocks that a second admission does not hit stay hittable. It is for measuring what they move.
	AtOnce bool
}

// refSeen counts what a run went through, so that a test can tell whether its cases are interesting.
type refSeen struct {
	hits, ownHits, duplicates, blocked, starved, watermarked, notYet, chunks, refused int
	skipped, overtaken, loads, unloads, mixed, repriced, generated, generatedHits     int
}

// refSeq is a sequence and how far it has come.
type refSeq struct {
	engine.Sequence
	serial      int
	submitted   engine.Time
	join        engine.Time // since when it waits
	emitted     int
	computed    int         // tokens with KV, those of the step in progress included
	blocks      []*refBlock // of these tokens
	admitted    bool        // at least once
	firstHit    int
	scheduled   engine.Time
	first       engine.Time
	finish      engine.Time
	preemptions int
}

// named is how many of the tokens of s, from the start, the path to its leaf can name: those of the prompt and, if a
// later turn is known, those that are generated and stored.
func (s *refSeq) named() int {
	return max(int(s.Prompt), min(int(s.Reuse), int(s.Prompt+s.Output)-1))
}

// tokens is what has to be computed before the next token can be emitted.
func (s *refSeq) tokens() int { return int(s.Prompt) + s.emitted }

func (s *refSeq) done() bool { return s.emitted == int(s.Output) }

// New returns an idle replica with a cold cache.
func New(cfg engine.Config, cost engine.CostModel, f *engine.Forest) *Reference {
	return &Reference{cfg: cfg, given: cost, cost: cost, forest: f, pool: newRefPool(cfg.KVBlocks), start: -1}
}

// Reset makes the replica as New returned it. What it has seen stays.
func (r *Reference) Reset() {
	seen, atOnce := r.seen, r.AtOnce
	*r = *New(r.cfg, r.given, r.forest)
	r.seen, r.AtOnce = seen, atOnce
}

// SetCost changes the cost of the steps that are formed from now on.
func (r *Reference) SetCost(now engine.Time, c engine.CostModel) {
	r.run(now)
	r.cost = c
	r.seen.repriced++
}

// Submit hands over s at the present instant.
func (r *Reference) Submit(now engine.Time, s engine.Sequence) engine.Reason {
	r.run(now)
	if reason := r.Refuse(s); reason != engine.Accepted {
		r.seen.refused++
		return reason
	}
	q := &refSeq{Sequence: s, serial: len(r.accepted), submitted: now, join: now + r.cfg.OverheadBefore}
	r.accepted = append(r.accepted, q)
	r.waiting = append(r.waiting, q)
	return engine.Accepted
}

// Refuse says whether and why a sequence could never be served.
func (r *Reference) Refuse(s engine.Sequence) engine.Reason {
	switch {
	case r.cfg.MaxModelLen > 0 && int(s.Prompt)+int(s.Output) > r.cfg.MaxModelLen:
		return engine.TooLong
	case r.blocksFor(int(s.Prompt)+int(s.Output)-1) > r.cfg.KVBlocks:
		return engine.NeverFits
	}
	return engine.Accepted
}

// Advance appends the events delivered up to and at to.
func (r *Reference) Advance(to engine.Time, out *[]engine.Event) {
	r.run(to)
	for len(r.pending) > 0 && r.pending[0].At <= to {
		*out = append(*out, r.pending[0])
		r.pending = r.pending[1:]
	}
}

// Next starts the step that is due now, if any, and returns an instant after now before which nothing is visible.
func (r *Reference) Next() engine.Time {
	if at, ok := r.due(); ok && at <= r.now {
		r.form(at)
	}
	if len(r.pending) > 0 {
		return r.pending[0].At
	}
	if r.stepping {
		return r.end + r.cfg.OverheadAfter
	}
	if at, ok := r.due(); ok {
		return at
	}
	return engine.Never
}

// Load is the replica's state after the steps that end at or before now, before a batch at now is formed.
func (r *Reference) Load(now engine.Time) engine.Load {
	r.run(now)
	l := engine.Load{Running: int32(len(r.running))}
	for _, s := range r.waiting {
		if s.join <= now {
			l.Waiting++
		}
	}
	for _, b := range r.pool.all {
		if b.holders > 0 {
			l.HeldBlocks++
		}
	}
	return l
}

// Still promises nothing: everything has to be asked for again.
func (r *Reference) Still() engine.Time { return r.now }

// Cached returns the tokens of leaf's path that are resident now as a prefix.
func (r *Reference) Cached(leaf int32) int32 {
	k := 0
	for k < r.identified(leaf, 1<<30) && r.pool.resident[r.sharedKey(leaf, k)] != nil {
		k++
	}
	return int32(k * r.cfg.BlockSize)
}

func (r *Reference) Stats() engine.Stats { return r.stats }

// run goes through every step that ends at or before to, and starts those that are due before to.
func (r *Reference) run(to engine.Time) {
	if to < r.now {
		panic(fmt.Sprintf("reference: time goes back from %d to %d", r.now, to))
	}
	for {
		if r.stepping {
			if r.end > to {
				break
			}
			r.finishStep()
			continue
		}
		at, ok := r.due()
		if !ok || at >= to {
			break
		}
		r.form(at)
	}
	r.now = to
}

// due returns when the next step starts, between two steps.
func (r *Reference) due() (at engine.Time, ok bool) {
	if r.stepping {
		return 0, false
	}
	if len(r.running) > 0 {
		return r.end, true
	}
	if len(r.waiting) > 0 {
		return max(r.end, r.waiting[0].join), true
	}
	return 0, false
}

// blocksFor returns the KV blocks that n tokens fill, the last one perhaps in part.
func (r *Reference) blocksFor(n int) int { return (n + r.cfg.BlockSize - 1) / r.cfg.BlockSize }

// identified returns how many leading full blocks of so many tokens with this leaf can be shared with other requests.
func (r *Reference) identified(leaf int32, tokens int) int {
	if leaf < 0 || !r.cfg.EnablePrefixCaching {
		return 0
	}
	k := 0
	for (k+1)*r.cfg.BlockSize <= min(tokens, int(r.forest.End[leaf])) {
		if node := r.nodeOf(leaf, k); r.forest.Walks[node] < 2 {
			break
		}
		k++
	}
	return k
}

// nodeOf returns the node on leaf's path that contains the last token of block k.
func (r *Reference) nodeOf(leaf int32, k int) int32 {
	last := int32((k+1)*r.cfg.BlockSize - 1)
	node := leaf
	for r.forest.Parent[node] >= 0 && r.forest.End[r.forest.Parent[node]] > last {
		node = r.forest.Parent[node]
	}
	return node
}

func (r *Reference) sharedKey(leaf int32, k int) refKey {
	return refKey{owner: refShared, node: r.nodeOf(leaf, k), index: k}
}
