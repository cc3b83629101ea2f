package policies_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/seed-2cee110a/triage/policies"
	"github.com/seed-2cee110a/triage/policies/policytest"
)

// logged is a file with every setting away from its default.
func logged() policies.WeightsFile {
	w := tuned()
	w.Config.Weights = policies.Weights{Affinity: 7.3, Queue: 1.1, KVPressure: 30, AdapterMiss: 0.7, Load: 0.013, Tokens: 0.4, TTFT: 0.3, TPOT: 0.2}
	w.Config.Norm, w.Config.PrefixTokens, w.Config.Stale, w.Config.StaleAs = policies.NormAbsolute, 3000, 2*time.Second, policies.StaleFull
	return w
}

// What a policy saw comes back from the log to the bit, so that any policy could decide again.
func TestDecisionLogHoldsAll(t *testing.T) {
	for _, config := range []policies.ScoreConfig{policies.DefaultScore(), logged().Config} {
		w := policies.WeightsFile{Config: config}
		rapid.Check(t, func(rt *rapid.T) {
			var b bytes.Buffer
			log := policies.NewDecisionLog(&b)
			for range 5 {
				c := policytest.Draw(rt)
				for i := range c.View.Replicas {
					rep := &c.View.Replicas[i]
					rep.Salt += uint64(rapid.IntRange(0, 1).Draw(rt, "other salt"))
					c.View.Local[i].TTFT *= rapid.Float64Range(0, 1).Draw(rt, "ttft")
				}
				var d policies.Decision
				policies.NewScore(config).Pick(&c.Request, &c.View, &d)
				log.Write(&c.Request, &c.View, &d, w.Sum())
			}
			total, same, err := policies.ReplayLog(bytes.NewReader(b.Bytes()), w)
			if err != nil || total != 5 || same != 5 || log.Err() != nil {
				rt.Fatalf("%d of %d the same: %v, %v in\n%s", same, total, err, log.Err(), &b)
			}
		})
	}
}

