package policies_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-2cee110a/triage/policies"
)

// idle returns a view of n idle replicas.
func idle(n int) *policies.View {
	v := &policies.View{}
	for i := range n {
		room(v, fmt.Sprintf("r%d", i), 1<<20, 0, 0)
	}
	return v
}

func TestParseWrappers(t *testing.T) {
	for _, tc := range []struct{ text, label, name, knob, value string }{
		{"sample(4):score:aff=5", "sample(4):score:aff=5", "sample:score", "sample.k", "4"},
		{"sample:score", "sample:score", "sample:score", "sample.k", "2"},
		{"two=sample(k=3):random:seed=7", "two", "sample:random", "seed", "7"},
		{"sticky(0.5,penalty=2s):round-robin", "sticky(0.5,penalty=2s):round-robin", "sticky:round-robin", "sticky.penalty", "2s"},
		{"bounded(1.5):hysteresis(0.25):score", "bounded(1.5):hysteresis(0.25):score", "bounded:hysteresis:score", "hysteresis.delta", "0.25"},
	} {
		s := parse(t, tc.text)
		if s.Label != tc.label || s.Name != tc.name || s.Knob(tc.knob) != tc.value {
			t.Errorf("Parse(%q) = label %q, name %q, %s %q, want %q, %q, %q", tc.text, s.Label, s.Name, tc.knob, s.Knob(tc.knob), tc.label, tc.name, tc.value)
		}
	}
	if got := policies.Diff(parse(t, "sample(3):score:q=1"), parse(t, "sample:score")); !cmp.Equal(got, []string{"sample.k", "q"}) {
		t.Errorf("knobs that differ: %v, want sample.k and q", got)
	}
	for text, want := range map[string]string{
		"sampel(2):score":       `unknown wrapper "sampel" (have sample, hysteresis, bounded, sticky; did you mean "sample"?)`,
		"sample(2)":             `policy "sample(2)": found no policy after sample, want sample(k=v,...):NAME[:k=v,...]`,
		"sample":                `found no policy after sample`,
		"sample(2:score":        `found no policy after sample`,
		"sample():scroe":        `unknown policy "scroe"`,
		"sample(0):score":       `policy "sample(0):score": sample: k is "0", want 1..64`,
		"sample(2,3):score":     `sample: found "3", want knob=value`,
		"sample(q=2):score":     `sample: unknown knob "q" (have k)`,
		"sample(2):score:q=-1":  `policy "sample(2):score:q=-1": q is "-1", want 0..1e9`,
		"bounded(0.5):score":    `bounded: load is "0.5", want 1..1e9`,
		"sticky(0.8,1s):random": `sticky: found "1s", want knob=value`,
	} {
		if _, err := policies.Parse(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Parse(%q): error %v, want %s", text, err, want)
		}
	}
}

// Each wrapper's defaults, given explicitly, change nothing, and every knob is told.
func TestWrapperKnobs(t *testing.T) {
	for _, w := range policies.Wrappers() {
		plain := parse(t, w.Name+":score")
		for _, k := range w.Knobs {
			if k.Doc == "" || k.Values == "" || w.Doc == "" {
				t.Errorf("%s: knob %s has doc %q and values %q", w.Name, k.Name, k.Doc, k.Values)
			}
			if got := policies.Diff(plain, parse(t, w.Name+"("+k.Name+"="+k.Default+"):score")); got != nil {
				t.Errorf("%s with %s=%s differs in %v", w.Name, k.Name, k.Default, got)
			}
		}
	}
}

// Of 8 replicas each is among the 2 of the sample for a quarter of the requests, and wins then if it is the best.
func TestSample(t *testing.T) {
	v := idle(8)
	for i := range v.Local {
		v.Local[i].InFlight = int32(i)
	}
	p := parse(t, "sample(2):least-request").New()
	var wins [8]int
	const n = 28_000
	for key := range n {
		var d policies.Decision
		p.Pick(&policies.Request{Key: uint64(key), PromptTokens: 1}, v, &d)
		wins[d.Replica]++
		if d.Rejected[policies.PassedOver] != 6 || d.RunnerUp <= d.Replica {
			t.Fatalf("%d passed over and runner-up %d to %d, want 6 and one with more in flight", d.Rejected[policies.PassedOver], d.RunnerUp, d.Replica)
		}
	}
	for i, got := range wins { // of 28 pairs 7 - i have i as the better one; 5 sigma of a thousand are 160
		if want := n / 28 * (7 - i); got < want-400 || got > want+400 {
			t.Errorf("replica %d won %d of %d, want about %d", i, got, n, want)
		}
	}
}

