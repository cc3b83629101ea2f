package policies

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// dispatch is one line of a naive book, which adds up all lines to answer.
type dispatch struct {
	ticket      Ticket
	at          time.Duration
	need        int64
	seen        bool
	first, done bool
	counted     bool // a sample came after its first token
	prompt, est int64
	charge      int64
}

func naiveLocal(lines []*dispatch, replica int) (l Local) {
	for _, d := range lines {
		if d.ticket.Replica != replica {
			continue
		}
		if !d.seen && !d.first && !d.done {
			l.SentSinceSample++
		}
		if !d.counted && !d.done {
			l.SentTokens += d.need
		}
		if !d.done {
			l.InFlight++
			l.HeldTokens += d.prompt + d.est
			if !d.first {
				l.UncachedPrefill += d.charge
			}
		}
	}
	return l
}

func TestBookAgainstNaive(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const n = 3
		book := NewBook(n)
		var lines []*dispatch
		var inSample [n]int32
		var now time.Duration
		for range rapid.IntRange(1, 200).Draw(t, "operations") {
			now += time.Duration(rapid.IntRange(0, 2).Draw(t, "pause"))
			replica := rapid.IntRange(0, n-1).Draw(t, "replica")
			var d *dispatch
			if len(lines) > 0 {
				d = lines[rapid.IntRange(0, len(lines)-1).Draw(t, "line")]
			}
			switch op := rapid.IntRange(0, 5).Draw(t, "operation"); {
			case op == 0:
				seen := now - time.Duration(rapid.IntRange(0, 5).Draw(t, "delay"))
				book.Sampled(replica, seen)
				for _, d := range lines {
					d.seen = d.seen || d.ticket.Replica == replica && d.at <= seen
					d.counted = d.counted || d.ticket.Replica == replica && d.first
				}
				l := naiveLocal(lines, replica)
				inSample[replica] = l.InFlight - l.SentSinceSample
			case op == 1 && d != nil && !d.done:
				book.FirstToken(&d.ticket)
				d.first = true
			case op == 2 && d != nil && !d.done:
				book.Done(&d.ticket)
				d.done = true
			default:
				lines = append(lines, bookRandom(t, book, now, replica))
			}
			for i := range n {
				want := naiveLocal(lines, i)
				want.InSample = inSample[i]
				if diff := cmp.Diff(want, book.Local[i]); diff != "" {
					t.Fatalf("replica %d differs (-naive +book):\n%s", i, diff)
				}
			}
		}
	})
}

func bookRandom(t *rapid.T, book *Book, now time.Duration, replica int) *dispatch {
	r := &Request{PromptTokens: rapid.Int32Range(1, 100).Draw(t, "prompt"), EstOutput: rapid.Int32Range(0, 100).Draw(t, "output")}
	dec := &Decision{Replica: replica, Charge: rapid.Int32Range(1, r.PromptTokens).Draw(t, "charge"), Need: rapid.Int64Range(0, 200).Draw(t, "need")}
	return &dispatch{ticket: book.Dispatched(now, r, dec), at: now, need: dec.Need,
		prompt: int64(r.PromptTokens), est: int64(r.EstOutput), charge: int64(dec.Charge)}
}

// The list of unseen dispatches stays as long as what is unseen, however long the run.
func TestBookForgetsSeen(t *testing.T) {
	book := NewBook(1)
	for i := range 100_000 {
		book.Dispatched(time.Duration(i), &Request{PromptTokens: 1}, &Decision{Charge: 1})
		book.Sampled(0, time.Duration(i-10))
	}
	if got := cap(book.recent[0].unseen); got > 1000 {
		t.Errorf("room for %d dispatches with 10 unseen, want at most 1000", got)
	}
}
