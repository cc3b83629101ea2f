package policies_test

import (
	"math"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/seed-2cee110a/triage/policies"
)

const allSignals = policies.HasWaiting | policies.HasRunning | policies.HasKVUsed | policies.HasKVTokens

// guide is the worked example: weights 10, 3, 100, 5 and nothing else. The prompt has 32,000 tokens. A is believed to
// have 0.9 of it and has 0.2 prompts of work ahead, B 0.1 and nothing.
func guide() (policies.ScoreConfig, *policies.Request, *policies.View) {
	c := policies.DefaultScore()
	c.Weights = policies.Weights{Affinity: 10, Queue: 3, KVPressure: 100, AdapterMiss: 5}
	r := &policies.Request{Key: 7, Model: 1, PromptTokens: 32_000}
	v := &policies.View{
		Replicas: []policies.Replica{
			{Name: "A", Salt: policies.Salt("A"), Model: 1, Signals: policies.Signals{Have: allSignals, KVTokens: 100_000}},
			{Name: "B", Salt: policies.Salt("B"), Model: 1, Signals: policies.Signals{Have: allSignals, KVTokens: 100_000}},
		},
		Local: []policies.Local{{InFlight: 1, UncachedPrefill: 6_400}, {}},
		Hits:  []policies.Hit{{Tokens: 28_800}, {Tokens: 3_200}},
	}
	return c, r, v
}

// decide picks with a fresh scorer. Hits are as given: nothing is believed on top.
func decide(c policies.ScoreConfig, r *policies.Request, v *policies.View) policies.Decision {
	var d policies.Decision
	policies.NewScore(c).Pick(r, v, &d)
	return d
}

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-12 }

// A: 10*0.9 - 3*0.2 = 8.4. B: 10*0.1 = 1.0.
func TestWorkedExample(t *testing.T) {
	c, r, v := guide()
	d := decide(c, r, v)
	if d.Replica != 0 || d.RunnerUp != 1 || !near(d.Score, 8.4) || !near(d.Score-d.Margin, 1.0) {
		t.Errorf("winner %d with %v, runner-up %d with %v, want A with 8.4 before B with 1.0", d.Replica, d.Score, d.RunnerUp, d.Score-d.Margin)
	}
	if !near(d.Terms[policies.Affinity], 9) || !near(d.Terms[policies.Queue], -0.6) || d.Affinity != 0.9 {
		t.Errorf("terms %v, affinity %v, want 9 and -0.6 and 0.9", d.Terms, d.Affinity)
	}
	if d.Hit != 28_800 || d.Charge != 3_200 || d.Need != 32_000 {
		t.Errorf("hit %d, charge %d, need %d, want 28800, 3200, 32000", d.Hit, d.Charge, d.Need)
	}
}

// The same queue in the engine's words: 12.8 of 64 requests cannot be, so 10 of 50.
func TestWorkedExampleAbsolute(t *testing.T) {
	c, r, v := guide()
	c.Norm, c.QueueCap = policies.NormAbsolute, 50
	v.Replicas[0].Signals.Waiting, v.Local[0].SentSinceSample = 7, 3
	if d := decide(c, r, v); d.Replica != 0 || !near(d.Score, 8.4) {
		t.Errorf("7 waiting and 3 sent: replica %d with %v, want A with 8.4", d.Replica, d.Score)
	}
	c.Sent = false
	if d := decide(c, r, v); !near(d.Terms[policies.Queue], -0.42) { // 3*7/50
		t.Errorf("sent=off: queue term %v, want -0.42", d.Terms[policies.Queue])
	}
	v.Replicas[0].Signals.Waiting = 1000
	if d := decide(c, r, v); !near(decide(c, r, v).Terms[policies.Queue], -3) {
		t.Errorf("1000 waiting: queue term %v, want -3: 1 at most", d.Terms[policies.Queue])
	}
	v.Replicas[0].Signals.Have &^= policies.HasWaiting
	v.Local[0].InFlight = 25
	if d := decide(c, r, v); !near(d.Terms[policies.Queue], -1.5) { // 3*25/50
		t.Errorf("nothing known of the queue, 25 in flight: term %v, want -1.5", d.Terms[policies.Queue])
	}
}

