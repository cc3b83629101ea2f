package sim

import (
	"testing"
	"time"

	"github.com/seed-2cee110a/triage/policies"
)

// onePrompt is traffic that shares one system prompt.
func onePrompt(n int, rate float64) []call {
	calls := steady(1, n, rate, 2100, 200)
	for i := range calls {
		calls[i].shared = 2048
	}
	return calls
}

// llm-d-router #355: one prefix of 4,096 requests kept two of eight replicas busy and the rest idle. Blamed: load is seen
// only as requests waiting and KV usage, and neither moves before a replica is far too full, while a prefix that is cached
// outweighs both. Requests in flight are another matter: they show at once.
func TestThread1BlindLoad(t *testing.T) {
	tr := made(t, onePrompt(1024, 50))
	blind, b := played(t, "waiting only", with(), "score:norm=absolute,load=0", tr)
	counts, c := played(t, "load=1", with(), "score:norm=absolute,load=1", tr)
	if topShare(blind) < 0.95 || topShare(counts) > 0.2 { // 1.000 and 0.129
		t.Errorf("the most used replica serves %.3f, with requests in flight %.3f", topShare(blind), topShare(counts))
	}
	if b.TTFT.Mean < 3*c.TTFT.Mean { // 0.231 s and 0.053 s
		t.Errorf("mean TTFT %.2f s, with requests in flight %.2f s", b.TTFT.Mean, c.TTFT.Mean)
	}
}

// llm-d-router #669, kserve #5411: a system prompt that all requests have pins one replica until it queues. Blamed: any
// weight on affinity, since nothing stands against it. A price on requests in flight, idle replicas having none, does.
func TestThread2CommonSystemPrompt(t *testing.T) {
	tr := made(t, onePrompt(1000, 20))
	for _, c := range []struct {
		aff         string
		pins, spare [2]float64 // share of the most used replica: at least and at most
	}{
		{"0", [2]float64{0, 0.15}, [2]float64{0, 0.15}},     // 0.126 and 0.126
		{"0.1", [2]float64{0.4, 0.7}, [2]float64{0, 0.15}},  // 0.521 and 0.126
		{"0.3", [2]float64{0.95, 1}, [2]float64{0, 0.15}},   // 1.000 and 0.126
		{"3", [2]float64{0.95, 1}, [2]float64{0, 0.2}},      // 1.000 and 0.131
		{"10", [2]float64{0.95, 1}, [2]float64{0.25, 0.45}}, // 1.000 and 0.343
	} {
		pins, _ := played(t, "aff="+c.aff, with(), "score:norm=absolute,load=0,aff="+c.aff, tr)
		spare, _ := played(t, "aff="+c.aff+", load=0.3", with(), "score:norm=absolute,load=0.3,aff="+c.aff, tr)
		if x := topShare(pins); x < c.pins[0] || x > c.pins[1] {
			t.Errorf("aff=%s: the most used replica serves %.3f, want %v", c.aff, x, c.pins)
		}
		if x := topShare(spare); x < c.spare[0] || x > c.spare[1] {
			t.Errorf("aff=%s, load=0.3: the most used replica serves %.3f, want %v", c.aff, x, c.spare)
		}
	}
}

// llm-d-router #298: in waves of 800 requests scraped queues and KV lost to plain counting. Blamed: between two scrapes
// every request goes to the replica that looked best at the first. Counting what was sent since mends it, at any age.
func TestThread3Herding(t *testing.T) {
	var calls []call
	for wave := range 4 {
		for i := range 200 {
			calls = append(calls, call{at: float64(wave)*20 + float64(i)*0.01, prompt: 1000, output: 300})
		}
	}
	tr := made(t, calls)
	const weights = "score:aff=0,q=0,load=1,norm=absolute"
	_, plain := played(t, "least-request", with(), "least-request", tr)
	for _, c := range []struct {
		signals     string
		least, most float64 // times the mean TTFT of counting
	}{
		{"live", 0.99, 1.01},        // 1.0
		{"scrape=50ms", 1.1, 1.4},   // 1.2
		{"scrape=1s", 4, 10},        // 6.7
		{"scrape=30s", 8, 1 / 1e-9}, // 12
	} {
		_, blind := played(t, c.signals+", sent=off", with(signalled(c.signals)), weights+",sent=off", tr)
		_, counts := played(t, c.signals, with(signalled(c.signals)), weights, tr)
		if x := blind.TTFT.Mean / plain.TTFT.Mean; x < c.least || x > c.most {
			t.Errorf("%s: the scraped load has %.2f times the mean TTFT of counting, want %v to %v", c.signals, x, c.least, c.most)
		}
		if x := counts.TTFT.Mean / plain.TTFT.Mean; x > 1.02 { // 1.00
			t.Errorf("%s: with what was sent since, %.2f times the mean TTFT of counting", c.signals, x)
		}
	}
}

