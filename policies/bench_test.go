package policies_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/seed-2cee110a/triage/policies"
)

// cluster returns a view of n busy replicas and a request whose three blocks each of them has seen.
func cluster(n int) (*policies.Request, *policies.View) {
	v := &policies.View{Now: time.Second, Replicas: make([]policies.Replica, n), Local: make([]policies.Local, n), Hits: make([]policies.Hit, n)}
	for i := range n {
		name := fmt.Sprintf("r%d", i)
		v.Replicas[i] = policies.Replica{Name: name, Salt: policies.Salt(name), Model: 1, Signals: policies.Signals{
			Have:    policies.HasWaiting | policies.HasRunning | policies.HasKVUsed | policies.HasKVTokens,
			Waiting: int32(i % 3), Running: int32(i % 17), KVUsed: float64(i%10) / 20, KVTokens: 300_000, BlockSize: 16,
		}}
		v.Local[i] = policies.Local{InFlight: int32(i % 19), UncachedPrefill: int64(i*7919) % 20_000, HeldTokens: int64(i) * 100}
	}
	r := &policies.Request{Key: 42, Model: 1, PromptTokens: 6000, EstOutput: 300, BlockTokens: 16,
		Blocks: []policies.Block{{Hash: 1, Tokens: 512}, {Hash: 2, Tokens: 2048}, {Hash: 3, Tokens: 3000}}}
	return r, v
}

// specs are the policies to measure.
var specs = []string{"round-robin", "random", "least-request", "score", "score:prefix=bucket", "score:prefix=oracle,ttft=1"}

// warm lets a policy see the request on every replica.
func warm(p policies.Policy, r *policies.Request, v *policies.View) {
	o, ok := p.(policies.Observer)
	if !ok {
		return
	}
	for i := range v.Replicas {
		o.Dispatched(r, v, &policies.Decision{Replica: i})
	}
}

func parse(t failer, text string) policies.Spec {
	t.Helper()
	s, err := policies.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// failer is what a test, a benchmark and a check of rapid have in common.
type failer interface {
	Helper()
	Fatal(...any)
}

var sizes = []int{8, 64, 256}

// BenchmarkPick measures a decision of the default scorer on a request with a hit everywhere. Bars 0.5, 2.5 and 12 us,
// aims 0.2, 1 and 4 us.
//
// The profile has two fifths in the filters (half of that the KV fit), two fifths in the sum of the terms, and the
// rest in keeping the two best: no part stands out. Comparing the settings' names costs nothing measurable, bits in
// their place were no faster; nor was a mask instead of the division that rounds to blocks.
func BenchmarkPick(b *testing.B) {
	for _, n := range sizes {
		b.Run(fmt.Sprintf("replicas=%d", n), func(b *testing.B) { benchPick(b, "score", n) })
	}
}

// BenchmarkPickOf measures the other policies at 64 replicas.
func BenchmarkPickOf(b *testing.B) {
	for _, text := range specs {
		b.Run(text, func(b *testing.B) { benchPick(b, text, 64) })
	}
}

func benchPick(b *testing.B, text string, n int) {
	r, v := cluster(n)
	p := parse(b, text).New()
	warm(p, r, v)
	if believer, ok := p.(policies.Believer); ok {
		believer.Believe(r, v)
	}
	var d policies.Decision
	b.ReportAllocs()
	for b.Loop() {
		r.Key++
		p.Pick(r, v, &d)
	}
	if d.Action != policies.Dispatch {
		b.Fatalf("decided to %v, want a dispatch", d.Action)
	}
}

// BenchmarkBelieve measures filling the hits of three blocks that every replica has. Aim at 8 replicas: 150 ns.
func BenchmarkBelieve(b *testing.B) {
	for _, text := range []string{"score", "score:prefix=bucket"} {
		for _, n := range sizes {
			b.Run(fmt.Sprintf("policy=%s/replicas=%d", text, n), func(b *testing.B) {
				r, v := cluster(n)
				p := parse(b, text).New()
				warm(p, r, v)
				b.ReportAllocs()
				for b.Loop() {
					p.(policies.Believer).Believe(r, v)
				}
			})
		}
	}
}

// BenchmarkDispatched measures what the index does for a request: two blocks that all have and a tail that nobody
// has, which pushes older tails out. Aim at 8 replicas: 400 ns.
func BenchmarkDispatched(b *testing.B) {
	for _, n := range sizes {
		b.Run(fmt.Sprintf("replicas=%d", n), func(b *testing.B) {
			r, v := cluster(n)
			p := parse(b, "score").New().(*policies.Score)
			warm(p, r, v)
			var d policies.Decision
			b.ReportAllocs()
			for b.Loop() {
				r.Blocks[2].Hash++
				d.Replica = (d.Replica + 1) % n
				p.Dispatched(r, v, &d)
			}
		})
	}
}