// Filters change who wins: who lacks room, serves another model, or takes nothing.
func TestFilters(t *testing.T) {
	const a, b = 0, 1
	full := func(i int) func(*policies.ScoreConfig, *policies.Request, *policies.View) {
		return func(_ *policies.ScoreConfig, _ *policies.Request, v *policies.View) {
			v.Replicas[i].Signals.KVUsed = 0.7
		}
	}
	type edit = func(*policies.ScoreConfig, *policies.Request, *policies.View)
	for _, tc := range []struct {
		name    string
		edits   []edit
		action  policies.Action
		replica int
		reason  policies.Reason // rejects at least one, if it is one
	}{
		{"both have room", nil, policies.Dispatch, a, policies.NumReasons},
		{"A cannot hold it: B wins although cold", []edit{full(a)}, policies.Dispatch, b, policies.NoRoom},
		{"both full", []edit{full(a), full(b)}, policies.Hold, -1, policies.NoRoom},
		{"A full, the filter off and kv its price", []edit{full(a), func(c *policies.ScoreConfig, _ *policies.Request, _ *policies.View) {
			c.Fit = policies.FitOff
		}}, policies.Dispatch, b, policies.NumReasons},
		{"A full, the filter off and kv free", []edit{full(a), func(c *policies.ScoreConfig, _ *policies.Request, _ *policies.View) {
			c.Fit, c.Weights.KVPressure = policies.FitOff, 0
		}}, policies.Dispatch, a, policies.NumReasons},
		{"A full as far as anybody knows, but nobody does", []edit{full(a), func(_ *policies.ScoreConfig, _ *policies.Request, v *policies.View) {
			v.Replicas[a].Signals.Have &^= policies.HasKVUsed
		}}, policies.Dispatch, a, policies.NumReasons},
		{"the same, and unknown is full", []edit{full(a), func(c *policies.ScoreConfig, _ *policies.Request, v *policies.View) {
			v.Replicas[a].Signals.Have &^= policies.HasKVUsed
			c.StaleAs = policies.StaleFull
		}}, policies.Dispatch, b, policies.Stale},
		{"nobody serves the model", []edit{func(_ *policies.ScoreConfig, r *policies.Request, _ *policies.View) { r.Model = 2 }},
			policies.Fail, -1, policies.WrongModel},
		{"nobody has the capability", []edit{func(_ *policies.ScoreConfig, r *policies.Request, _ *policies.View) { r.Needs = 1 }},
			policies.Fail, -1, policies.NoCapability},
		{"all cordoned", []edit{func(_ *policies.ScoreConfig, _ *policies.Request, v *policies.View) {
			v.Replicas[a].Cordoned, v.Replicas[b].Cordoned = true, true
		}}, policies.Hold, -1, policies.Cordoned},
		{"A cordoned, B of another model", []edit{func(_ *policies.ScoreConfig, _ *policies.Request, v *policies.View) {
			v.Replicas[a].Cordoned, v.Replicas[b].Model = true, 2
		}}, policies.Hold, -1, policies.Cordoned},
		{"no replica at all", []edit{func(_ *policies.ScoreConfig, _ *policies.Request, v *policies.View) { *v = policies.View{} }},
			policies.Fail, -1, policies.NumReasons},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c, r, v := guide()
			for _, e := range tc.edits {
				e(&c, r, v)
			}
			d := decide(c, r, v)
			if d.Action != tc.action || d.Replica != tc.replica {
				t.Errorf("%v to %d, want %v to %d", d.Action, d.Replica, tc.action, tc.replica)
			}
			if tc.reason < policies.NumReasons && d.Rejected[tc.reason] == 0 {
				t.Errorf("rejected %v, want one by %v", d.Rejected, tc.reason)
			}
		})
	}
}

