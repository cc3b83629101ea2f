package policytest

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/seed-2cee110a/triage/policies"
)

// RunScore tests the laws of a scorer made from a configuration.
func RunScore(t *testing.T, fresh func(policies.ScoreConfig) policies.Policy) {
	laws := []struct {
		name string
		law  func(*rapid.T, func(policies.ScoreConfig) policies.Policy, policies.ScoreConfig, Case)
	}{
		{"terms sum to the score", sums},
		{"zero weight means term absent", absent},
		{"doubling the weights changes no pick", doubled},
		{"a constant in a term changes no pick", shifted},
		{"removing a loser changes no pick", withoutLoser},
		{"a longer queue never wins", longerQueue},
	}
	for _, l := range laws {
		t.Run(l.name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) { l.law(t, fresh, DrawConfig(t), Draw(t)) })
		})
	}
}

// DrawConfig returns a configuration with dyadic weights and no feedback terms, whose means are not dyadic and
// depend on the losers.
func DrawConfig(t *rapid.T) policies.ScoreConfig {
	c := policies.DefaultScore()
	for term := range policies.TTFT {
		*c.Weights.Of(term) = float64(rapid.IntRange(0, 8).Draw(t, "weight of "+term.String())) / 4
	}
	c.Norm = rapid.SampledFrom([]policies.Norm{policies.NormWork, policies.NormAbsolute}).Draw(t, "norm")
	c.Fit = rapid.SampledFrom([]policies.Fit{policies.FitSpill, policies.FitOff}).Draw(t, "fit")
	c.Margin = 0.125
	return c
}

// sums: the terms, added in order, are the score to the bit, and the margin is that to the runner-up.
func sums(t *rapid.T, fresh func(policies.ScoreConfig) policies.Policy, cfg policies.ScoreConfig, c Case) {
	cfg.Weights.TTFT, cfg.Weights.TPOT, cfg.Weights.Load = 0.3, 0.7, 0.02 // nothing dyadic is needed here
	p := fresh(cfg)
	d := pick(p, c)
	if d.Action != policies.Dispatch {
		return
	}
	var sum float64
	for _, x := range d.Terms {
		sum += x
	}
	same(t, "the sum of the terms", sum, d.Score)
	if d.RunnerUp < 0 {
		return
	}
	if !(d.Margin >= 0) {
		t.Fatalf("margin %v, want at least 0", d.Margin)
	}
	cfg.Weights.TTFT, cfg.Weights.TPOT = 0, 0 // so that the runner-up scores the same alone
	d = pick(fresh(cfg), c)
	alone := pick(fresh(cfg), c.reorder([]int{d.RunnerUp}))
	same(t, "the margin", d.Margin, d.Score-alone.Score)
}

// absent: with weight 0 the term is 0 and its inputs decide nothing.
func absent(t *rapid.T, fresh func(policies.ScoreConfig) policies.Policy, cfg policies.ScoreConfig, c Case) {
	cfg.Fit, cfg.Norm = policies.FitOff, policies.NormWork // a filter looks at some of the inputs too
	scramble := []func(c *Case, i int){
		policies.Affinity:    func(c *Case, i int) { c.View.Hits[i] = policies.Hit{} },
		policies.Queue:       func(c *Case, i int) { c.View.Local[i].UncachedPrefill += int64(i) * 7777 },
		policies.KVPressure:  func(c *Case, i int) { c.View.Replicas[i].Signals.KVUsed = 1 },
		policies.AdapterMiss: func(c *Case, i int) { c.View.Replicas[i].Adapters = nil },
		policies.LoadTerm:    func(c *Case, i int) { c.View.Replicas[i].Signals.Running += int32(i) * 7 },
		policies.Tokens:      func(c *Case, i int) { c.View.Local[i].HeldTokens += int64(i) * 7777 },
		policies.TTFT:        func(c *Case, i int) { c.View.Local[i].TTFT = float64(i) },
		policies.TPOT:        func(c *Case, i int) { c.View.Local[i].TPOT = float64(i) },
	}
	term := policies.Term(rapid.IntRange(0, int(policies.NumTerms)-1).Draw(t, "term"))
	*cfg.Weights.Of(term) = 0
	if term == policies.Affinity {
		cfg.Weights.KVPressure = 0 // hits that are held spare room
	}
	before := pick(fresh(cfg), c)
	for i := range c.View.Replicas {
		scramble[term](&c, i)
	}
	after := pick(fresh(cfg), c)
	same(t, "the term "+term.String(), before.Terms[term], 0.0)
	same(t, "the winner without "+term.String(), after.Replica, before.Replica)
	same(t, "the score without "+term.String(), after.Score, before.Score)
}

