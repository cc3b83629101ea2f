// Package policytest holds the laws that every policy obeys, as tests to run on a new one:
//
//	func TestMine(t *testing.T) { policytest.Run(t, func() policies.Policy { return &Mine{} }) }
package policytest

import (
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/seed-2cee110a/triage/policies"
)

// Run tests a policy: each law on random cases, with the memory of a few dispatches before.
func Run(t *testing.T, fresh func() policies.Policy) {
	laws := []struct {
		name string
		law  func(*rapid.T, policies.Policy, Case)
	}{
		{"picks what is offered", offered},
		{"says what it filtered", accounted},
		{"pick is repeatable", repeatable},
		{"order of replicas decides nothing", unordered},
		{"charge and need add up", charged},
		{"adapters matter to requests with one", plain},
		{"believing changes no belief", believing},
	}
	for _, l := range laws {
		t.Run(l.name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				c := Draw(t)
				p := fresh()
				live(t, p, c)
				l.law(t, p, c)
			})
		})
	}
}

// live gives the policy a past: some requests believed, picked, dispatched and completed on the case's replicas.
func live(t *rapid.T, p policies.Policy, c Case) {
	c = c.clone()
	o, _ := p.(policies.Observer)
	for range rapid.IntRange(0, 4).Draw(t, "past requests") {
		r := DrawRequest(t)
		if b, ok := p.(policies.Believer); ok {
			b.Believe(&r, &c.View)
		}
		d := pick(p, Case{r, c.View})
		if d.Action != policies.Dispatch || o == nil {
			continue
		}
		o.Dispatched(&r, &c.View, &d)
		o.FirstToken(c.View.Now, &r, d.Replica)
		if e, ok := p.(policies.EventSink); ok {
			e.Stored(c.View.Now, d.Replica, r.Blocks)
			e.Evicted(c.View.Now, d.Replica, rapid.Uint64Range(1, 9).Draw(t, "evicted"), 48)
		}
		if rapid.Bool().Draw(t, "completed") {
			o.Completed(c.View.Now, &r, d.Replica)
			if f, ok := p.(policies.Finisher); ok {
				f.Finished(c.View.Now, &r, d.Replica, rapid.Int32Range(1, 1000).Draw(t, "had output"))
			}
		}
	}
}

func pick(p policies.Policy, c Case) policies.Decision {
	var d policies.Decision
	p.Pick(&c.Request, &c.View, &d)
	return d
}

// offered: winner and runner-up are different replicas that can serve the request.
func offered(t *rapid.T, p policies.Policy, c Case) {
	d := pick(p, c)
	if (d.Action == policies.Dispatch) != (d.Replica >= 0) {
		t.Fatalf("action %v with replica %d, want a replica exactly for a dispatch", d.Action, d.Replica)
	}
	if d.RunnerUp >= 0 && (d.RunnerUp == d.Replica || d.Replica < 0) {
		t.Fatalf("runner-up %d to replica %d", d.RunnerUp, d.Replica)
	}
	for _, i := range []int{d.Replica, d.RunnerUp} {
		if i < -1 || i >= len(c.View.Replicas) {
			t.Fatalf("replica %d, want -1..%d", i, len(c.View.Replicas)-1)
		}
		if i >= 0 && obstacle(&c.Request, &c.View.Replicas[i]) != policies.NumReasons {
			t.Fatalf("%s is offered although %v", c.View.Replicas[i].Name, obstacle(&c.Request, &c.View.Replicas[i]))
		}
	}
}

// accounted: the rejected are counted under the first reason that holds, and the answer follows from the counts.
func accounted(t *rapid.T, p policies.Policy, c Case) {
	var want [policies.NumReasons + 1]int32
	for i := range c.View.Replicas {
		want[obstacle(&c.Request, &c.View.Replicas[i])]++
	}
	d := pick(p, c)
	for _, why := range []policies.Reason{policies.WrongModel, policies.NoCapability, policies.Cordoned} {
		if d.Rejected[why] != want[why] {
			t.Fatalf("%d replicas rejected by %v, want %d", d.Rejected[why], why, want[why])
		}
	}
	left := want[policies.NumReasons] - d.Rejected[policies.Stale] - d.Rejected[policies.NoAdapterSlot] - d.Rejected[policies.NoRoom]
	able := int32(len(c.View.Replicas)) - want[policies.WrongModel] - want[policies.NoCapability]
	action := policies.Dispatch
	switch {
	case able == 0:
		action = policies.Fail
	case left == 0:
		action = policies.Hold
	}
	if d.Action == policies.Hold && d.Rejected[policies.NoRoom] > 0 && waits(p) {
		return // for the best, although others have room
	}
	if d.Action != action {
		t.Fatalf("action %v with %d able and %d left, want %v", d.Action, able, left, action)
	}
	left -= d.Rejected[policies.PassedOver]
	if (d.RunnerUp >= 0) != (left >= 2) {
		t.Fatalf("runner-up %d with %d candidates", d.RunnerUp, left)
	}
}