// The room of A to the token. Prompt 32,000 of which 8,800 are held by others, output 1,000 of at most 500:
// 32,000 - 8,800 + 500 = 23,700, in blocks of 16: 23,712. Free: 100,000 - 50 % - sent - 5 % = 45,000 - sent.
func TestRoomToTheToken(t *testing.T) {
	c, r, v := guide()
	r.EstOutput, r.MaxOutput = 1000, 500
	sig := &v.Replicas[0].Signals
	sig.KVUsed, sig.BlockSize = 0.5, 16
	v.Hits[0].Held = 8_800
	v.Local[0].SentTokens = 45_000 - 23_712
	if d := decide(c, r, v); d.Replica != 0 || d.Need != 23_712 {
		t.Errorf("exactly enough: replica %d, need %d, want A with 23712", d.Replica, d.Need)
	}
	v.Local[0].SentTokens++
	if d := decide(c, r, v); d.Replica != 1 || d.Rejected[policies.NoRoom] != 1 {
		t.Errorf("one token short: replica %d, rejected %v, want B", d.Replica, d.Rejected)
	}
}

// A was sampled 3 s ago and was full then.
func TestStaleSignals(t *testing.T) {
	for _, tc := range []struct {
		as      policies.StaleAs
		replica int
		reason  policies.Reason
	}{
		{policies.StaleUnknown, 0, policies.NumReasons}, // not known to be full
		{policies.StaleLast, 1, policies.NoRoom},
		{policies.StaleFull, 1, policies.Stale},
	} {
		c, r, v := guide()
		v.Now = 3 * time.Second
		v.Replicas[0].Signals.KVUsed = 1
		v.Replicas[1].Signals.SampledAt = v.Now
		c.Stale, c.StaleAs = 2*time.Second, tc.as
		d := decide(c, r, v)
		if d.Replica != tc.replica || tc.reason < policies.NumReasons && d.Rejected[tc.reason] != 1 {
			t.Errorf("stale as %s: replica %d, rejected %v, want %d by %v", tc.as, d.Replica, d.Rejected, tc.replica, tc.reason)
		}
		c.Stale = 3 * time.Second // not older than that
		if d := decide(c, r, v); d.Rejected[policies.NoRoom] != 1 {
			t.Errorf("fresh under stale as %s: rejected %v, want A for lack of room", tc.as, d.Rejected)
		}
	}
}