// doubled: only ratios of weights matter.
func doubled(t *rapid.T, fresh func(policies.ScoreConfig) policies.Policy, cfg policies.ScoreConfig, c Case) {
	cfg.Weights.Load = 0.02
	once := pick(fresh(cfg), c)
	for term := range policies.NumTerms {
		*cfg.Weights.Of(term) *= 2
	}
	twice := pick(fresh(cfg), c)
	same(t, "the winner", twice.Replica, once.Replica)
	same(t, "the runner-up", twice.RunnerUp, once.RunnerUp)
	same(t, "the score", twice.Score, 2*once.Score)
}

// shifted: what is the same for all decides nothing.
func shifted(t *rapid.T, fresh func(policies.ScoreConfig) policies.Policy, cfg policies.ScoreConfig, c Case) {
	cfg.Norm = policies.NormWork
	before := pick(fresh(cfg), c)
	more := rapid.Int64Range(0, 1000).Draw(t, "more")
	for i := range c.View.Local {
		c.View.Local[i].UncachedPrefill += more
	}
	after := pick(fresh(cfg), c)
	same(t, "the winner", after.Replica, before.Replica)
	same(t, "the runner-up", after.RunnerUp, before.RunnerUp)
	same(t, "the margin", after.Margin, before.Margin)
}

// withoutLoser: a replica that does not win does not decide who does.
func withoutLoser(t *rapid.T, fresh func(policies.ScoreConfig) policies.Policy, cfg policies.ScoreConfig, c Case) {
	before := pick(fresh(cfg), c)
	loser, ok := drawLoser(t, before, c)
	if !ok {
		return
	}
	order := identity(len(c.View.Replicas))
	less := c.reorder(append(order[:loser], order[loser+1:]...))
	after := pick(fresh(cfg), less)
	same(t, "the winner without a loser", less.name(after.Replica), c.name(before.Replica))
	same(t, "the score without a loser", after.Score, before.Score)
}

// longerQueue: more work queued at a replica never makes it win.
func longerQueue(t *rapid.T, fresh func(policies.ScoreConfig) policies.Policy, cfg policies.ScoreConfig, c Case) {
	cfg.Weights.TTFT, cfg.Weights.Load = 0.3, 0.02
	before := pick(fresh(cfg), c)
	loser, ok := drawLoser(t, before, c)
	if !ok {
		return
	}
	c.View.Local[loser].UncachedPrefill += rapid.Int64Range(1, 10_000).Draw(t, "more work")
	c.View.Replicas[loser].Signals.Waiting += rapid.Int32Range(0, 100).Draw(t, "more waiting")
	after := pick(fresh(cfg), c)
	same(t, "the winner with a longer queue at a loser", after.Replica, before.Replica)
}

// drawLoser draws a replica that did not win, if there is one.
func drawLoser(t *rapid.T, d policies.Decision, c Case) (int, bool) {
	n := len(c.View.Replicas)
	if d.Replica < 0 || n < 2 {
		return 0, false
	}
	i := rapid.IntRange(0, n-2).Draw(t, "loser")
	if i >= d.Replica {
		i++
	}
	return i, true
}
