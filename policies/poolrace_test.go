package policies

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// If the replicas change between the belief and the pick, the belief is of nobody there: r0 has the prefix and moves
// to the place of the one that left.
func TestPoolBelievesAgain(t *testing.T) {
	p, err := NewPool(WeightsFile{Config: DefaultScore()}, PoolConfig{})
	if err != nil {
		t.Fatal(err)
	}
	q := Request{PromptTokens: 100, Blocks: []Block{{Hash: 1, Tokens: 64}}}
	for _, name := range []string{"gone", "cold", "r0"} {
		if err := p.Join(Replica{Name: name}); err != nil {
			t.Fatal(err)
		}
		if err := p.Cordon(name, name != "r0"); err != nil {
			t.Fatal(err)
		}
	}
	if l, _ := p.Route(&q, 0); l.Replica != "r0" {
		t.Fatalf("dispatched to %q, want the only one that is not cordoned", l.Replica)
	}
	var c call
	p.believe(&c, &q, 1)
	if want := []Hit{{}, {}, {64, 64}}; !slices.Equal(c.view.Hits, want) {
		t.Fatalf("hits %v, want %v", c.view.Hits, want)
	}
	if err := p.Leave("gone"); err != nil {
		t.Fatal(err)
	}
	if err := p.Cordon("cold", false); err != nil {
		t.Fatal(err)
	}
	if l, _ := p.decide(&c, &q, 1); l.Replica != "r0" || c.decision.Hit != 64 {
		t.Errorf("dispatched to %q with hit %d, want r0 with 64", l.Replica, c.decision.Hit)
	}
}