// llm-d-router #346: groups of requests with new prefixes cluster on one replica. Blamed: a new prefix goes where a hash
// says, whoever is there already; to the replica with the least work ahead it does not.
func TestThread4ColdGroups(t *testing.T) {
	const bursts, groups, members = 20, 8, 6
	var calls []call
	for b := range bursts {
		for g := range groups {
			for i := range members {
				calls = append(calls, call{at: float64(b)*12 + float64(g)*0.02 + float64(i), prompt: 8320, output: 20,
					group: int64(b*groups + g), shared: 8192})
			}
		}
	}
	tr := made(t, calls)
	hashed, h := played(t, "by hash", with(), "score:prefix=bucket,n=4096,k=1,q=0,load=0,bound=0", tr)
	work, w := played(t, "least work", with(), "score", tr)
	if a, b := crowd(hashed, groups*members, groups), crowd(work, groups*members, groups); a < 2 || b > 1.01 { // 2.7 and 1
		t.Errorf("of 8 new groups the fullest replica gets %.2f, with the work ahead %.2f", a, b)
	}
	if h.TTFT.Mean < 1.5*w.TTFT.Mean { // 0.190 s and 0.107 s
		t.Errorf("mean TTFT %.3f s, with the work ahead %.3f s", h.TTFT.Mean, w.TTFT.Mean)
	}
}

// crowd returns how many of the first requests of a burst went to its fullest replica, the mean over bursts of so many
// requests.
func crowd(r *Result, burst, first int) float64 {
	sum := 0
	for at := 0; at < len(r.Outcomes); at += burst {
		n := make([]int, len(r.Replicas))
		most := 0
		for _, o := range r.Outcomes[at : at+first] {
			n[o.Replica]++
			most = max(most, n[o.Replica])
		}
		sum += most
	}
	return float64(sum) / float64(len(r.Outcomes)/burst)
}

// sglang #14532, #14305: when a worker joins or its tree was evicted, all traffic goes to it. Blamed: the fallback is the
// worker that was sent the least so far, and the new one is that for a long time. Requests in flight forget the past.
func TestThread13NewReplica(t *testing.T) {
	tr := made(t, steady(29, 1200, 20, 2000, 100))
	joins := func(c *Config) { c.Faults = []Fault{{At: 30 * time.Second, Replica: "r7", Do: Join}} }
	sent := make([]float64, 8)
	smallest := naive(func(r *policies.Request, v *policies.View) int {
		i := lowest(v, func(i int) float64 { return sent[i] })
		sent[i] += float64(r.PromptTokens)
		return i
	})
	spiral, s := playedBy(t, "smallest tree", with(joins), smallest, tr)
	_, l := played(t, "least in flight", with(joins), "least-request", tr)
	if n := after(spiral, 30*time.Second, 50); n != 50 {
		t.Errorf("the new replica gets %d of the first 50 requests after it joined, want all", n)
	}
	if s.TTFT.P99 < 10*l.TTFT.P99 {
		t.Errorf("p99 TTFT %.2f s, with requests in flight %.2f s", s.TTFT.P99, l.TTFT.P99)
	}
}

