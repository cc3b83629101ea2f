package policies_test

import (
	"testing"
	"time"

	"github.com/seed-2cee110a/triage/policies"
)

// A has two slots and tells adapters 1 and 2; B, which would win for nothing else, tells nothing. The request has 3.
func TestAdapterSlots(t *testing.T) {
	type edit = func(*policies.ScoreConfig, *policies.View)
	for _, tc := range []struct {
		name    string
		edit    edit
		replica int // 0 if A passes, 1 if it is filtered out
	}{
		{"both slots are taken", func(*policies.ScoreConfig, *policies.View) {}, 1},
		{"the filter is off", func(c *policies.ScoreConfig, _ *policies.View) { c.Slots = policies.SlotsOff }, 0},
		{"a third slot is free", func(_ *policies.ScoreConfig, v *policies.View) { v.Replicas[0].Signals.MaxAdapters = 3 }, 0},
		{"the same adapter twice takes one slot", func(_ *policies.ScoreConfig, v *policies.View) {
			v.Replicas[0].Adapters = []policies.ID{1, 1}
		}, 0},
		{"the second was only just sent", func(_ *policies.ScoreConfig, v *policies.View) {
			v.Replicas[0].Adapters, v.InUse = []policies.ID{1}, [][]policies.ID{{2}, nil}
		}, 1},
		{"what was sent is what is told", func(_ *policies.ScoreConfig, v *policies.View) {
			v.Replicas[0].Adapters, v.InUse = []policies.ID{1}, [][]policies.ID{{1}, nil}
		}, 0},
		{"it was sent itself", func(_ *policies.ScoreConfig, v *policies.View) {
			v.InUse = [][]policies.ID{{3}, nil}
		}, 0},
		{"it is told itself", func(_ *policies.ScoreConfig, v *policies.View) {
			v.Replicas[0].Adapters = []policies.ID{1, 2, 3}
		}, 0},
		{"those resident may be idle", func(_ *policies.ScoreConfig, v *policies.View) { v.Replicas[0].Signals.Resident = true }, 0},
		{"those resident are idle, and two others were sent", func(_ *policies.ScoreConfig, v *policies.View) {
			v.Replicas[0].Signals.Resident, v.InUse = true, [][]policies.ID{{4, 5}, nil}
		}, 1},
		{"it was left behind, but two others are in use", func(_ *policies.ScoreConfig, v *policies.View) {
			v.Idle = [][]policies.ID{{3}, nil}
		}, 1},
		{"it was left behind, and one other is in use", func(_ *policies.ScoreConfig, v *policies.View) {
			v.Replicas[0].Adapters, v.Idle = []policies.ID{1}, [][]policies.ID{{3}, nil}
		}, 0},
		{"the number of slots is unknown", func(_ *policies.ScoreConfig, v *policies.View) { v.Replicas[0].Signals.MaxAdapters = 0 }, 0},
		{"adapters are not told", func(_ *policies.ScoreConfig, v *policies.View) {
			v.Replicas[0].Signals.Have &^= policies.HasAdapters
		}, 0},
		{"they were told too long ago", func(c *policies.ScoreConfig, v *policies.View) {
			c.Stale, v.Now = time.Second, time.Minute
		}, 0},
		{"they were told long ago, and that is what counts", func(c *policies.ScoreConfig, v *policies.View) {
			c.Stale, c.StaleAs, v.Now = time.Second, policies.StaleLast, time.Minute
		}, 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c, r, v := guide()
			r.Adapter = 3
			v.Replicas[0].Adapters = []policies.ID{1, 2}
			v.Replicas[0].Signals.Have |= policies.HasAdapters
			v.Replicas[0].Signals.MaxAdapters = 2
			tc.edit(&c, v)
			d := decide(c, r, v)
			if d.Replica != tc.replica || d.Rejected[policies.NoAdapterSlot] != int32(tc.replica) {
				t.Errorf("replica %d, rejected %v, want %d, and A rejected only in favour of B", d.Replica, d.Rejected, tc.replica)
			}
		})
	}
}

// Without a slot anywhere the request is held, not refused, and goes as soon as one is free. Slots come before KV room,
// so that a replica with neither is counted under the first.
func TestNoAdapterSlotHolds(t *testing.T) {
	c, r, v := guide()
	r.Adapter = 3
	for i := range v.Replicas {
		s := &v.Replicas[i].Signals
		s.Have, s.MaxAdapters, s.KVUsed = s.Have|policies.HasAdapters, 1, 1
	}
	v.InUse = [][]policies.ID{{1}, {2}}
	if d := decide(c, r, v); d.Action != policies.Hold || d.Rejected[policies.NoAdapterSlot] != 2 || d.Rejected[policies.NoRoom] != 0 {
		t.Errorf("%v with %v rejected, want a hold for want of adapter slots", d.Action, d.Rejected)
	}
	v.InUse[1] = nil
	v.Replicas[1].Signals.KVUsed = 0
	if d := decide(c, r, v); d.Action != policies.Dispatch || d.Replica != 1 {
		t.Errorf("%v to %d after the slot of B was freed, want a dispatch to it", d.Action, d.Replica)
	}
	if got := policies.NoAdapterSlot.String(); got != "lora" {
		t.Errorf("the reason is called %q, want lora", got)
	}
}