// The session's replica has lost its lead by 2 in score; it is kept if the gain is not above delta.
func TestHysteresis(t *testing.T) {
	for _, tc := range []struct {
		text string
		want int
	}{
		{"hysteresis(1.9):score:load=1", 1}, {"hysteresis(2):score:load=1", 0}, {"hysteresis(0):score:load=1", 1},
		{"hysteresis(2):score:load=1,norm=minmax,q=0", 0}, {"hysteresis(0):least-request", 0},
	} {
		p, v := parse(t, tc.text).New(), idle(3)
		r := &policies.Request{Session: 5, PromptTokens: 1000}
		v.Local[1].InFlight, v.Local[2].InFlight = 9, 9
		var d policies.Decision
		p.Pick(r, v, &d)
		if d.Replica != 0 {
			t.Fatalf("%s: first turn at %d, want 0", tc.text, d.Replica)
		}
		p.(policies.Observer).Dispatched(r, v, &d)
		v.Local[0].InFlight, v.Local[1].InFlight = 3, 1
		p.Pick(r, v, &d)
		if d.Replica != tc.want {
			t.Errorf("%s: second turn at %d, want %d", tc.text, d.Replica, tc.want)
		}
		if d.Replica == 0 && (d.RunnerUp != 1 || d.Margin > 0) {
			t.Errorf("%s: runner-up %d with margin %v, want 1 and what was given up", tc.text, d.RunnerUp, d.Margin)
		}
		other := &policies.Request{Session: 6, PromptTokens: 1000}
		if p.Pick(other, v, &d); d.Replica != 1 {
			t.Errorf("%s: another session at %d, want 1", tc.text, d.Replica)
		}
		v.Replicas[0].Cordoned = true
		if p.Pick(r, v, &d); d.Replica != 1 {
			t.Errorf("%s: with its replica cordoned the session is at %d, want 1", tc.text, d.Replica)
		}
	}
}

// With 4 + 1 requests over 4 replicas the mean is 1.25: at load 2.5 one with 3 is kept, at 2.3 it is left out, and never
// the one with the fewest.
func TestBounded(t *testing.T) {
	for text, want := range map[string]int{"bounded(2.5):score": 0, "bounded(2.3):score": 1, "bounded(1):score": 1} {
		v := idle(4)
		v.Hits[0].Tokens, v.Hits[1].Tokens = 999, 500
		v.Local[0].InFlight, v.Local[1].InFlight = 3, 1
		var d policies.Decision
		parse(t, text).New().Pick(&policies.Request{PromptTokens: 1000}, v, &d)
		if d.Replica != want {
			t.Errorf("%s: picked %d, want %d", text, d.Replica, want)
		}
	}
}

// At 1000 tokens a second the warm replica is 5 s later than the idle one: it is kept up to a penalty of 5 s, if it has
// enough of the prompt. An inner policy that looks at load alone would leave it.
func TestSticky(t *testing.T) {
	for _, tc := range []struct {
		knobs string
		hit   int32
		want  int
	}{
		{"0.8,penalty=5s", 800, 0}, {"0.8,penalty=4.9s", 800, 1}, {"0.8,penalty=5s", 799, 1}, {"0,penalty=0s", 0, 1}, {"1,penalty=1h", 1000, 0},
	} {
		v := idle(2)
		v.Hits[0].Tokens = tc.hit
		v.Local[0] = policies.Local{InFlight: 5, UncachedPrefill: 6000}
		v.Local[1] = policies.Local{InFlight: 1, UncachedPrefill: 1000}
		var d policies.Decision
		parse(t, "sticky("+tc.knobs+",rate=1000):least-request").New().Pick(&policies.Request{PromptTokens: 1001}, v, &d)
		if d.Replica != tc.want {
			t.Errorf("sticky(%s) with a hit of %d picked %d, want %d", tc.knobs, tc.hit, d.Replica, tc.want)
		}
	}
}