// after counts which of the first n requests from an instant on went to the last replica.
func after(r *Result, at time.Duration, n int) int {
	to := 0
	for _, o := range r.Outcomes {
		if o.Arrived.Duration() >= at && n > 0 {
			n--
			if int(o.Replica) == len(r.Replicas)-1 {
				to++
			}
		}
	}
	return to
}

// sglang #15473: over gRPC the loads stayed 0, and all requests went to the first worker. Blamed: a number that is not
// reported is read as 0, and the first of equals wins. The scorer goes by its own book then.
func TestThread14AbsentSignals(t *testing.T) {
	tr := made(t, onePrompt(800, 40))
	absent := with(signalled("scrape=50ms,fields=kv"))
	zero := naive(func(_ *policies.Request, v *policies.View) int {
		return lowest(v, func(i int) float64 { return float64(v.Replicas[i].Signals.Waiting + v.Replicas[i].Signals.Running) })
	})
	pinned, _ := playedBy(t, "absent is 0", absent, zero, tr)
	seen, _ := playedBy(t, "reported", with(signalled("scrape=50ms")), zero, tr)
	book, _ := played(t, "absent is unknown", absent, "score:norm=absolute,aff=0", tr)
	if topShare(pinned) < 1 || topShare(seen) > 0.2 || topShare(book) > 0.15 {
		t.Errorf("the most used replica serves %.3f, %.3f with the number reported, %.3f by the router's book", topShare(pinned),
			topShare(seen), topShare(book))
	}
}

// BLIS #279, #376, #433 (inference-sim): routing to the least KV usage is worse than to the shortest queue, and far worse
// with signals of 100 ms. Blamed: KV usage as a score. As a guard that drops replicas without room it does no harm, and
// saves preemptions where room is short.
func TestThread24KVAsAScore(t *testing.T) {
	var calls []call
	for i, at := range poisson(3, 1200, 14) {
		c := call{at: at, prompt: 500, output: 400}
		if i%4 == 0 {
			c.prompt, c.output = 8000, 50
		}
		calls = append(calls, c)
	}
	tr := made(t, calls)
	usage := naive(func(_ *policies.Request, v *policies.View) int {
		return lowest(v, func(i int) float64 { return v.Replicas[i].Signals.KVUsed })
	})
	for _, c := range []struct {
		signals string
		least   float64 // times the guard's mean TTFT
	}{
		{"scrape=1ms", 1.2},   // 1.4
		{"scrape=100ms", 1.5}, // 1.7
		{"scrape=1s", 3.5},    // 4.7
	} {
		_, score := playedBy(t, c.signals+", least KV", with(signalled(c.signals)), usage, tr)
		_, guard := played(t, c.signals+", guard", with(signalled(c.signals)), "score:aff=0", tr)
		_, none := played(t, c.signals+", no KV term", with(signalled(c.signals)), "score:aff=0,kv=0,fit=off", tr)
		if x := score.TTFT.Mean / guard.TTFT.Mean; x < c.least {
			t.Errorf("%s: by KV usage %.2f times the mean TTFT, want at least %v", c.signals, x, c.least)
		}
		if guard.TTFT.Mean > 1.01*none.TTFT.Mean {
			t.Errorf("%s: the guard costs: mean TTFT %.3f s, without %.3f s", c.signals, guard.TTFT.Mean, none.TTFT.Mean)
		}
	}
}

// llm-d-router #604, vllm #24256, BLIS #1167: a full decoder preempts and computes again. Blamed: nobody asks whether the
// request fits. Held at the gateway until a replica has room with margin, it does.
func TestThread25FullReplica(t *testing.T) {
	tr := made(t, steady(31, 400, 8, 2000, 600))
	full := func(c *Config) { c.KVTokens = 20_000 }
	_, off := played(t, "fit=off", with(full), "score:fit=off,kv=0", tr)
	_, spill := played(t, "fit=spill", with(full), "score", tr)
	if off.Preemptions < 20 || spill.Preemptions > off.Preemptions/10 {
		t.Errorf("%d preemptions, with room asked for %d", off.Preemptions, spill.Preemptions)
	}
}
