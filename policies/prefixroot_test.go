package policies

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// unitOf names a piece of a block that may be evicted by itself.
type unitOf struct {
	hash uint64
	at   int32 // its number in the block
}

type naiveUnit struct {
	unitOf
	tokens  int32
	touched time.Duration
}

// naiveRoot is an index with RootFirst as a list of units a replica, most recent first.
type naiveRoot struct {
	ttl   time.Duration
	lists [][]naiveUnit
}

// units cuts the request's prefix up, root first.
func units(r *Request) (all []naiveUnit) {
	for _, b := range r.Blocks {
		size := b.Tokens
		if r.BlockTokens > 0 {
			size = r.BlockTokens
		}
		for at := int32(0); at*size < b.Tokens; at++ {
			all = append(all, naiveUnit{unitOf: unitOf{b.Hash, at}, tokens: size})
		}
	}
	return all
}

func (x *naiveRoot) insert(now time.Duration, r *Request, replica int, capacity int64) {
	l := slices.DeleteFunc(x.lists[replica], func(u naiveUnit) bool { return x.ttl > 0 && now-u.touched > x.ttl })
	for _, u := range units(r) {
		l = slices.DeleteFunc(l, func(v naiveUnit) bool { return v.unitOf == u.unitOf })
		u.touched = now
		l = slices.Insert(l, 0, u)
	}
	sum := func() (n int64) {
		for _, u := range l {
			n += int64(u.tokens)
		}
		return n
	}
	for capacity > 0 && sum() > capacity {
		l = l[:len(l)-1]
	}
	x.lists[replica] = l
}

// match walks the units as long as any replica has them, and credits a replica up to the last that it has.
func (x *naiveRoot) match(now time.Duration, r *Request) []int32 {
	hits, end := make([]int32, len(x.lists)), int32(0)
	for _, u := range units(r) {
		end += u.tokens
		anyone := false
		for replica, l := range x.lists {
			if slices.ContainsFunc(l, func(v naiveUnit) bool { return v.unitOf == u.unitOf && (x.ttl == 0 || now-v.touched <= x.ttl) }) {
				hits[replica], anyone = min(end, r.PromptTokens-1), true
			}
		}
		if !anyone {
			break
		}
	}
	return hits
}

func TestRootFirstAgainstNaive(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.SampledFrom([]int{1, 3}).Draw(t, "replicas")
		ttl := rapid.SampledFrom([]time.Duration{0, 5}).Draw(t, "ttl")
		capacity := rapid.SampledFrom([]int64{0, 50, 150, 600}).Draw(t, "capacity")
		unit := 16 * rapid.Int32Range(0, 1).Draw(t, "cut")
		fast, slow := newPrefixIndex(ttl, RootFirst), &naiveRoot{ttl: ttl, lists: make([][]naiveUnit, n)}
		path := func() *Request {
			r := drawPath(t)
			r.BlockTokens = unit
			for i := range r.Blocks {
				r.Blocks[i].Tokens = 16 * (1 + r.Blocks[i].Tokens/16)
			}
			return r
		}
		var now time.Duration
		for range rapid.IntRange(1, 40).Draw(t, "operations") {
			now += time.Duration(rapid.IntRange(0, 2).Draw(t, "pause"))
			r, replica := path(), rapid.IntRange(0, n-1).Draw(t, "replica")
			fast.Insert(now, r, replica, capacity)
			slow.insert(now, r, replica, capacity)
			probe, got := path(), make([]Hit, n)
			fast.Match(now, probe, got)
			for i, want := range slow.match(now, probe) {
				if got[i].Tokens != want {
					t.Fatalf("hit of %+v at replica %d is %d, want %d", probe, i, got[i].Tokens, want)
				}
			}
		}
	})
}

// A prompt of 60 + 40 tokens in room for 60. Leaf first the tail goes, and 60 tokens are a hit. Root first the root goes,
// and the tail is no hit, until another replica has the root: then the hole counts too.
func TestOrderOfEviction(t *testing.T) {
	r := &Request{PromptTokens: 101, Blocks: []Block{{Hash: 1, Tokens: 60}, {Hash: 2, Tokens: 40}}}
	root := &Request{PromptTokens: 61, Blocks: r.Blocks[:1]}
	for order, want := range map[Order][2]int32{LeafFirst: {60, 60}, RootFirst: {0, 100}} {
		x, hits := newPrefixIndex(0, order), make([]Hit, 2)
		x.Insert(1, r, 0, 60)
		x.Match(2, r, hits)
		alone := hits[0].Tokens
		x.Insert(3, root, 1, 60)
		x.Match(4, r, hits)
		if got := [2]int32{alone, hits[0].Tokens}; got != want {
			t.Errorf("%s first: hits %v alone and beside another, want %v", order, got, want)
		}
	}
}

// The capacity is a factor of what the replica told, or tokens.
func TestCapacity(t *testing.T) {
	told := Signals{Have: HasKVTokens, KVTokens: 1000}
	for _, tc := range []struct {
		capacity float64
		sig      Signals
		want     int64
	}{{1, told, 1000}, {4, told, 4000}, {0.5, told, 500}, {100, told, 100_000}, {2e6, told, 2_000_000}, {0, told, 0}, {2, Signals{}, 2 << 20}} {
		if got := (&indexed{capacity: tc.capacity}).bound(&tc.sig); got != tc.want {
			t.Errorf("capacity %v of %d tokens: %d, want %d", tc.capacity, tc.sig.KVTokens, got, tc.want)
		}
	}
}
