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
		{"scaling the weights changes no pick", scaled},
		{"a constant in the work queued changes no pick", shiftedWork},
		{"a constant in the load changes no pick", shiftedLoad},
		{"a constant in the requests waiting changes no pick", shiftedWaiting},
		{"removing a loser changes no pick", withoutLoser},
		{"more work queued never wins", moreWork},
		{"more requests waiting never win", moreWaiting},
		{"more requests waiting never win by any norm", moreWaitingByNorm},
		{"a constant in the requests waiting changes no pick with minmax", shiftedMinMax},
		{"twice the requests waiting change no pick by relative norms", doubled},
		{"more work of other routers never wins", moreOthers},
		{"a single router has no others", alone},
		{"fit=hold waits or picks the best of all", best},
		{"no slot, no dispatch", slotless},
		{"what was sent is hot", sentIsHot},
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
	c.Norm = rapid.SampledFrom([]policies.Norm{policies.NormWork, policies.NormAbsolute, policies.NormMinMax,
		policies.NormMean, policies.NormTime}).Draw(t, "norm")
	c.Rate = rapid.SampledFrom([]float64{0, 2048}).Draw(t, "rate")
	c.Others = rapid.SampledFrom([]policies.Others{policies.OthersAuto, policies.OthersOn, policies.OthersOff}).Draw(t, "others")
	c.Slots = rapid.SampledFrom([]policies.Slots{policies.SlotsSpill, policies.SlotsOff}).Draw(t, "slots")
	c.Fit = rapid.SampledFrom([]policies.Fit{policies.FitSpill, policies.FitOff}).Draw(t, "fit")
	c.Margin = 0.125
	return c
}