// waits tells whether the policy holds a request for its best replica.
func waits(p policies.Policy) bool {
	s, ok := p.(*policies.Score)
	return ok && s.Config().Fit == policies.FitHold
}

// repeatable: Pick changes only the decision, and all of it.
func repeatable(t *rapid.T, p policies.Policy, c Case) {
	before := c.clone()
	first := pick(p, c)
	same(t, "the case after Pick", c, before)
	second := policies.Decision{Action: policies.Shed, Replica: 99, RunnerUp: 99, Hit: 99, Charge: 99, Need: 99,
		Score: 99, Margin: 99, Affinity: 99}
	for i := range second.Terms {
		second.Terms[i] = 99
	}
	for i := range second.Rejected {
		second.Rejected[i] = 99
	}
	p.Pick(&c.Request, &c.View, &second)
	same(t, "the second decision", second, first)
}

// unordered: permuting the replicas changes neither winner nor runner-up by name.
func unordered(t *rapid.T, p policies.Policy, c Case) {
	a := pick(p, c)
	order := rapid.Permutation(identity(len(c.View.Replicas))).Draw(t, "order")
	other := c.reorder(order)
	b := pick(p, other)
	same(t, "the winner among permuted replicas", other.name(b.Replica), c.name(a.Replica))
	same(t, "the runner-up among permuted replicas", other.name(b.RunnerUp), c.name(a.RunnerUp))
	same(t, "the score among permuted replicas", b.Score, a.Score)
}

// charged: hit + charge is the prompt, and the need is no less than what is charged.
func charged(t *rapid.T, p policies.Policy, c Case) {
	d := pick(p, c)
	if d.Action != policies.Dispatch {
		return
	}
	if d.Hit < 0 || d.Charge < 1 || d.Hit+d.Charge != c.Request.PromptTokens {
		t.Fatalf("hit %d and charge %d of a prompt of %d", d.Hit, d.Charge, c.Request.PromptTokens)
	}
	output := c.Request.EstOutput
	if c.Request.MaxOutput > 0 {
		output = min(output, c.Request.MaxOutput)
	}
	if d.Need < int64(d.Charge)+int64(max(output, d.Output)) {
		t.Fatalf("need %d with charge %d, output %d and %d expected", d.Need, d.Charge, output, d.Output)
	}
	if d.BestHit < d.Hit {
		t.Fatalf("best hit %d below the winner's %d", d.BestHit, d.Hit)
	}
	if want := float64(d.Hit) / float64(c.Request.PromptTokens); !math.IsNaN(d.Affinity) && d.Affinity != want {
		t.Fatalf("affinity %v, want %v", d.Affinity, want)
	}
}

// plain: for a request without an adapter it is all the same which ones the replicas have and have room for.
func plain(t *rapid.T, p policies.Policy, c Case) {
	c.Request.Adapter = 0
	before := pick(p, c)
	for i := range c.View.Replicas {
		c.View.Replicas[i].Adapters, c.View.InUse[i] = drawAdapters(t, "told later"), drawAdapters(t, "in use later")
		c.View.Idle[i] = drawIdle(t, c.View.InUse[i])
		c.View.Replicas[i].Signals.MaxAdapters = 1
	}
	same(t, "the decision among other adapters", pick(p, c), before)
}

// believing: Believe fills every hit, within the prompt, and what it was asked before does not matter.
func believing(t *rapid.T, p policies.Policy, c Case) {
	b, ok := p.(policies.Believer)
	if u, truth := p.(policies.TruthUser); !ok || truth && u.WantsTruth() {
		return
	}
	b.Believe(&c.Request, &c.View)
	first := slices.Clone(c.View.Hits)
	other := DrawRequest(t)
	b.Believe(&other, &c.View)
	b.Believe(&c.Request, &c.View)
	same(t, "the second belief", c.View.Hits, first)
	for i, h := range first {
		if h.Held < 0 || h.Tokens < h.Held || h.Tokens >= c.Request.PromptTokens {
			t.Fatalf("hit %+v at %s of a prompt of %d", h, c.View.Replicas[i].Name, c.Request.PromptTokens)
		}
	}
}

// obstacle is the first filter that stops every policy, NumReasons if none.
func obstacle(r *policies.Request, rep *policies.Replica) policies.Reason {
	if r.Model != 0 && r.Model != rep.Model {
		return policies.WrongModel
	}
	if r.Needs&^rep.Caps != 0 {
		return policies.NoCapability
	}
	if rep.Cordoned {
		return policies.Cordoned
	}
	return policies.NumReasons
}

// name is the replica's name, "" for -1.
func (c Case) name(i int) string {
	if i < 0 {
		return ""
	}
	return c.View.Replicas[i].Name
}

func same(t *rapid.T, what string, got, want any) {
	if diff := cmp.Diff(want, got, cmpopts.EquateNaNs(), cmpopts.EquateEmpty()); diff != "" {
		t.Fatalf("%s differs (-want +got):\n%s", what, diff)
	}
}
