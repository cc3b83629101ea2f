package policies

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// naiveIndex is PrefixIndex written to be obviously right: a slice a replica, most recent first.
type naiveIndex struct {
	ttl   time.Duration
	lists [][]naiveBlock
	unit  map[uint64]int32
}

type naiveBlock struct {
	hash             uint64
	tokens, inFlight int32
	touched          time.Duration
}

func (x *naiveIndex) at(replica int, hash uint64) int {
	return slices.IndexFunc(x.lists[replica], func(b naiveBlock) bool { return b.hash == hash })
}

func (x *naiveIndex) match(now time.Duration, r *Request) []Hit {
	hits := make([]Hit, len(x.lists))
	for replica := range x.lists {
		h, held := &hits[replica], true
		for _, b := range r.Blocks {
			at := x.at(replica, b.Hash)
			if at < 0 || x.ttl > 0 && now-x.lists[replica][at].touched > x.ttl {
				break
			}
			n := x.lists[replica][at]
			h.Tokens += min(n.tokens, b.Tokens)
			if held = held && n.inFlight > 0; held {
				h.Held += min(n.tokens, b.Tokens)
			}
			if n.tokens < b.Tokens {
				break
			}
		}
		h.Tokens, h.Held = min(h.Tokens, r.PromptTokens-1), min(h.Held, r.PromptTokens-1)
	}
	return hits
}

func (x *naiveIndex) insert(now time.Duration, r *Request, replica int, capacity int64) {
	l := x.lists[replica]
	l = slices.DeleteFunc(l, func(b naiveBlock) bool { return x.ttl > 0 && now-b.touched > x.ttl })
	for _, b := range slices.Backward(r.Blocks) {
		var old naiveBlock
		if at := slices.IndexFunc(l, func(n naiveBlock) bool { return n.hash == b.Hash }); at >= 0 {
			old = l[at]
			l = slices.Delete(l, at, at+1)
		}
		l = slices.Insert(l, 0, naiveBlock{b.Hash, b.Tokens, old.inFlight + 1, now})
		x.unit[b.Hash] = r.BlockTokens
	}
	for capacity > 0 && total(l) > capacity {
		last := &l[len(l)-1]
		if unit := int64(x.unit[last.hash]); unit > 0 {
			keep := int64(last.tokens) - (total(l) - capacity)
			if keep = keep / unit * unit; keep > 0 {
				last.tokens = int32(keep)
				break
			}
		}
		l = l[:len(l)-1]
	}
	x.lists[replica] = l
}

func (x *naiveIndex) release(r *Request, replica int) {
	for _, b := range r.Blocks {
		if at := x.at(replica, b.Hash); at >= 0 {
			n := &x.lists[replica][at]
			n.inFlight = max(0, n.inFlight-1)
		}
	}
}

func total(l []naiveBlock) (sum int64) {
	for _, b := range l {
		sum += int64(b.tokens)
	}
	return sum
}

// drawPath returns a request along a random path of a small tree. A block's tokens follow from its hash.
func drawPath(t *rapid.T) *Request {
	r := &Request{PromptTokens: rapid.Int32Range(1, 400).Draw(t, "prompt"), BlockTokens: 16 * rapid.Int32Range(0, 1).Draw(t, "cut")}
	hash := uint64(0)
	for range rapid.IntRange(0, 4).Draw(t, "depth") {
		hash = mix(hash, rapid.Uint64Range(0, 2).Draw(t, "branch"))
		r.Blocks = append(r.Blocks, Block{Hash: hash, Tokens: tokensOf(hash)})
	}
	return r
}

func tokensOf(hash uint64) int32 { return 1 + int32(hash%100) }

// TestPrefixIndexAgainstNaive drives both with the same random operations and looks at every answer.
func TestPrefixIndexAgainstNaive(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.SampledFrom([]int{1, 3, 20}).Draw(t, "replicas")
		ttl := rapid.SampledFrom([]time.Duration{0, 5}).Draw(t, "ttl")
		capacity := rapid.SampledFrom([]int64{0, 50, 150, 600}).Draw(t, "capacity")
		fast, slow := NewPrefixIndex(ttl), &naiveIndex{ttl: ttl, lists: make([][]naiveBlock, n), unit: map[uint64]int32{}}
		var now time.Duration
		for range rapid.IntRange(1, 60).Draw(t, "operations") {
			r, replica := drawPath(t), rapid.IntRange(0, n-1).Draw(t, "replica")
			now += time.Duration(rapid.IntRange(0, 2).Draw(t, "pause"))
			switch rapid.IntRange(0, 10).Draw(t, "operation") {
			case 0:
				fast.Forget(replica)
				slow.lists[replica] = nil
			case 10:
				from := rapid.IntRange(0, n-1).Draw(t, "from")
				if from != replica {
					fast.Forget(replica)
					fast.Move(from, replica)
					slow.lists[replica], slow.lists[from] = slow.lists[from], nil
				}
			case 1, 2, 3:
				fast.Release(r, replica)
				slow.release(r, replica)
			default:
				fast.Insert(now, r, replica, capacity)
				slow.insert(now, r, replica, capacity)
			}
			probe := drawPath(t)
			got := make([]Hit, n)
			fast.Match(now, probe, got)
			if diff := cmp.Diff(slow.match(now, probe), got); diff != "" {
				t.Fatalf("hits of %+v at %v differ (-naive +index):\n%s", probe, now, diff)
			}
			checkIndex(t, fast, slow, capacity)
		}
	})
}