// One term alone, on A; B is idle and knows nothing.
func TestTerms(t *testing.T) {
	for _, tc := range []struct {
		name string
		term policies.Term
		edit func(*policies.Request, *policies.View)
		want float64
	}{
		{"the adapter is not there", policies.AdapterMiss, func(r *policies.Request, v *policies.View) {
			r.Adapter = 3
			v.Replicas[0].Adapters = []policies.ID{1, 2}
		}, -1},
		{"the adapter is hot", policies.AdapterMiss, func(r *policies.Request, v *policies.View) {
			r.Adapter = 2
			v.Replicas[0].Adapters = []policies.ID{1, 2}
		}, 0},
		{"the adapter is hot by an own request in flight", policies.AdapterMiss, func(r *policies.Request, v *policies.View) {
			r.Adapter = 3
			v.InUse = [][]policies.ID{{3}, nil}
		}, 0},
		{"own requests, and the 2 of 5 sampled that are others'", policies.LoadTerm, func(_ *policies.Request, v *policies.View) {
			v.Local[0] = policies.Local{InFlight: 4, SentSinceSample: 1, InSample: 3}
			v.Replicas[0].Signals.Waiting, v.Replicas[0].Signals.Running = 2, 3
		}, -6},
		{"what completed since the sample is not others'", policies.LoadTerm, func(_ *policies.Request, v *policies.View) {
			v.Local[0] = policies.Local{InFlight: 4, InSample: 5}
			v.Replicas[0].Signals.Running = 5
		}, -4},
		{"the book alone", policies.LoadTerm, func(_ *policies.Request, v *policies.View) {
			v.Local[0] = policies.Local{InFlight: 4}
			v.Replicas[0].Signals = policies.Signals{Waiting: 9, Running: 9}
		}, -4},
		{"only the waiting are told", policies.LoadTerm, func(_ *policies.Request, v *policies.View) {
			v.Replicas[0].Signals = policies.Signals{Have: policies.HasWaiting, Waiting: 2, Running: 9}
		}, -2},
		{"a capacity that was not told", policies.Tokens, func(_ *policies.Request, v *policies.View) {
			v.Local[0].HeldTokens, v.Replicas[0].Signals.Have = 25_000, 0
		}, 0},
		{"tokens in flight", policies.Tokens, func(_ *policies.Request, v *policies.View) { v.Local[0].HeldTokens = 25_000 }, -0.25},
		{"twice the mean of 1 and 3 at most", policies.TTFT, func(_ *policies.Request, v *policies.View) {
			v.Local[0].TTFT, v.Local[1].TTFT = 3, 1
		}, -0.5},
		{"faster than the mean", policies.TPOT, func(_ *policies.Request, v *policies.View) {
			v.Local[0].TPOT, v.Local[1].TPOT = 1, 3
		}, 0.5},
		{"alone with a TTFT", policies.TTFT, func(_ *policies.Request, v *policies.View) { v.Local[0].TTFT = 3 }, 0},
		{"no TTFT yet", policies.TTFT, func(_ *policies.Request, v *policies.View) { v.Local[1].TTFT = 3 }, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c, r, v := guide()
			v.Local[0], v.Hits[1] = policies.Local{}, policies.Hit{}
			tc.edit(r, v)
			c.Weights = policies.Weights{Affinity: 100} // A wins whatever the term says
			*c.Weights.Of(tc.term) = 1
			if d := decide(c, r, v); d.Replica != 0 || !near(d.Terms[tc.term], tc.want) {
				t.Errorf("replica %d, term %v, want A with %v", d.Replica, d.Terms[tc.term], tc.want)
			}
		})
	}
}

// With sent=off the load is what the engine told, and the book alone where it told nothing.
func TestLoadWithoutSent(t *testing.T) {
	c, r, v := guide()
	c.Weights, c.Sent = policies.Weights{Affinity: 100, Load: 1}, false
	v.Local[0] = policies.Local{InFlight: 4, SentSinceSample: 4}
	v.Replicas[0].Signals.Running = 1
	if d := decide(c, r, v); d.Terms[policies.LoadTerm] != -1 {
		t.Errorf("1 running at the sample: term %v, want -1", d.Terms[policies.LoadTerm])
	}
	v.Replicas[0].Signals.Have = 0
	if d := decide(c, r, v); d.Terms[policies.LoadTerm] != -4 {
		t.Errorf("nothing sampled, 4 in flight: term %v, want -4", d.Terms[policies.LoadTerm])
	}
}

// A mean that only one candidate is far from is capped: 100 against a mean of (100+1+1)/3 is 1.9 too much, counted 1.
func TestFeedbackIsClamped(t *testing.T) {
	c, r, v := guide()
	c.Weights = policies.Weights{Affinity: 100, TTFT: 1}
	v.Replicas = append(v.Replicas, v.Replicas[1])
	v.Local = []policies.Local{{TTFT: 100}, {TTFT: 1}, {TTFT: 1}}
	v.Hits = append(v.Hits, policies.Hit{})
	if d := decide(c, r, v); d.Replica != 0 || d.Terms[policies.TTFT] != -1 {
		t.Errorf("replica %d, term %v, want A with -1", d.Replica, d.Terms[policies.TTFT])
	}
}