// sums: the terms, added in order, are the score to the bit, and the margin is that to the runner-up.
func sums(t *rapid.T, fresh func(policies.ScoreConfig) policies.Policy, cfg policies.ScoreConfig, c Case) {
	cfg.Weights.TTFT, cfg.Weights.TPOT, cfg.Weights.Load = 0.3, 0.7, 0.02 // nothing dyadic is needed here
	byItself(&cfg)
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
	cfg.Slots, cfg.Fit, cfg.Norm = policies.SlotsOff, policies.FitOff, policies.NormWork // a filter looks at some of the inputs too
	scramble := []func(c *Case, i int){
		policies.Affinity:    func(c *Case, i int) { c.View.Hits[i] = policies.Hit{} },
		policies.Queue:       func(c *Case, i int) { c.View.Local[i].UncachedPrefill += int64(i) * 7777 },
		policies.KVPressure:  func(c *Case, i int) { c.View.Replicas[i].Signals.KVUsed = 1 },
		policies.AdapterMiss: func(c *Case, i int) { c.View.Replicas[i].Adapters, c.View.InUse[i], c.View.Idle[i] = nil, nil, nil },
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

// scaled: only ratios of weights matter. Powers of two keep the scores exact.
func scaled(t *rapid.T, fresh func(policies.ScoreConfig) policies.Policy, cfg policies.ScoreConfig, c Case) {
	cfg.Weights.Load = 0.02
	factor := rapid.SampledFrom([]float64{0.5, 2, 4}).Draw(t, "factor")
	once := pick(fresh(cfg), c)
	for term := range policies.NumTerms {
		*cfg.Weights.Of(term) *= factor
	}
	again := pick(fresh(cfg), c)
	same(t, "the winner", again.Replica, once.Replica)
	same(t, "the runner-up", again.RunnerUp, once.RunnerUp)
	same(t, "the score", again.Score, factor*once.Score)
	same(t, "the margin", again.Margin, factor*once.Margin)
}

// shiftedWork: the same work at all replicas decides nothing.
func shiftedWork(t *rapid.T, fresh func(policies.ScoreConfig) policies.Policy, cfg policies.ScoreConfig, c Case) {
	cfg.Norm, cfg.Others = policies.NormWork, policies.OthersOff
	more := rapid.Int64Range(0, 1000).Draw(t, "more")
	shifted(t, fresh(cfg), c, func(_ *policies.Replica, l *policies.Local) { l.UncachedPrefill += more })
}

// shiftedLoad: as many more requests in flight at all replicas decide nothing.
func shiftedLoad(t *rapid.T, fresh func(policies.ScoreConfig) policies.Policy, cfg policies.ScoreConfig, c Case) {
	cfg.Others = policies.OthersOff
	cfg.Norm, cfg.Weights.Load = policies.NormWork, drawWeight(t, policies.LoadTerm)/64
	cfg.Fit, cfg.Weights.KVPressure = policies.FitOff, 0 // an idle replica may be filled up, a busy one not
	more := rapid.Int32Range(0, 20).Draw(t, "more")
	shifted(t, fresh(cfg), c, func(_ *policies.Replica, l *policies.Local) { l.InFlight += more })
}

// shiftedWaiting: as many more requests waiting at all replicas decide nothing, below the cap. Where the engine does not
// tell how many wait, those in flight stand for them.
func shiftedWaiting(t *rapid.T, fresh func(policies.ScoreConfig) policies.Policy, cfg policies.ScoreConfig, c Case) {
	absolute(t, &cfg)
	cfg.Weights.Load = 0 // waiting requests are load as well
	more := rapid.Int32Range(0, 20).Draw(t, "more")
	shifted(t, fresh(cfg), c, func(r *policies.Replica, l *policies.Local) {
		r.Signals.Waiting += more
		l.InFlight += more
	})
}

// shifted: what the change adds to every replica decides nothing.
func shifted(t *rapid.T, p policies.Policy, c Case, change func(*policies.Replica, *policies.Local)) {
	before := pick(p, c)
	for i := range c.View.Replicas {
		change(&c.View.Replicas[i], &c.View.Local[i])
	}
	after := pick(p, c)
	same(t, "the winner", after.Replica, before.Replica)
	same(t, "the runner-up", after.RunnerUp, before.RunnerUp)
	same(t, "the margin", after.Margin, before.Margin)
}

// absolute makes requests waiting count, with a cap that no case reaches. The cap is a power of two, so that scores are
// exact; no filter looks at the requests in flight.
func absolute(t *rapid.T, cfg *policies.ScoreConfig) {
	cfg.Norm, cfg.QueueCap, cfg.Weights.Queue = policies.NormAbsolute, 512, drawWeight(t, policies.Queue)
	cfg.Fit, cfg.Weights.KVPressure = policies.FitOff, 0
}

// drawWeight draws a weight that matters.
func drawWeight(t *rapid.T, term policies.Term) float64 {
	return float64(rapid.IntRange(1, 8).Draw(t, "weight above 0 of "+term.String()))
}

// withoutLoser: a replica that does not win does not decide who does.
func withoutLoser(t *rapid.T, fresh func(policies.ScoreConfig) policies.Policy, cfg policies.ScoreConfig, c Case) {
	byItself(&cfg)
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

// moreWork: more work queued at a replica never makes it win.
func moreWork(t *rapid.T, fresh func(policies.ScoreConfig) policies.Policy, cfg policies.ScoreConfig, c Case) {
	cfg.Norm = rapid.SampledFrom([]policies.Norm{policies.NormWork, policies.NormTime}).Draw(t, "norm of work")
	cfg.Others, cfg.Weights.Queue = policies.OthersOff, drawWeight(t, policies.Queue)
	cfg.Weights.TTFT, cfg.Weights.Load = 0.3, 0.001
	more := rapid.Int64Range(1, 10_000).Draw(t, "more work")
	longerQueue(t, fresh(cfg), c, func(_ *policies.Replica, l *policies.Local) { l.UncachedPrefill += more })
}

// moreWaiting: more requests waiting at a replica never make it win, whether the engine told of them or they were sent
// since.
func moreWaiting(t *rapid.T, fresh func(policies.ScoreConfig) policies.Policy, cfg policies.ScoreConfig, c Case) {
	absolute(t, &cfg)
	cfg.Weights.TTFT, cfg.Weights.Load = 0.3, 0.001
	for i := range c.View.Replicas {
		c.View.Replicas[i].Signals.Have |= policies.HasWaiting
	}
	told := rapid.Bool().Draw(t, "told")
	more := rapid.Int32Range(1, 400).Draw(t, "more requests")
	longerQueue(t, fresh(cfg), c, func(r *policies.Replica, l *policies.Local) {
		if told {
			r.Signals.Waiting += more
		} else {
			l.SentSinceSample += more
		}
	})
}

// longerQueue: the change to a replica that did not win leaves it so.
func longerQueue(t *rapid.T, p policies.Policy, c Case, change func(*policies.Replica, *policies.Local)) {
	before := pick(p, c)
	loser, ok := drawLoser(t, before, c)
	if !ok {
		return
	}
	if before.RunnerUp >= 0 && rapid.Bool().Draw(t, "runner-up") {
		loser = before.RunnerUp // the nearest to win
	}
	change(&c.View.Replicas[loser], &c.View.Local[loser])
	after := pick(p, c)
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