// checkIndex compares the lists and tests what must always hold: the bound, the sums, closure under prefixes.
func checkIndex(t *rapid.T, x *PrefixIndex, slow *naiveIndex, capacity int64) {
	distinct := map[uint64]bool{}
	for replica := range x.lists {
		l := &x.lists[replica]
		var got []naiveBlock
		for at := x.slab.slots[l.ring].next; at != l.ring; at = x.slab.slots[at].next {
			s := x.slab.slots[at]
			got = append(got, naiveBlock{x.table.entries[s.entry].hash, s.tokens, s.inFlight, s.touched})
			distinct[x.table.entries[s.entry].hash] = true
		}
		if !slices.Equal(got, slow.lists[replica]) {
			t.Fatalf("list of replica %d is %v, want %v", replica, got, slow.lists[replica])
		}
		if total(got) != l.tokens || capacity > 0 && l.tokens > capacity {
			t.Fatalf("replica %d counts %d tokens of %d, bound %d", replica, l.tokens, total(got), capacity)
		}
		checkClosed(t, got)
	}
	if x.table.used != len(distinct) {
		t.Fatalf("%d blocks in the table, want the %d that some replica has", x.table.used, len(distinct))
	}
}

// checkClosed: whatever follows a block in the prompt comes after it in the list, and only whole blocks are followed.
func checkClosed(t *rapid.T, l []naiveBlock) {
	for i, b := range l {
		for branch := range uint64(3) {
			child := mix(b.hash, branch)
			at := slices.IndexFunc(l, func(n naiveBlock) bool { return n.hash == child })
			if at >= 0 && (at < i || b.tokens < tokensOf(b.hash)) {
				t.Fatalf("block %d of %v has a follower at %d", i, l, at)
			}
		}
	}
}

// Tails that never come again leave no trace beyond the capacity: 100,000 of 100 tokens on 4 replicas that hold ten
// each and the root before them.
func TestPrefixIndexForgetsTails(t *testing.T) {
	x := NewPrefixIndex(0)
	for i := range 100_000 {
		r := &Request{PromptTokens: 200, Blocks: []Block{{Hash: 1, Tokens: 100}, {Hash: uint64(1000 + i), Tokens: 100}}}
		x.Insert(0, r, i%4, 1100)
		if x.table.used > 1+4*10 {
			t.Fatalf("%d blocks after %d requests, want at most a root and ten tails a replica", x.table.used, i+1)
		}
	}
	if slots, entries := len(x.slab.slots), len(x.table.entries); slots > 200 || entries > 200 {
		t.Errorf("%d slots and %d entries for 44 beliefs, want at most 200", slots, entries)
	}
}

// A cut may fall inside a block only at its multiples: capacity 100, a root of 64 and a tail of 50 that may be cut
// at 16: 36 are left of the tail, so 32 are kept.
func TestPrefixIndexCutsTail(t *testing.T) {
	for _, tc := range []struct{ unit, want int32 }{{16, 64 + 32}, {0, 64}} {
		x, hits := NewPrefixIndex(0), make([]Hit, 1)
		r := &Request{PromptTokens: 200, BlockTokens: tc.unit, Blocks: []Block{{Hash: 1, Tokens: 64}, {Hash: 2, Tokens: 50}}}
		x.Insert(0, r, 0, 100)
		if x.Match(0, r, hits); hits[0].Tokens != tc.want {
			t.Errorf("cut at multiples of %d: %d tokens left, want %d", tc.unit, hits[0].Tokens, tc.want)
		}
	}
}

// A row shrinks when replicas drop its block, so that a block that all had once does not cost for ever.
func TestPrefixIndexRowsShrink(t *testing.T) {
	x := NewPrefixIndex(0)
	r := &Request{PromptTokens: 200, Blocks: []Block{{Hash: 1, Tokens: 100}}}
	for i := range 64 {
		x.Insert(0, r, i, 0)
	}
	if e := x.table.find(1); e.n != 64 || e.size != 6 {
		t.Fatalf("%d slots in a row of 2^%d, want 64 in 2^6", e.n, e.size)
	}
	for i := range 63 {
		x.Forget(i)
	}
	if e := x.table.find(1); e.n != 1 || e.size > 1 {
		t.Errorf("%d slots in a row of 2^%d, want 1 in 2^1 at most", e.n, e.size)
	}
}

// A limit inside a block is cut to its unit, and the key says where; one between blocks is the block's hash.
func TestCutAt(t *testing.T) {
	r := &Request{BlockTokens: 16, Blocks: []Block{{Hash: 1, Tokens: 64}, {Hash: 2, Tokens: 0}, {Hash: 3, Tokens: 50}}}
	for _, tc := range []struct {
		limit, tokens int32
		key           uint64
	}{
		{15, 0, 0},
		{40, 32, mix(1, 32)},
		{63, 48, mix(1, 48)},
		{64, 64, 2},
		{79, 64, 2},
		{100, 96, mix(3, 32)},
		{114, 114, 3},
		{1000, 114, 3},
	} {
		if tokens, key := cutAt(r, tc.limit); tokens != tc.tokens || key != tc.key {
			t.Errorf("cutAt(%d) = %d, %x, want %d, %x", tc.limit, tokens, key, tc.tokens, tc.key)
		}
	}
}

// An empty block on the way stops nothing.
func TestPrefixIndexEmptyBlock(t *testing.T) {
	x, hits := NewPrefixIndex(0), make([]Hit, 1)
	r := &Request{PromptTokens: 200, Blocks: []Block{{Hash: 1, Tokens: 64}, {Hash: 2}, {Hash: 3, Tokens: 50}}}
	x.Insert(0, r, 0, 0)
	if x.Match(0, r, hits); hits[0] != (Hit{114, 114}) {
		t.Errorf("hit %v in flight, want 114 tokens, all held", hits[0])
	}
	x.Release(r, 0)
	if x.Match(0, r, hits); hits[0] != (Hit{114, 0}) {
		t.Errorf("hit %v when done, want 114 tokens, none held", hits[0])
	}
}