// worldOf makes random requests at a pool of replicas with random signals: many ties, holds for want of room, failures for
// want of the model.
func worldOf(t *testing.T, w policies.WeightsFile, n int) (log []byte, actions map[policies.Action]int, ties int) {
	t.Helper()
	var b bytes.Buffer
	decisions := policies.NewDecisionLog(&b)
	p, err := policies.NewPool(w, policies.PoolConfig{Log: decisions})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 8 {
		if err := p.Join(policies.Replica{Name: fmt.Sprintf("10.0.0.%d:8000", i), Model: policies.ID(1 + i%2)}); err != nil {
			t.Fatal(err)
		}
	}
	rng := rand.New(rand.NewPCG(1, 2))
	actions = map[policies.Action]int{}
	var flights []policies.Lease
	for i := range n {
		now := time.Duration(i) * time.Millisecond
		if i%10 == 0 {
			s := policies.Signals{Have: 31, Waiting: rng.Int32N(3), Running: rng.Int32N(9), KVUsed: rng.Float64(), KVTokens: 40_000, BlockSize: 16, MaxAdapters: 2, SampledAt: now}
			name := fmt.Sprintf("10.0.0.%d:8000", rng.IntN(8))
			adapters := []policies.ID{policies.ID(1 + rng.Int32N(3)), policies.ID(1 + rng.Int32N(3))}
			if err := errors.Join(p.Report(name, s), p.ReportAdapters(name, adapters)); err != nil {
				t.Fatal(err)
			}
		}
		q := policies.Request{Key: rng.Uint64(), Model: policies.ID(rng.Int32N(4)), Adapter: policies.ID(rng.Int32N(4)), PromptTokens: 1 + rng.Int32N(20_000), BlockTokens: 16}
		for tokens := int32(1024); tokens < q.PromptTokens; tokens += 1024 {
			q.Blocks = append(q.Blocks, policies.Block{Hash: uint64(rng.IntN(3))<<32 | uint64(tokens), Tokens: 1024})
		}
		l, d := p.Route(&q, now)
		actions[d.Action]++
		if d.Margin == 0 {
			ties++
		}
		if flights = append(flights, l); len(flights) > 40 {
			at := rng.IntN(40)
			flights[at].FirstToken(now)
			flights[at].Output(9)
			flights[at].Done(now)
			flights = slices.Delete(flights, at, at+1)
		}
	}
	if err := decisions.Err(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes(), actions, ties
}

// All of 10,000 decisions come out the same, dispatches, holds, failures and ties; with other weights many do not.
func TestReplayLog(t *testing.T) {
	for i, w := range []policies.WeightsFile{logged(), tuned()} {
		n := []int{10_000, 1000}[i]
		if policies.RaceDetector { // which finds nothing here: one goroutine
			n = 1000
		}
		log, actions, ties := worldOf(t, w, n)
		for _, a := range []policies.Action{policies.Dispatch, policies.Hold, policies.Fail} {
			if actions[a] < n/100 {
				t.Errorf("%d times %v, want enough of each: %v", actions[a], a, actions)
			}
		}
		if ties == 0 && w.Config.Norm == policies.NormWork {
			t.Error("no ties")
		}
		if size := len(log) / n; size > 1740 {
			t.Errorf("%d bytes a decision among 8 replicas, want at most 1.7 KB", size)
		}
		total, same, err := policies.ReplayLog(bytes.NewReader(log), w)
		if total != n || same != n || err != nil {
			t.Errorf("%d of %d decisions the same, want all: %v", same, total, err)
		}
		other := w
		other.Config.Weights.Queue *= 5
		forged := bytes.ReplaceAll(log, []byte(w.Sum()), []byte(other.Sum()))
		if _, same, err := policies.ReplayLog(bytes.NewReader(forged), other); same == n || err == nil {
			t.Errorf("with other weights all %d come out the same", same)
		}
	}
}

// What is wrong with a log is told by line.
func TestReplayLogFinds(t *testing.T) {
	w := tuned()
	var b bytes.Buffer
	log := policies.NewDecisionLog(&b)
	p, err := policies.NewPool(w, policies.PoolConfig{Log: log})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a", "b"} {
		if err := p.Join(policies.Replica{Name: name, Signals: policies.Signals{Have: policies.HasKVTokens, KVTokens: 4096}}); err != nil {
			t.Fatal(err)
		}
	}
	q := policies.Request{PromptTokens: 100, Blocks: []policies.Block{{Hash: 7, Tokens: 64}}}
	first, _ := p.Route(&q, 0)
	p.Route(&q, 1)
	other := map[string]string{"a": "b", "b": "a"}[first.Replica]
	for _, tc := range []struct{ name, old, new, want string }{
		{"another pick", `"replica":"` + first.Replica, `"replica":"` + other, `line 2: now it is dispatch to "` + first.Replica},
		{"another score", `"score":`, `"score":1`, `line 2: now it is dispatch to "`},
		{"another action", `"action":"dispatch"`, `"action":"hold"`, `the log has hold`},
		{"other weights", w.Sum(), "sha256:00", `line 2: decided with weights "sha256:00", not with ` + w.Sum()},
		{"unknown member", `"request":{`, `"request":{"x":1,`, `line 2: json: unknown field "x"`},
		{"unknown column", `"view":{`, `"view":{"x":1,`, `line 2: view has the unknown column "x"`},
		{"short column", `"kv_tokens":4096`, `"kv_tokens":[4096]`, `line 2: view.kv_tokens: 1 values, want one for each of 2 replicas`},
		{"no names", `"names":`, `"salts":1,"salts":`, `line 2: view.names is "", want an array of names`},
		{"null", `"kv_tokens":4096`, `"kv_tokens":null`, `line 2: view.kv_tokens: found null, want no null`},
		{"fewer adapters than none", `"kv_tokens":4096`, `"in_use":-7,"kv_tokens":4096`, `line 2: view.in_use: found -7, want -1..65536`},
		{"endless adapters", `"kv_tokens":4096`, `"in_use":70000,"kv_tokens":4096`, `line 2: view.in_use: found 70000, want -1..65536`},
		{"no hashes", `"hashes":"0000000000000007"`, `"hashes":"07"`, `line 2: request.hashes: 2 digits, want 16 hexadecimal ones for each of 1 blocks`},
		{"endless blocks", `"blocks":[[1,64]]`, `"blocks":[[2000000000,64]]`, `line 2: request.blocks[0]: 2000000000 blocks, want 1..16777216`},
		{"two in a line", "}\n", "}{}\n", `line 2: something follows the decision`},
		{"cut", "}}\n", "}", `line 2: unexpected EOF`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			lines := strings.SplitAfter(b.String(), "\n")
			bad := lines[0] + strings.Replace(lines[1], tc.old, tc.new, 1)
			if bad == b.String() {
				t.Fatalf("%s is not in %s", tc.old, lines[1])
			}
			total, same, err := policies.ReplayLog(strings.NewReader(bad), w)
			if total != 2 || same != 1 || err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%d of %d the same, error %v\nwant 1 of 2, %s\nin %s", same, total, err, tc.want, bad)
			}
		})
	}
	w.Config.Margin = 2
	if _, _, err := policies.ReplayLog(&b, w); err == nil || !strings.Contains(err.Error(), `margin is "2"`) {
		t.Errorf("with weights out of range: error %v", err)
	}
}