// The book keeps its lists of adapters: no dispatch and no end allocates once each adapter was there, and no Pick does.
func TestAdaptersAllocateNothing(t *testing.T) {
	r, v := cluster(8)
	book := policies.NewBook(8)
	v.Local, v.InUse = book.Local, book.InUse
	for i := range v.Replicas {
		v.Replicas[i].Signals.Have |= policies.HasAdapters
		v.Replicas[i].Signals.MaxAdapters = 8
		v.Replicas[i].Adapters = []policies.ID{1, 2, 3, 4, 5, 6, 7, 8}
	}
	p := policies.NewScore(policies.DefaultScore())
	tickets := make([]policies.Ticket, 8)
	var now time.Duration
	turn := func() {
		for i := range tickets {
			now++
			r.Adapter = policies.ID(1 + i)
			var d policies.Decision
			p.Pick(r, v, &d)
			tickets[i] = book.Dispatched(now, r, &policies.Decision{Replica: i % 2})
		}
		for i := range tickets {
			book.Done(now, &tickets[i])
			book.Sampled(i%2, now, now)
		}
	}
	if got := testing.AllocsPerRun(50, turn); got != 0 {
		t.Errorf("%v allocations in 8 picks, dispatches and ends, want 0", got)
	}
}

// A file from before the setting was there has none and keeps its sum; another value than the default is written.
func TestWeightsOfSlots(t *testing.T) {
	w := tuned()
	w.Config.Slots = policies.SlotsOff
	off, usual := encoded(t, w), encoded(t, tuned())
	if off == usual || w.Sum() == tuned().Sum() {
		t.Errorf("slots=off changes nothing in\n%s", off)
	}
	for text, want := range map[string]policies.Slots{off: policies.SlotsOff, usual: policies.SlotsSpill} {
		back, err := policies.DecodeWeights([]byte(text))
		if err != nil || back.Config.Slots != want {
			t.Errorf("slots %q, error %v, want %q of\n%s", back.Config.Slots, err, want, text)
		}
	}
}

// An adapter that was told too long ago is a miss, unless the last signals count.
func TestStaleAdapters(t *testing.T) {
	for as, want := range map[policies.StaleAs]float64{policies.StaleUnknown: -5, policies.StaleLast: 0} {
		c, r, v := guide()
		r.Adapter, v.Replicas[0].Adapters = 3, []policies.ID{3}
		v.Replicas[0].Signals.Have |= policies.HasAdapters
		c.Stale, c.StaleAs, v.Now = time.Second, as, time.Minute
		if d := decide(c, r, v); d.Replica != 0 || d.Terms[policies.AdapterMiss] != want {
			t.Errorf("stale as %s: replica %d with term %v, want A with %v", as, d.Replica, d.Terms[policies.AdapterMiss], want)
		}
	}
}

// What a router left behind is hot as long as it is among the adapters that fit beside those in use, the last used first.
func TestLeftBehind(t *testing.T) {
	for _, tc := range []struct {
		told, idle []policies.ID
		miss       bool
	}{
		{nil, nil, true},
		{nil, []policies.ID{3}, false},
		{nil, []policies.ID{3, 4}, false},
		{nil, []policies.ID{3, 4, 5}, true},            // two slots: 4 and 5 are in them
		{[]policies.ID{1}, []policies.ID{4, 3}, false}, // 1 is in use, and 3 beside it
		{[]policies.ID{1}, []policies.ID{3, 4}, true},  // 4 is
		{[]policies.ID{3}, nil, false},                 // told
	} {
		c, r, v := guide()
		c.Slots = policies.SlotsOff
		r.Adapter = 3
		for i := range v.Replicas {
			v.Replicas[i].Signals.Have |= policies.HasAdapters
			v.Replicas[i].Signals.MaxAdapters = 2
			v.Replicas[i].Adapters = tc.told
			v.Idle = append(v.Idle, tc.idle)
		}
		if d := decide(c, r, v); d.Terms[policies.AdapterMiss] != 0 != tc.miss {
			t.Errorf("told %v, left %v: the term is %v, want a miss: %v", tc.told, tc.idle, d.Terms[policies.AdapterMiss], tc.miss)
		}
	}
}
