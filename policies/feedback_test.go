package policies

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

// served books a request whose first token comes after ttft, and whose last comes after n more of tpot each.
func served(b *Book, replica int, at, ttft, tpot time.Duration, charge, n int32) {
	t := b.Dispatched(at, &Request{PromptTokens: charge}, &Decision{Replica: replica, Charge: charge})
	b.FirstToken(at+ttft, &t)
	t.Output = n + 1
	b.Done(at+ttft+time.Duration(n)*tpot, &t)
}

// One sample and the mean of both replicas, 2 s, as another: replica 0 has (1 + 2) / 2 s, replica 1 (3 + 2) / 2.
// Rates are weighted by seconds: 1000 tokens in 1 s and 9000 in 3, 2500 a second in all. 1000 + 2500 in 2 s, 9000 + 2500 in 4.
func TestFeedback(t *testing.T) {
	b, replicas := NewBook(2), make([]Replica, 2)
	b.Measure(time.Hour)
	served(b, 0, 0, time.Second, 10*time.Millisecond, 1000, 100)
	served(b, 1, 0, 3*time.Second, 30*time.Millisecond, 9000, 100)
	b.Tune(time.Hour/64, replicas)
	for i, want := range []Local{{TTFT: 1.5, TPOT: 0.015, PrefillRate: 1750}, {TTFT: 2.5, TPOT: 0.025, PrefillRate: 2875}} {
		l := b.Local[i]
		if !near(l.TTFT, want.TTFT) || !near(l.TPOT, want.TPOT) || !near(float64(l.PrefillRate), float64(want.PrefillRate)) {
			t.Errorf("replica %d: TTFT %v, TPOT %v and rate %v, want %v, %v and %v", i, l.TTFT, l.TPOT, l.PrefillRate, want.TTFT, want.TPOT, want.PrefillRate)
		}
	}
}

func near(a, b float64) bool { return a > b*0.99 && a < b*1.01 } // 56 s of an hour's half-life are gone

// What has work ahead of it is slow for that reason: the rate counts it.
func TestRateCountsWorkAhead(t *testing.T) {
	b := NewBook(1)
	b.Measure(0)
	first := b.Dispatched(0, &Request{PromptTokens: 1000}, &Decision{Charge: 1000})
	second := b.Dispatched(0, &Request{PromptTokens: 500}, &Decision{Charge: 500})
	b.FirstToken(time.Second, &first)
	b.FirstToken(1500*time.Millisecond, &second)
	b.Tune(2*time.Second, make([]Replica, 1))
	if got := b.Local[0].PrefillRate; got != 1000 {
		t.Errorf("rate %v, want 1000: 1000 tokens in 1 s and 1500 in 1.5 s", got)
	}
}

// A slow replica that gets no requests is back at the others' mean after some half-lives, and a request without a first
// token is no sample.
func TestFeedbackFades(t *testing.T) {
	b, replicas := NewBook(2), make([]Replica, 2)
	b.Measure(time.Second)
	for s := range 9 {
		served(b, 0, time.Duration(s)*time.Second, time.Second, time.Millisecond, 100, 10)
	}
	served(b, 1, 0, 9*time.Second, time.Millisecond, 100, 10)
	lost := b.Dispatched(0, &Request{PromptTokens: 100}, &Decision{Replica: 1, Charge: 100})
	lost.Output = 50
	b.Done(500*time.Second, &lost)
	b.Tune(10*time.Second, replicas)
	if got := b.Local[1].TPOT; got > 0.002 {
		t.Errorf("TPOT %v, want 1 ms: one request had no first token to count from", got)
	}
	gap := b.Local[1].TTFT / b.Local[0].TTFT
	for s := 9; s <= 20; s++ {
		served(b, 0, time.Duration(s)*time.Second, time.Second, time.Millisecond, 100, 10)
	}
	b.Tune(40*time.Second, replicas)
	if now := b.Local[1].TTFT / b.Local[0].TTFT; gap < 1.5 || now > 1.001 {
		t.Errorf("the slow replica's TTFT is %v times the other's at first and %v later, want above 1.5 and 1", gap, now)
	}
}

// Feedback changes nothing else in the book, and follows replicas that leave.
func TestFeedbackIsApart(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		plain, measuring := NewBook(2), NewBook(2)
		measuring.Measure(time.Second)
		for i := range rapid.IntRange(0, 10).Draw(t, "requests") {
			replica, charge := rapid.IntRange(0, 1).Draw(t, "replica"), rapid.Int32Range(1, 100).Draw(t, "charge")
			for _, b := range []*Book{plain, measuring} {
				served(b, replica, time.Duration(i)*time.Second, 100, 10, charge, 3)
			}
		}
		measuring.Tune(time.Minute, make([]Replica, 2))
		for i, l := range measuring.Local {
			l.TTFT, l.TPOT, l.PrefillRate = 0, 0, 0
			if l != plain.Local[i] {
				t.Fatalf("%+v with feedback, %+v without", l, plain.Local[i])
			}
		}
		kept := measuring.feedback.replicas[1]
		measuring.leave(0)
		measuring.join()
		if measuring.feedback.replicas[0] != kept || measuring.feedback.replicas[1] != (measures{}) {
			t.Fatalf("feedback %+v after a replica left, want %+v and none", measuring.feedback.replicas, kept)
		}
	})
}