// Equal scores go to the fewest in flight, then by hash: each of four equal replicas gets its share, wherever it is.
func TestTies(t *testing.T) {
	c := policies.DefaultScore()
	c.Weights.Load = 0
	s := policies.NewScore(c)
	_, v := cluster(4)
	var wins, seconds [4]int
	var d policies.Decision
	for i := range v.Local {
		v.Local[i] = policies.Local{InFlight: 5}
	}
	const n = 4000
	for key := range uint64(n) {
		s.Pick(&policies.Request{Key: key, PromptTokens: 10}, v, &d)
		wins[d.Replica]++
		seconds[d.RunnerUp]++
	}
	for i, w := range wins { // binomial with mean 1000 and deviation 27
		if w < 850 || w > 1150 {
			t.Errorf("replica %d won %d of %d ties, want about a quarter", i, w, n)
		}
	}
	for i, w := range seconds { // likewise
		if w < 850 || w > 1150 {
			t.Errorf("replica %d came second in %d of %d ties, want about a quarter", i, w, n)
		}
	}
	v.Local[2].InFlight = 4
	if s.Pick(&policies.Request{PromptTokens: 10}, v, &d); d.Replica != 2 || d.Margin != 0 {
		t.Errorf("replica %d with margin %v, want 2, the one with fewest in flight, with 0", d.Replica, d.Margin)
	}
}

// The mean is over the candidates: a cordoned replica's TTFT of 100 is not in it.
func TestFeedbackOfCandidates(t *testing.T) {
	c, r, v := guide()
	c.Weights = policies.Weights{Affinity: 100, TTFT: 1}
	v.Replicas = append(v.Replicas, policies.Replica{Name: "C", Model: 1, Cordoned: true})
	v.Local = []policies.Local{{TTFT: 3}, {TTFT: 1}, {TTFT: 100}}
	if d := decide(c, r, v); d.Replica != 0 || d.Terms[policies.TTFT] != -0.5 {
		t.Errorf("replica %d, term %v, want A with -0.5", d.Replica, d.Terms[policies.TTFT])
	}
}

// With stale_as=full a replica must have told what the configuration looks at, and no more.
func TestMissingSignals(t *testing.T) {
	for _, tc := range []struct {
		text string
		have policies.Field
		want policies.Action
	}{
		{"score:stale_as=full", policies.HasKVUsed | policies.HasKVTokens, policies.Dispatch},
		{"score:stale_as=full", policies.HasKVTokens, policies.Hold},
		{"score:stale_as=full,norm=absolute", policies.HasKVUsed | policies.HasKVTokens, policies.Hold},
		{"score:stale_as=full,norm=absolute,q=0", policies.HasKVUsed | policies.HasKVTokens, policies.Dispatch},
		{"score:stale_as=full,norm=absolute", allSignals, policies.Dispatch},
		{"score:stale_as=full,fit=off", 0, policies.Hold},
		{"score:stale_as=full,fit=off,kv=0", 0, policies.Dispatch},
		{"score:stale_as=last", 0, policies.Dispatch},
	} {
		r, v := cluster(1)
		v.Replicas[0].Signals.Have = tc.have
		var d policies.Decision
		if parse(t, tc.text).New().Pick(r, v, &d); d.Action != tc.want {
			t.Errorf("%s with signals %05b: %v, want %v", tc.text, tc.have, d.Action, tc.want)
		}
	}
}

// The last token of a prompt is always computed: it gives the first output token.
func TestNeverAllHit(t *testing.T) {
	c, r, v := guide()
	v.Hits[0] = policies.Hit{Tokens: 32_000, Held: 32_000}
	if d := decide(c, r, v); d.Hit != 31_999 || d.Charge != 1 || d.Need != 1 {
		t.Errorf("hit %d, charge %d, need %d, want 31999, 1, 1", d.Hit, d.Charge, d.Need)
	}
}