type broken struct{ writes int }

func (b *broken) Write([]byte) (int, error) {
	b.writes++
	return 0, errors.New("disk full")
}

// A log that cannot be written stops, and routing does not.
func TestDecisionLogStops(t *testing.T) {
	var disk broken
	log := policies.NewDecisionLog(&disk)
	p := newPool(t, &policies.RoundRobin{}, policies.PoolConfig{Log: log}, named(1))
	for i := range 2 {
		if _, d := p.Route(&policies.Request{PromptTokens: 1}, time.Duration(i)); d.Action != policies.Dispatch {
			t.Errorf("decided to %v, want a dispatch", d.Action)
		}
	}
	if err := log.Err(); disk.writes != 1 || err == nil || err.Error() != "decision log: disk full" {
		t.Errorf("%d writes, error %v, want one and the disk's", disk.writes, err)
	}
}

// A log of nothing has not come out the same.
func TestReplayLogEmpty(t *testing.T) {
	total, same, err := policies.ReplayLog(strings.NewReader(""), tuned())
	if total != 0 || same != 0 || err == nil || err.Error() != "decision log: empty, want at least one decision" {
		t.Errorf("%d of %d the same, error %v", same, total, err)
	}
}

// What is infinite has no place in JSON: it is left out, and the log goes on.
func TestDecisionLogInfinite(t *testing.T) {
	for _, x := range []float64{math.Inf(1), math.Inf(-1), math.NaN()} {
		var b bytes.Buffer
		log := policies.NewDecisionLog(&b)
		d := policies.Decision{Replica: -1, RunnerUp: -1, Score: x, Margin: x, Terms: [policies.NumTerms]float64{x, 1}}
		for range 2 {
			log.Write(&policies.Request{PromptTokens: 1}, &policies.View{}, &d, "")
		}
		if log.Err() != nil || strings.Count(b.String(), `"decision":{"action":"dispatch","terms":{"q":1}}`) != 2 {
			t.Errorf("%v: error %v and the log\n%s\nwant two lines, each with the one finite number", x, log.Err(), &b)
		}
	}
}

// No weights in range make a score infinite, so that every score is in the log.
func TestLargestWeights(t *testing.T) {
	c := policies.DefaultScore()
	for term := range policies.NumTerms {
		*c.Weights.Of(term) = 1e9
	}
	r, v := cluster(8)
	r.PromptTokens = 1
	for i := range v.Local {
		v.Local[i].UncachedPrefill, v.Local[i].HeldTokens, v.Local[i].TTFT = math.MaxInt64, math.MaxInt64, math.MaxFloat64/16
	}
	var d policies.Decision
	policies.NewScore(c).Pick(r, v, &d)
	if d.Action != policies.Dispatch || math.IsNaN(d.Score) || math.IsInf(d.Score, 0) {
		t.Errorf("%v with score %v, want a dispatch with a finite one", d.Action, d.Score)
	}
}

// Of a long prompt the log has the first hashes and the last.
func TestDecisionLogLongPrompt(t *testing.T) {
	var b bytes.Buffer
	chain := policies.Chain{BlockTokens: 16}
	q := policies.Request{PromptTokens: 160_000, Blocks: chain.Tokens(nil, make([]int32, 160_000))}
	p := newPool(t, &policies.RoundRobin{}, policies.PoolConfig{Log: policies.NewDecisionLog(&b)}, named(8))
	p.Route(&q, 0)
	for _, i := range []int{0, 6, 9999} {
		if !strings.Contains(b.String(), fmt.Sprintf("%016x", q.Blocks[i].Hash)) {
			t.Errorf("hash %d of 10,000 is not in the log", i)
		}
	}
	if b.Len() > 1024 {
		t.Errorf("%d bytes for a prompt of 10,000 blocks, want at most 1 KB:\n%s", b.Len(), &b)
	}
}

func BenchmarkDecisionLog(b *testing.B) {
	r, v := cluster(8)
	var d policies.Decision
	policies.NewScore(policies.DefaultScore()).Pick(r, v, &d)
	log := policies.NewDecisionLog(&bytes.Buffer{})
	b.ReportAllocs()
	for b.Loop() {
		log.Write(r, v, &d, "sha256:0")
	}
}
