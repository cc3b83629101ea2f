package policies

import (
	"slices"
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
	token       time.Duration // when its first token came
	counted     bool          // a sample was taken after its first token
	prompt, est int64
	charge      int64
	adapter     ID
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
			if d.seen {
				l.InSample++
			}
			l.InFlight++
			l.HeldTokens += d.prompt + d.est
			if !d.first {
				l.Pending++
				l.UncachedPrefill += d.charge
			}
			if d.seen && !d.counted {
				l.WaitingInSample++
			}
		}
	}
	return l
}

// naiveInUse returns the adapters of a replica in order of number.
func naiveInUse(lines []*dispatch, replica int) []ID {
	ids := []ID{}
	for _, d := range lines {
		if d.ticket.Replica == replica && !d.done && d.adapter != 0 {
			ids = append(ids, d.adapter)
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// naiveIdle returns the adapters that a replica's requests left in no use, in order of the instant and the step.
func naiveIdle(lines []*dispatch, left []ID, replica int) []ID {
	ids := []ID{}
	inUse := naiveInUse(lines, replica)
	for k, a := range left {
		if !slices.Contains(left[k+1:], a) && !slices.Contains(inUse, a) {
			ids = append(ids, a)
		}
	}
	return ids
}

func TestBookAgainstNaive(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const n = 3
		book := NewBook(n)
		var lines []*dispatch
		var inSample, waiting [n]int32
		var left [n][]ID // adapters of requests that left, in order
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
				taken := now - time.Duration(rapid.IntRange(0, 5).Draw(t, "delay"))
				seen := taken - time.Duration(rapid.IntRange(0, 2).Draw(t, "transit"))
				book.Sampled(replica, taken, seen)
				for _, d := range lines {
					d.seen = d.seen || d.ticket.Replica == replica && d.at <= seen
					d.counted = d.counted || d.ticket.Replica == replica && d.first && d.token <= taken
				}
				l := naiveLocal(lines, replica)
				inSample[replica], waiting[replica] = l.InSample, l.WaitingInSample
			case op == 1 && d != nil && !d.done:
				book.FirstToken(now, &d.ticket)
				if !d.first {
					d.first, d.token = true, now
				}
			case op == 2 && d != nil && !d.done:
				book.Done(now, &d.ticket)
				d.done = true
				if at := d.ticket.Replica; d.adapter != 0 && !slices.Contains(naiveInUse(lines, at), d.adapter) {
					left[at] = append(left[at], d.adapter)
				}
			default:
				lines = append(lines, bookRandom(t, book, now, replica))
			}
			for i := range n {
				want := naiveLocal(lines, i)
				want.InSample, want.WaitingInSample = inSample[i], waiting[i]
				if diff := cmp.Diff(want, book.Local[i]); diff != "" {
					t.Fatalf("replica %d differs (-naive +book):\n%s", i, diff)
				}
				if diff := cmp.Diff(naiveInUse(lines, i), sortedIDs(book.InUse[i])); diff != "" {
					t.Fatalf("adapters in use on replica %d differ (-naive +book):\n%s", i, diff)
				}
				if diff := cmp.Diff(naiveIdle(lines, left[i], i), append([]ID{}, book.Idle[i]...)); diff != "" {
					t.Fatalf("adapters left on replica %d differ (-naive +book):\n%s", i, diff)
				}
			}
		}
	})
}

func sortedIDs(ids []ID) []ID {
	ids = append([]ID{}, ids...)
	slices.Sort(ids)
	return ids
}

func bookRandom(t *rapid.T, book *Book, now time.Duration, replica int) *dispatch {
	r := &Request{PromptTokens: rapid.Int32Range(1, 100).Draw(t, "prompt"), EstOutput: rapid.Int32Range(0, 100).Draw(t, "output"),
		Adapter: ID(rapid.Int32Range(0, 4).Draw(t, "adapter"))}
	dec := &Decision{Replica: replica, Charge: rapid.Int32Range(1, r.PromptTokens).Draw(t, "charge"), Need: rapid.Int64Range(0, 200).Draw(t, "need")}
	return &dispatch{ticket: book.Dispatched(now, r, dec), at: now, need: dec.Need,
		prompt: int64(r.PromptTokens), est: int64(r.EstOutput), charge: int64(dec.Charge), adapter: r.Adapter}
}

// What is not seen yet takes room, and what was seen or ended none, however long the run and though nobody reports.
func TestBookForgets(t *testing.T) {
	for name, next := range map[string]func(b *Book, now time.Duration, t *Ticket){
		"seen":  func(b *Book, now time.Duration, t *Ticket) { b.FirstToken(now, t); b.Sampled(0, now-10, now-10) },
		"ended": (*Book).Done,
	} {
		book := NewBook(1)
		for i := range 100_000 {
			now := time.Duration(i)
			ticket := book.Dispatched(now, &Request{PromptTokens: 1}, &Decision{Charge: 1, Need: 1})
			next(book, now, &ticket)
		}
		u := &book.recent[0]
		if sent, begun := cap(u.sent.items), cap(u.begun.items); sent > 1000 || begun > 1000 {
			t.Errorf("%s: room for %d dispatches and %d first tokens with 10 unseen, want at most 1000", name, sent, begun)
		}
	}
}

// A report is of the instant at which it was taken: a first token that came before the report was known and after it
// was taken is not in it, nor is a request that was sent in between.
func TestBookDelayedReport(t *testing.T) {
	book := NewBook(1)
	send := func(now time.Duration, need int64) Ticket {
		return book.Dispatched(now, &Request{PromptTokens: 100}, &Decision{Charge: 100, Need: need})
	}
	early, late := send(1, 100), send(1, 1000)
	book.FirstToken(10, &early)
	book.FirstToken(11, &late)
	within := send(11, 10_000)
	book.FirstToken(12, &within)
	for _, tc := range []struct {
		taken    time.Duration
		tokens   int64
		inSample int32
	}{{9, 11_100, 2}, {10, 11_000, 2}, {11, 10_000, 3}, {12, 0, 3}} {
		book.Sampled(0, tc.taken, tc.taken)
		if l := book.Local[0]; l.SentTokens != tc.tokens || l.InSample != tc.inSample {
			t.Errorf("report of %d: %d tokens not in it and %d requests in it, want %d and %d", tc.taken, l.SentTokens, l.InSample, tc.tokens, tc.inSample)
		}
	}
}