// Eight goroutines route while replicas report, leave, come back and are cordoned, and weights change. When all is
// done nothing is booked anywhere, and every request was dispatched or refused.
func TestPoolConcurrently(t *testing.T) {
	const routers, requests = 8, 500
	other := WeightsFile{Config: DefaultScore()}
	other.Config.Weights.Affinity, other.Config.Prefix = 1, PrefixBucket
	files := []WeightsFile{{Config: DefaultScore()}, other}
	p, err := NewPool(files[0], PoolConfig{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 6 {
		if err := p.Join(Replica{Name: fmt.Sprintf("r%d", i)}); err != nil {
			t.Fatal(err)
		}
	}
	var clock, answered atomic.Int64
	now := func() time.Duration { return time.Duration(clock.Add(1)) }
	var work, world sync.WaitGroup
	stop := make(chan struct{})
	world.Go(func() { disturb(t, p, files, now, stop) })
	for g := range routers {
		work.Go(func() {
			answered.Add(routeMany(p, uint64(g), requests, now))
		})
	}
	work.Wait()
	close(stop)
	world.Wait()
	if got := answered.Load(); got != routers*requests {
		t.Errorf("%d answers to %d requests", got, routers*requests)
	}
	v := p.Snapshot()
	for i, l := range v.Local {
		l.TTFT, l.TPOT, l.PrefillRate, l.InSample, l.WaitingInSample = 0, 0, 0, 0, 0
		if l != (Local{}) {
			t.Errorf("%s at the end: %+v, want nothing booked", v.Replicas[i].Name, l)
		}
		if ids := v.InUse[i]; len(ids) > 0 {
			t.Errorf("%s at the end: adapters %v in use, want none", v.Replicas[i].Name, ids)
		}
	}
	if index, ok := p.brain.policy.(*Score).belief.(*indexed); ok {
		slab := &index.index.slab
		for i := range index.index.lists {
			ring := index.index.lists[i].ring
			for at := slab.slots[ring].next; at != ring; at = slab.slots[at].next {
				if n := slab.slots[at].inFlight; n != 0 {
					t.Errorf("replica %d: a block has %d requests in flight at the end", i, n)
				}
			}
		}
	}
}

// routeMany routes requests with common prefixes, a few in flight at a time, and counts the answers.
func routeMany(p *Pool, router uint64, n int, now func() time.Duration) (answers int64) {
	var flights []Lease
	for i := range uint64(n) {
		q := Request{Key: router<<32 | i, Adapter: ID(i % 4), PromptTokens: 200, Blocks: []Block{{Hash: 1 + i%3, Tokens: 64}, {Hash: 10 + i%7, Tokens: 64}}}
		l, d := p.Route(&q, now())
		answers++
		if d.Action == Dispatch {
			flights = append(flights, l)
		}
		if len(flights) > 3 {
			flights[0].FirstToken(now())
			flights[0].Output(5)
			flights[0].Done(now())
			flights[1].Fail(now())
			flights = flights[2:]
		}
	}
	for _, l := range flights {
		l.Done(now())
	}
	return answers
}

// disturb changes everything that can be changed until it is told to stop.
func disturb(t *testing.T, p *Pool, files []WeightsFile, now func() time.Duration, stop <-chan struct{}) {
	for i := 0; ; i++ {
		name := fmt.Sprintf("r%d", i%6)
		at := now()
		act := [...]func() error{
			func() error {
				return p.Report(name, Signals{Have: HasKVUsed | HasKVTokens | HasAdapters, KVTokens: 5000, MaxAdapters: 1, SampledAt: at})
			},
			func() error { return p.ReportAdapters(name, []ID{1}) },
			func() error { return p.Cordon(name, i%2 == 0) },
			func() error { return p.Leave(name) },
			func() error { return p.Swap(files[i/5%2]) },
		}[i%5]
		p.Changed()
		if err := act(); err != nil {
			t.Error(err)
		}
		if i%5 == 3 {
			if err := p.Join(Replica{Name: name}); err != nil {
				t.Error(err)
			}
		}
		select {
		case <-stop:
			return
		default:
		}
	}
}

// The memory of a router stays bounded although a replica never tells its KV capacity.
func TestPoolBoundsUnknownCapacity(t *testing.T) {
	p, err := NewPool(WeightsFile{Config: DefaultScore()}, PoolConfig{})
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Join(Replica{Name: "r0"}); err != nil {
		t.Fatal(err)
	}
	for i := range uint64(40) {
		l, _ := p.Route(&Request{PromptTokens: 1 << 16, Blocks: []Block{{Hash: 1 + i, Tokens: 1 << 16}}}, 0)
		l.Done(0)
	}
	if got := p.brain.policy.(*Score).belief.(*indexed).index.lists[0].tokens; got != unknownCapacity {
		t.Errorf("%d tokens believed to be on a replica of unknown capacity, want %d", got, unknownCapacity)
	}
}

// filled returns a pool of n replicas that all have the request's prefix.
func filled(t testing.TB, n int) (*Pool, Request) {
	p, err := NewPool(WeightsFile{Config: DefaultScore()}, PoolConfig{HalfLife: 1 << 62})
	if err != nil {
		t.Fatal(err)
	}
	q := Request{PromptTokens: 6000, BlockTokens: 16, Blocks: []Block{{Hash: 1, Tokens: 512}, {Hash: 2, Tokens: 2048}, {Hash: 3, Tokens: 3000}}}
	for i := range n {
		if err := p.Join(Replica{Name: fmt.Sprintf("r%d", i), Signals: Signals{Have: HasKVUsed | HasKVTokens, KVTokens: 300_000}}); err != nil {
			t.Fatal(err)
		}
	}
	for range n { // the lightest wins when none has it
		q.Blocks[0].Hash, q.Blocks[1].Hash, q.Blocks[2].Hash = 1, 2, 3
		p.Route(&q, 0)
	}
	return p, q
}

func TestPoolAllocatesNothing(t *testing.T) {
	if raceDetector {
		t.Skip("the race detector makes sync.Pool drop at random")
	}
	p, q := filled(t, 64)
	n := testing.AllocsPerRun(100, func() {
		l, _ := p.Route(&q, 1)
		l.FirstToken(1)
		l.Done(1)
	})
	if n != 0 {
		t.Errorf("%v allocations a request, want 0", n)
	}
}

// BenchmarkPool measures a request's whole way through the book: Route, FirstToken and Done, by as many goroutines as
// there are processors, on prompts of three blocks or of 512.
func BenchmarkPool(b *testing.B) {
	for _, blocks := range []int{3, 512} {
		for _, n := range []int{8, 64, 256} {
			b.Run(fmt.Sprintf("blocks=%d/replicas=%d", blocks, n), func(b *testing.B) {
				p, q := filled(b, n)
				if blocks > 3 {
					q.Blocks = nil
					for i := range blocks {
						q.Blocks = append(q.Blocks, Block{Hash: mix(7, uint64(i)), Tokens: 11})
					}
				}
				b.ReportAllocs()
				var key atomic.Uint64
				b.RunParallel(func(pb *testing.PB) {
					q := q
					for pb.Next() {
						q.Key = key.Add(1)
						l, _ := p.Route(&q, 1)
						l.FirstToken(1)
						l.Done(1)
					}
				})
			})
		}
	}
}
