package policies

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// drain releases up to n requests and returns their IDs in order.
func drain(q *HoldQueue, n int) (ids []int32) {
	q.Release(func(id int32) bool {
		if len(ids) == n {
			return false
		}
		ids = append(ids, id)
		return true
	})
	return ids
}

func TestHoldQueueOrder(t *testing.T) {
	at := func(id int32, tenant ID, priority int16, tokens int64, deadline time.Duration) Held {
		return Held{ID: id, Tenant: tenant, Priority: priority, Tokens: tokens, Deadline: deadline}
	}
	for _, tc := range []struct {
		name   string
		config HoldConfig
		held   []Held
		want   []int32
	}{
		{"first come, first served", HoldConfig{}, []Held{at(1, 1, 0, 9, 30), at(2, 2, 0, 9, 10), at(3, 1, 0, 9, 20)}, []int32{1, 2, 3}},
		{"earliest deadline first", HoldConfig{EDF: true}, []Held{at(1, 1, 0, 9, 30), at(2, 2, 0, 9, 10), at(3, 1, 0, 9, 20)}, []int32{2, 3, 1}},
		{"higher bands first", HoldConfig{}, []Held{at(1, 1, 0, 9, 30), at(2, 1, -1, 9, 10), at(3, 1, 5, 9, 20)}, []int32{3, 1, 2}},
		{"turns of 100 tokens: one large prompt for ten small ones", HoldConfig{Quantum: 100}, []Held{
			at(1, 1, 0, 100, 9), at(2, 1, 0, 100, 9), at(3, 2, 0, 50, 9), at(4, 2, 0, 50, 9), at(5, 2, 0, 50, 9)}, []int32{1, 3, 4, 2, 5}},
		{"a tenant that has nothing left hands its turn on", HoldConfig{Quantum: 100}, []Held{
			at(1, 1, 0, 100, 9), at(2, 2, 0, 100, 9), at(3, 3, 0, 100, 9)}, []int32{1, 2, 3}},
		{"a prompt of three turns lets the others go first", HoldConfig{Quantum: 100}, []Held{
			at(1, 1, 0, 300, 9), at(2, 2, 0, 100, 9), at(3, 2, 0, 100, 9), at(4, 2, 0, 100, 9)}, []int32{2, 3, 1, 4}},
	} {
		q := NewHoldQueue(tc.config)
		for _, h := range tc.held {
			if !q.Push(h) {
				t.Fatalf("%s: request %d is refused", tc.name, h.ID)
			}
		}
		if got := drain(q, len(tc.held)); !slices.Equal(got, tc.want) {
			t.Errorf("%s: they go in the order %v, want %v", tc.name, got, tc.want)
		}
		if q.Len() != 0 || q.Tokens() != 0 {
			t.Errorf("%s: %d requests and %d tokens are left", tc.name, q.Len(), q.Tokens())
		}
	}
}

func TestHoldQueueStopsALaneAtTheFirstThatCannotGo(t *testing.T) {
	q := NewHoldQueue(HoldConfig{})
	for _, h := range []Held{{ID: 1, Lane: 1, Tokens: 500}, {ID: 2, Lane: 1, Tokens: 1}, {ID: 3, Lane: 1, Priority: -1, Tokens: 1}, {ID: 4, Lane: 2, Tokens: 1}} {
		q.Push(h)
	}
	var asked []int32
	q.Release(func(id int32) bool { asked = append(asked, id); return id != 1 })
	if want := []int32{1, 4}; !slices.Equal(asked, want) || q.Len() != 3 {
		t.Errorf("asked %v with %d left, want %v with 3", asked, q.Len(), want)
	}
}

func TestHoldQueueLimits(t *testing.T) {
	q := NewHoldQueue(HoldConfig{MaxRequests: 3, MaxTokens: 100})
	for i, tc := range []struct {
		tokens int64
		want   bool
	}{{500, true}, {1, false}} { // an empty queue takes any
		if got := q.Push(Held{ID: int32(i), Tokens: tc.tokens}); got != tc.want {
			t.Errorf("request %d of %d tokens: taken %v, want %v", i, tc.tokens, got, tc.want)
		}
	}
	drain(q, 1)
	for i, want := range []bool{true, true, true, false} {
		if got := q.Push(Held{ID: int32(i), Tokens: 10}); got != want {
			t.Errorf("request %d: taken %v, want %v", i, got, want)
		}
	}
}

