package sim

import (
	"fmt"
	"math"
	"testing"
)

// chats are conversations whose prompts grow by 1,000 tokens a turn.
func chats(n, turns int, rate, think float64) []call {
	var calls []call
	for s, at := range poisson(5, n, rate) {
		for k := range turns {
			l := 3000 + 1000*k
			calls = append(calls, call{at: at + float64(k)*think, prompt: l + 10, output: 100, group: int64(s), shared: l, session: fmt.Sprint("s", s)})
		}
	}
	return calls
}

// llm-d-router #1892, #1946, #1290, GIE #2102: active-active routers split their state. Blamed: each has its own index and
// counts, and a conversation comes to another router at each turn. With the turns of a session at one router, or a belief
// that needs no state, several are nearly as good as one.
func TestThread6SplitState(t *testing.T) {
	tr := made(t, chats(300, 6, 3, 10))
	_, one := played(t, "1 router", with(), "score", tr)
	_, turn := played(t, "4 in turn", with(routed("4,by=turn")), "score", tr)
	_, hash := played(t, "4 by session", with(routed("4")), "score", tr)
	_, bucket := played(t, "4 in turn, bucket", with(routed("4,by=turn")), "score:prefix=bucket,n=2048,k=1,bound=0", tr)
	if turn.HitRatio > 0.7*one.HitRatio || turn.TTFT.Mean < 2*one.TTFT.Mean { // 0.442 of 0.761; 0.274 s and 0.122 s
		t.Errorf("4 routers in turn hit %.3f, mean TTFT %.3f s; 1 router %.3f, %.3f s", turn.HitRatio, turn.TTFT.Mean, one.HitRatio, one.TTFT.Mean)
	}
	for name, s := range map[string]Summary{"by session": hash, "by bucket": bucket} {
		if s.HitRatio < 0.97*one.HitRatio || s.TTFT.Mean > 1.2*one.TTFT.Mean { // 0.761 and 0.128 s; 0.747 and 0.128 s
			t.Errorf("4 routers %s hit %.3f, mean TTFT %.3f s; 1 router %.3f, %.3f s", name, s.HitRatio, s.TTFT.Mean, one.HitRatio, one.TTFT.Mean)
		}
	}
}

// llm-d-router #1160, #2455, #1505, first part: models whose blocks are larger than the prompts (4,096 tokens, as with
// Mamba layers) get no signal. Blamed: engines cache whole blocks, so that below one nothing is cached and a router that is told of blocks
// has no affinity.
func TestThread8BlockFloor(t *testing.T) {
	var calls []call
	for i, at := range poisson(7, 600, 12) {
		calls = append(calls, call{at: at, prompt: 3000, output: 20, group: int64(i % 20), shared: 2944})
	}
	tr := made(t, calls)
	for _, c := range []struct {
		block int
		most  float64 // affinity of a request: whole blocks of what its group shares
	}{{16, 2944.0 / 3000}, {64, 2944.0 / 3000}, {1024, 2048.0 / 3000}, {4096, 0}} {
		r, s := played(t, fmt.Sprint("blocks of ", c.block), with(func(cfg *Config) { cfg.Engine.BlockSize, cfg.Decisions = c.block, true }), "score:prefix=oracle", tr)
		if a := mostAffinity(r); math.Abs(a-c.most) > 1e-9 {
			t.Errorf("blocks of %d: affinity up to %v, want %v", c.block, a, c.most)
		}
		if want := 0.95 * c.most; s.HitRatio < want || s.HitRatio > c.most { // 0.949, 0.949, 0.660, 0
			t.Errorf("blocks of %d: hit ratio %.3f, want %.3f to %.3f", c.block, s.HitRatio, want, c.most)
		}
	}
}

func mostAffinity(r *Result) float64 {
	most := 0.0
	for _, d := range r.Decided {
		most = max(most, d.Affinity)
	}
	return most
}

// The second part: an index that looks at the first 4,096 tokens only finds long prompts equal that part later. Blamed: the
// cap. Without it the groups have homes.
func TestThread8DepthCap(t *testing.T) {
	var calls []call
	for i, at := range poisson(7, 500, 4) {
		calls = append(calls, call{at: at, prompt: 16100, output: 20, common: 4096, group: int64(i*7919%40) + 1, shared: 16000})
	}
	tr := made(t, calls)
	_, capped := played(t, "n=4096", with(), "score:n=4096", tr)
	_, deep := played(t, "n=0", with(), "score", tr)
	if capped.HitRatio > 0.75*deep.HitRatio || capped.TTFT.Mean < 2*deep.TTFT.Mean {
		t.Errorf("the cap hits %.3f, mean TTFT %.3f s; without %.3f, %.3f s", capped.HitRatio, capped.TTFT.Mean, deep.HitRatio, deep.TTFT.Mean)
	}
}

// sglang #34513: agents with a large common system prompt collapse a router with a threshold on the match: everybody
// matches. Blamed: affinity counts what all replicas will soon have, and no load stands against it but a queue. The work
// ahead, over the tokens that the request needs itself, does.
func TestThread16PrivateTails(t *testing.T) {
	var calls []call
	for i, at := range poisson(9, 600, 10) {
		calls = append(calls, call{at: at, prompt: 13000 + i%7*200, output: 100, shared: 10000})
	}
	tr := made(t, calls)
	_, match := played(t, "match and queue", with(), "score:norm=absolute,load=0", tr)
	_, work := played(t, "work", with(), "score", tr)
	if match.TTFT.Mean < 3*work.TTFT.Mean { // 4.75 s and 0.79 s
		t.Errorf("mean TTFT %.2f s, by the work ahead %.2f s", match.TTFT.Mean, work.TTFT.Mean)
	}
}

// prime-rl #3255: few heavy keys on a hash ring leave replicas idle. Blamed: the owner takes all of its key, however busy.
// With a bound on its load, others take over.
func TestThread18HeavyKeys(t *testing.T) {
	keys := []int64{1, 1, 1, 1, 2, 2, 2, 3, 3, 4}
	var calls []call
	for i, at := range poisson(7, 600, 40) {
		calls = append(calls, call{at: at, prompt: 8200, output: 200, group: keys[i%10], shared: 8000})
	}
	tr := made(t, calls)
	const owner = "score:prefix=bucket,k=1,q=0,load=0,fit=off"
	ring, r := played(t, "ring", with(), owner+",bound=0", tr)
	bounded, b := played(t, "bounded", with(), owner+",bound=1.25", tr)
	if topShare(ring) < 0.35 || topShare(bounded) > 0.25 || r.TTFT.Mean < 2*b.TTFT.Mean {
		t.Errorf("the most used replica serves %.3f, mean TTFT %.3f s; with a bound %.3f, %.3f s", topShare(ring), r.TTFT.Mean, topShare(bounded), b.TTFT.Mean)
	}
}
