package policies

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// happening is one thing that a naive model of events remembers for ever.
type happening struct {
	at      time.Duration // when it counts
	kind    int
	replica int
	block   Block
}

const (
	storedThen = iota
	evictedThen
	sentThen
	endedThen
	leftThen
)

// naiveEvents answers by going through all that ever happened.
type naiveEvents struct {
	spec time.Duration
	past []happening
}

// holds works out what of a block the replica is believed to have at an instant, and whether a request in flight uses it.
func (x *naiveEvents) holds(now time.Duration, replica int, hash uint64) (tokens int32, used bool) {
	var told, sent, inFlight int32
	var until time.Duration
	for _, h := range x.past {
		if h.replica != replica || h.block.Hash != hash && h.kind != leftThen || h.at > now {
			continue
		}
		switch h.kind {
		case storedThen:
			told = max(told, h.block.Tokens)
		case evictedThen:
			told = max(0, told-h.block.Tokens)
		case sentThen:
			inFlight++
			sent, until = h.block.Tokens, h.at+x.spec
		case endedThen:
			inFlight = max(0, inFlight-1)
		case leftThen:
			told, sent, inFlight, until = 0, 0, 0, 0
		}
	}
	if now < until {
		told = max(told, sent)
	}
	return told, inFlight > 0
}

func (x *naiveEvents) match(now time.Duration, r *Request, n int) []Hit {
	hits := make([]Hit, n)
	for i := range hits {
		h, held := &hits[i], true
		for _, b := range r.Blocks {
			tokens, used := x.holds(now, i, b.Hash)
			h.Tokens += min(tokens, b.Tokens)
			if held = held && used && tokens > 0; held {
				h.Held = h.Tokens
			}
			if tokens < b.Tokens {
				break
			}
		}
		h.Tokens, h.Held = min(h.Tokens, r.PromptTokens-1), min(h.Held, r.PromptTokens-1)
	}
	return hits
}

func TestEventsAgainstNaive(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const n = 3
		delay := rapid.SampledFrom([]time.Duration{0, 3}).Draw(t, "delay")
		spec := rapid.SampledFrom([]time.Duration{0, 4}).Draw(t, "spec")
		fast, slow := newEvents(delay, spec), &naiveEvents{spec: spec}
		view := View{Replicas: make([]Replica, n), Hits: make([]Hit, n)}
		for range rapid.IntRange(1, 80).Draw(t, "operations") {
			view.Now += time.Duration(rapid.IntRange(0, 2).Draw(t, "pause"))
			r, replica := drawPath(t), rapid.IntRange(0, n-1).Draw(t, "replica")
			note := func(kind int, at time.Duration, blocks ...Block) {
				for _, b := range blocks {
					slow.past = append(slow.past, happening{at, kind, replica, b})
				}
			}
			switch rapid.IntRange(0, 7).Draw(t, "operation") {
			case 0:
				fast.forget(replica)
				for i := range slow.past { // what is on its way does not arrive
					if h := &slow.past[i]; h.replica == replica && h.at > view.Now {
						h.replica = -1
					}
				}
				note(leftThen, view.Now, Block{})
			case 1, 2:
				fast.stored(view.Now, replica, r.Blocks)
				note(storedThen, view.Now+delay, r.Blocks...)
			case 3, 4:
				lost := Block{Tokens: rapid.Int32Range(1, 100).Draw(t, "lost")}
				if len(r.Blocks) > 0 {
					lost.Hash = r.Blocks[len(r.Blocks)-1].Hash
				}
				fast.evict(view.Now, replica, lost.Hash, lost.Tokens)
				note(evictedThen, view.Now+delay, lost)
			case 5:
				fast.completed(r, replica)
				note(endedThen, view.Now, r.Blocks...)
			default:
				fast.dispatched(r, &view, replica)
				note(sentThen, view.Now, r.Blocks...)
			}
			probe := drawPath(t)
			fast.believe(probe, &view)
			if diff := cmp.Diff(slow.match(view.Now, probe, n), view.Hits); diff != "" {
				t.Fatalf("hits of %+v at %v differ (-naive +events):\n%s", probe, view.Now, diff)
			}
		}
	})
}

// A replica's facts, those on their way and guesses follow it to another place.
func TestEventsMove(t *testing.T) {
	e := newEvents(5, 20)
	v := &View{Now: 1, Replicas: make([]Replica, 2), Hits: make([]Hit, 2)}
	r := &Request{PromptTokens: 100, Blocks: []Block{{Hash: 1, Tokens: 10}, {Hash: 2, Tokens: 20}, {Hash: 3, Tokens: 30}}}
	hits := func(now time.Duration) [2]int32 {
		v.Now = now
		e.believe(r, v)
		return [2]int32{v.Hits[0].Tokens, v.Hits[1].Tokens}
	}
	e.stored(0, 1, r.Blocks[:1])
	if got := hits(5); got != [2]int32{0, 10} {
		t.Fatalf("hits %v, want the first block at 1", got)
	}
	e.stored(5, 1, r.Blocks[1:2])
	v.Now = 6
	e.dispatched(&Request{Blocks: r.Blocks[2:]}, v, 1)
	e.forget(0)
	e.move(1, 0)
	if got := hits(9); got != [2]int32{10, 0} {
		t.Errorf("at 9 hits %v, want the first block at 0", got)
	}
	if got := hits(10); got != [2]int32{60, 0} {
		t.Errorf("at 10 hits %v, want all at 0", got)
	}
	if got := hits(26); got != [2]int32{30, 0} {
		t.Errorf("at 26 hits %v, want the guess over", got)
	}
}

// What is gone takes no memory: not a block that was evicted, a guess that is over, or a request that ended.
func TestEventsForget(t *testing.T) {
	e := newEvents(2, 3)
	for i := range 10_000 {
		v := &View{Now: time.Duration(i), Replicas: make([]Replica, 1), Hits: make([]Hit, 1)}
		r := &Request{PromptTokens: 100, Blocks: []Block{{Hash: uint64(i), Tokens: 64}}}
		e.dispatched(r, v, 0)
		e.stored(v.Now, 0, r.Blocks)
		e.completed(r, 0)
		e.evict(v.Now, 0, uint64(i), 64)
	}
	if len(e.blocks) > 10 || cap(e.feed.items) > 1000 || cap(e.guesses.items) > 1000 {
		t.Errorf("%d blocks, room for %d events and %d guesses; want next to none", len(e.blocks), cap(e.feed.items), cap(e.guesses.items))
	}
}