// Whatever is pushed, released and expired: each request leaves once, expired ones in order of deadline and not before it,
// the others within lane, band and tenant in the order of the queue, and no lower band before a higher one.
func TestHoldQueueLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := HoldConfig{EDF: rapid.Bool().Draw(t, "edf"), Quantum: rapid.SampledFrom([]int64{0, 16, 100}).Draw(t, "quantum")}
		q := NewHoldQueue(c)
		var held []Held // those inside, by arrival
		var id int32
		leave := func(id int32) Held {
			i := slices.IndexFunc(held, func(h Held) bool { return h.ID == id })
			if i < 0 {
				t.Fatalf("request %d leaves and is not inside", id)
			}
			h := held[i]
			held = slices.Delete(held, i, i+1)
			return h
		}
		for now := time.Duration(0); now < 60; now++ {
			for range rapid.IntRange(0, 3).Draw(t, "pushed") {
				h := Held{ID: id, Lane: ID(rapid.IntRange(0, 1).Draw(t, "lane")), Tenant: ID(rapid.IntRange(0, 2).Draw(t, "tenant")),
					Priority: int16(rapid.IntRange(-1, 1).Draw(t, "priority")), Tokens: rapid.Int64Range(1, 300).Draw(t, "tokens"),
					Arrived: now, Deadline: now + time.Duration(rapid.IntRange(1, 20).Draw(t, "patience"))}
				id++
				q.Push(h)
				held = append(held, h)
			}
			for {
				id, ok := q.Expire(now)
				if !ok {
					break
				}
				if h := leave(id); h.Deadline > now {
					t.Fatalf("request %d gave up at %d, its deadline is %d", id, now, h.Deadline)
				}
			}
			if due, ok := q.NextDeadline(); ok && due <= now || ok != (len(held) > 0) {
				t.Fatalf("at %d the next deadline is %d, %v with %d held", now, due, ok, len(held))
			}
			n := rapid.IntRange(0, 4).Draw(t, "room")
			q.Release(func(id int32) bool {
				if n--; n < 0 {
					return false
				}
				h := leave(id)
				for _, o := range held {
					if o.Lane != h.Lane {
						continue
					}
					if o.Priority > h.Priority {
						t.Fatalf("%+v goes before %+v of a higher band", h, o)
					}
					same := o.Priority == h.Priority && (c.Quantum == 0 || o.Tenant == h.Tenant)
					if before := o.ID < h.ID; same && (!c.EDF && before || c.EDF && (o.Deadline < h.Deadline || o.Deadline == h.Deadline && before)) {
						t.Fatalf("%+v goes before %+v", h, o)
					}
				}
				return true
			})
			var tokens int64
			for _, h := range held {
				tokens += h.Tokens
			}
			if q.Len() != len(held) || q.Tokens() != tokens {
				t.Fatalf("%d requests of %d tokens inside, want %d of %d", q.Len(), q.Tokens(), len(held), tokens)
			}
		}
	})
}

// Of tenants that always have something to send, none gets ahead of another by more than its turn and one request.
func TestTurnsAreFairByTokens(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		quantum := rapid.Int64Range(10, 1000).Draw(t, "quantum")
		size := []int64{rapid.Int64Range(1, 50).Draw(t, "small"), rapid.Int64Range(1, 5000).Draw(t, "large")}
		q := NewHoldQueue(HoldConfig{Quantum: quantum})
		sent := []int64{0, 0}
		var id int32
		push := func(tenant int) {
			q.Push(Held{ID: id<<1 | int32(tenant), Tenant: ID(tenant), Tokens: size[tenant], Deadline: time.Hour})
			id++
		}
		for range 3 {
			push(0)
			push(1)
		}
		q.Release(func(id int32) bool {
			tenant := int(id & 1)
			sent[tenant] += size[tenant]
			push(tenant)
			if ahead, most := sent[0]-sent[1], quantum+max(size[0], size[1]); ahead > most || -ahead > most {
				t.Fatalf("of %d and %d tokens a request one is ahead by %d, want at most %d", size[0], size[1], ahead, most)
			}
			return sent[0]+sent[1] < 100_000
		})
	})
}