// The scorer learns from its own dispatches, and believes less when told to count less.
func TestBelief(t *testing.T) {
	for _, tc := range []struct {
		text string
		hit  int32
	}{
		{"score", 5560},
		{"score:n=5000", 4992}, // 2560 + 2432: the last multiple of 16 in the third block
		{"score:n=600", 592},   // 512 + 80
		{"score:n=15", 0},
	} {
		r, v := cluster(3)
		s := parse(t, tc.text).New().(*policies.Score)
		var d policies.Decision
		s.Believe(r, v)
		if s.Pick(r, v, &d); d.Hit != 0 || d.Charge != r.PromptTokens || d.Affinity != 0 {
			t.Errorf("%s: first hit %d, charge %d, affinity %v, want none, all, 0", tc.text, d.Hit, d.Charge, d.Affinity)
		}
		s.Dispatched(r, v, &d)
		first := d.Replica
		s.Believe(r, v)
		if s.Pick(r, v, &d); tc.hit > 0 && d.Replica != first || d.Hit != tc.hit || d.Charge != r.PromptTokens-tc.hit {
			t.Errorf("%s: then hit %d and charge %d at %d, want %d at %d", tc.text, d.Hit, d.Charge, d.Replica, tc.hit, first)
		}
	}
}

// Hits that a request in flight holds need no room of their own until it completes.
func TestHeldHits(t *testing.T) {
	r, v := cluster(1)
	s := parse(t, "score").New().(*policies.Score)
	var d policies.Decision
	need := func() int64 {
		s.Believe(r, v)
		s.Pick(r, v, &d)
		return d.Need
	}
	all := need() // 6000 + 300, up to 16s: 6304
	s.Dispatched(r, v, &d)
	if held := need(); all != 6304 || held != 752 { // 440 + 300 = 740, up to 16s
		t.Errorf("needs %d cold and %d with a twin in flight, want 6304 and 752", all, held)
	}
	s.Completed(v.Now, r, 0)
	if after := need(); after != all {
		t.Errorf("needs %d when the twin is done, want %d", after, all)
	}
}

// Believe only reads the scorer: many at once, each on its own view, believe the same (and -race is content).
func TestBelieveInParallel(t *testing.T) {
	for _, text := range []string{"score", "score:prefix=bucket"} {
		r, v := cluster(8)
		s := parse(t, text).New().(*policies.Score)
		warm(s, r, v)
		s.Believe(r, v)
		var group sync.WaitGroup
		for range 4 {
			group.Go(func() {
				mine := *v
				mine.Hits = make([]policies.Hit, 8)
				for range 1000 {
					s.Believe(r, &mine)
				}
				if !slices.Equal(mine.Hits, v.Hits) {
					t.Errorf("%s: hits %v, want %v", text, mine.Hits, v.Hits)
				}
			})
		}
		group.Wait()
	}
}

// With ttl a prefix is forgotten, and with unknown identity there is nothing to believe.
func TestBeliefEnds(t *testing.T) {
	r, v := cluster(1)
	s := parse(t, "score:ttl=10s").New().(*policies.Score)
	s.Dispatched(r, v, &policies.Decision{})
	hit := func() int32 {
		s.Believe(r, v)
		return v.Hits[0].Tokens
	}
	v.Now += 10 * time.Second
	if got := hit(); got != 5560 {
		t.Errorf("hit %d after 10 s, want 5560", got)
	}
	v.Now++
	if got := hit(); got != 0 {
		t.Errorf("hit %d after more than 10 s, want 0", got)
	}
	s.Dispatched(r, v, &policies.Decision{})
	if s.Forget(0); hit() != 0 {
		t.Errorf("hit %d after a restart, want 0", hit())
	}
	v.Hits[0].Tokens, r.Blocks = 99, nil
	if got := hit(); got != 0 {
		t.Errorf("hit %d of unknown identity, want 0", got)
	}
}

// The oracle's hits are the caller's: Believe leaves them, WantsTruth asks for them.
func TestOracle(t *testing.T) {
	r, v := cluster(2)
	s := parse(t, "score:prefix=oracle").New().(*policies.Score)
	v.Hits[1].Tokens = 3000
	s.Believe(r, v)
	var d policies.Decision
	s.Pick(r, v, &d)
	if !s.WantsTruth() || d.Hit != 3000 || parse(t, "score").New().(*policies.Score).WantsTruth() {
		t.Errorf("wants truth %v, hit %d, want true and 3000", s.WantsTruth(), d.Hit)
	}
}