// Around a policy that believes nothing, sticky remembers what was sent where, and charges the rest only.
func TestStickyRemembers(t *testing.T) {
	p, v := parse(t, "sticky:least-request").New(), idle(2)
	r := &policies.Request{PromptTokens: 101, Blocks: []policies.Block{{Hash: 1, Tokens: 100}}}
	p.(policies.Believer).Believe(r, v)
	var d policies.Decision
	p.Pick(r, v, &d)
	first := d.Replica
	p.(policies.Observer).Dispatched(r, v, &d)
	v.Local[first].InFlight = 5
	p.(policies.Believer).Believe(r, v)
	if p.Pick(r, v, &d); d.Replica != first || d.Hit != 100 || d.Charge != 1 || d.BestHit != 100 {
		t.Errorf("the same prompt goes to %d with hit %d, best %d, and charge %d, want %d, 100, 100 and 1", d.Replica, d.Hit, d.BestHit, d.Charge, first)
	}
	p.(policies.Mover).Forget(first)
	p.(policies.Believer).Believe(r, v)
	if p.Pick(r, v, &d); d.Replica == first {
		t.Error("it goes to where it was although that forgot")
	}
}

// A wrapper is what the policy in it is: a believer only around one, a teller of its belief, a mover, a learner.
func TestWrappersForward(t *testing.T) {
	if _, ok := parse(t, "sample:random").New().(policies.Believer); ok {
		t.Error("random believes nothing, but in a wrapper it does")
	}
	if u := parse(t, "sample:score:prefix=oracle").New().(policies.TruthUser); !u.WantsTruth() {
		t.Error("the oracle does not want the truth in a wrapper")
	}
	if half, wanted := parse(t, "bounded:sticky:score:ttft=1,halflife=7s").New().(policies.FeedbackUser).Feedback(); !wanted || half != 7*time.Second {
		t.Errorf("feedback %v, %v in a wrapper, want 7s", half, wanted)
	}
	p := parse(t, "bounded:sample(8):score:prefix=events").New()
	r, v := &policies.Request{PromptTokens: 101, Blocks: []policies.Block{{Hash: 1, Tokens: 100}}}, idle(2)
	sink := p.(policies.EventSink)
	sink.Stored(0, 1, r.Blocks)
	sink.Evicted(0, 1, 1, 40)
	p.(policies.Mover).Move(1, 0)
	p.(policies.Believer).Believe(r, v)
	if !sink.WantsEvents() || v.Hits[0].Tokens != 60 || v.Hits[1].Tokens != 0 {
		t.Errorf("hits %v, want 60 at the first", v.Hits)
	}
	want := policies.BeliefStats{Entries: 1, Blocks: 1, Tokens: 60, Evictions: 1, Hot: []policies.HotPrefix{{Hash: 1, Tokens: 60, Copies: 1}}}
	if got := p.(policies.BeliefReporter).BeliefStats(5); !cmp.Equal(got, want) {
		t.Errorf("belief %+v, want %+v", got, want)
	}
	p.(policies.Finisher).Finished(0, r, 0, 7)
	var d policies.Decision
	if p.Pick(r, v, &d); d.Output != 7 {
		t.Errorf("expected output %d, want 7", d.Output)
	}
	if _, err := policies.NewPoolOf(parse(t, "sample:score:prefix=oracle").New(), policies.PoolConfig{}); err == nil {
		t.Error("a pool took an oracle in a wrapper")
	}
	_, err := policies.NewPoolOf(parse(t, "sample:score:prefix=events,delay=1ms").New(), policies.PoolConfig{})
	if err == nil || !strings.Contains(err.Error(), "delays events by 1ms") {
		t.Errorf("a pool with a simulated feed: error %v", err)
	}
}

// A session does not stay where another wrapper would not have it. With 1 + 1 requests over 4 replicas its own, with one,
// is above the bound, and of the rest only one has the prompt; between the two alone it would be within the bound.
func TestHysteresisHeedsWrappers(t *testing.T) {
	p, v := parse(t, "hysteresis(100):bounded(1.25):sticky:score").New(), idle(4)
	r := &policies.Request{Session: 1, PromptTokens: 1000}
	p.(policies.Observer).Dispatched(r, v, &policies.Decision{Replica: 0})
	v.Hits[0].Tokens, v.Hits[1].Tokens, v.Local[0].InFlight = 999, 999, 1
	var d policies.Decision
	if p.Pick(r, v, &d); d.Replica != 1 || d.RunnerUp != -1 || d.Rejected[policies.PassedOver] != 3 {
		t.Errorf("replica %d, runner-up %d and %d passed over, want 1, -1 and 3", d.Replica, d.RunnerUp, d.Rejected[policies.PassedOver])
	}
}
