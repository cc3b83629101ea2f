package policytest

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/seed-2cee110a/triage/policies"
)

// misreading is a scorer that sees a replica other than it is, and so has a wrong term.
type misreading struct {
	policies.Policy
	misread func(*policies.Replica, *policies.Local)
}

func (m misreading) Pick(r *policies.Request, v *policies.View, d *policies.Decision) {
	c := Case{*r, *v}.clone()
	for i := range c.View.Replicas {
		m.misread(&c.View.Replicas[i], &c.View.Local[i])
	}
	m.Policy.Pick(&c.Request, &c.View, d)
}

// In as many cases as a test tries each law finds the terms that it is there to find, and nothing wrong in the true ones.
func TestLawsFindWrongTerms(t *testing.T) {
	type law = func(*rapid.T, func(policies.ScoreConfig) policies.Policy, policies.ScoreConfig, Case)
	for name, c := range map[string]struct {
		law     law
		misread func(*policies.Replica, *policies.Local)
	}{
		"negated work":    {moreWork, func(_ *policies.Replica, l *policies.Local) { l.UncachedPrefill *= -1 }},
		"negated waiting": {moreWaiting, func(r *policies.Replica, l *policies.Local) { r.Signals.Waiting *= -1; l.SentSinceSample *= -1 }},
		"negated sent":    {moreWaiting, func(_ *policies.Replica, l *policies.Local) { l.SentSinceSample *= -1 }},
		"squared work":    {shiftedWork, func(_ *policies.Replica, l *policies.Local) { l.UncachedPrefill *= l.UncachedPrefill }},
		"squared load":    {shiftedLoad, func(_ *policies.Replica, l *policies.Local) { l.InFlight *= l.InFlight }},
		"squared waiting": {shiftedWaiting, func(r *policies.Replica, _ *policies.Local) { r.Signals.Waiting *= r.Signals.Waiting }},
		"waiting by norm": {moreWaitingByNorm, func(r *policies.Replica, _ *policies.Local) { r.Signals.Waiting = 500 - r.Signals.Waiting }},
		"others":          {moreOthers, func(r *policies.Replica, _ *policies.Local) { r.Signals.Waiting = 500 - r.Signals.Waiting }},
		"offset waiting":  {doubled, func(r *policies.Replica, _ *policies.Local) { r.Signals.Waiting += 3 }},
		"squared minmax":  {shiftedMinMax, func(r *policies.Replica, _ *policies.Local) { r.Signals.Waiting *= r.Signals.Waiting }},
	} {
		t.Run(name, func(t *testing.T) {
			right := func(c policies.ScoreConfig) policies.Policy { return policies.NewScore(c) }
			wrong := func(cfg policies.ScoreConfig) policies.Policy { return misreading{right(cfg), c.misread} }
			if n := broken(c.law, right); n != 0 {
				t.Errorf("the law is broken %d times by the true term", n)
			}
			if n := broken(c.law, wrong); n == 0 {
				t.Error("the law is never broken by the wrong term")
			} else {
				t.Logf("broken in %d of 100 cases", n)
			}
		})
	}
}

// broken counts how often a law does not hold in the 100 cases that rapid tries by default, of fixed seeds.
func broken(law func(*rapid.T, func(policies.ScoreConfig) policies.Policy, policies.ScoreConfig, Case), fresh func(policies.ScoreConfig) policies.Policy) int {
	holds := rapid.Custom(func(t *rapid.T) (ok bool) {
		defer func() { ok = recover() == nil }()
		law(t, fresh, DrawConfig(t), Draw(t))
		return
	})
	n := 0
	for seed := range 100 {
		if !holds.Example(seed) {
			n++
		}
	}
	return n
}
