package policytest

import (
	"pgregory.net/rapid"

	"github.com/seed-2cee110a/triage/policies"
)

// byItself makes a replica's score depend on nothing of the others: no norm relative to the candidates, no mean of theirs.
func byItself(cfg *policies.ScoreConfig) {
	cfg.Others, cfg.Rate = policies.OthersOff, 2048
	if cfg.Norm == policies.NormMinMax || cfg.Norm == policies.NormMean {
		cfg.Norm = policies.NormAbsolute
	}
}

// ofWaiting makes requests waiting count by a norm that is relative to the candidates. No filter looks at them, and they
// are no load.
func ofWaiting(t *rapid.T, cfg *policies.ScoreConfig, c *Case, norms ...policies.Norm) {
	cfg.Norm, cfg.Weights.Queue = rapid.SampledFrom(norms).Draw(t, "relative norm"), drawWeight(t, policies.Queue)
	cfg.Fit, cfg.Weights.KVPressure, cfg.Weights.Load = policies.FitOff, 0, 0
	for i := range c.View.Replicas {
		c.View.Replicas[i].Signals.Have |= policies.HasWaiting
	}
}

// moreWaitingByNorm: more requests waiting at a replica never make it win, though what is relative to the candidates may
// make another one win.
func moreWaitingByNorm(t *rapid.T, fresh func(policies.ScoreConfig) policies.Policy, cfg policies.ScoreConfig, c Case) {
	ofWaiting(t, &cfg, &c, policies.NormMinMax, policies.NormMean, policies.NormAbsolute)
	more := rapid.Int32Range(1, 400).Draw(t, "more requests")
	noWin(t, fresh(cfg), c, func(r *policies.Replica) { r.Signals.Waiting += more })
}

// moreOthers: more requests of other routers at a replica never make it win.
func moreOthers(t *rapid.T, fresh func(policies.ScoreConfig) policies.Policy, cfg policies.ScoreConfig, c Case) {
	ofWaiting(t, &cfg, &c, policies.NormWork, policies.NormTime)
	cfg.Others = policies.OthersOn
	more := rapid.Int32Range(1, 400).Draw(t, "more requests")
	noWin(t, fresh(cfg), c, func(r *policies.Replica) { r.Signals.Waiting += more })
}

// noWin: the change to a replica that did not win does not make it win.
func noWin(t *rapid.T, p policies.Policy, c Case, change func(*policies.Replica)) {
	before := pick(p, c)
	loser, ok := drawLoser(t, before, c)
	if !ok {
		return
	}
	change(&c.View.Replicas[loser])
	if after := pick(p, c); after.Replica == loser {
		t.Fatalf("%s wins with a longer queue, before it was %s", c.name(loser), c.name(before.Replica))
	}
}

// shiftedMinMax: as many more requests waiting everywhere decide nothing.
func shiftedMinMax(t *rapid.T, fresh func(policies.ScoreConfig) policies.Policy, cfg policies.ScoreConfig, c Case) {
	ofWaiting(t, &cfg, &c, policies.NormMinMax)
	more := rapid.Int32Range(0, 20).Draw(t, "more")
	shifted(t, fresh(cfg), c, func(r *policies.Replica, _ *policies.Local) { r.Signals.Waiting += more })
}

// doubled: only ratios of the requests waiting matter, above a mean of 1.
func doubled(t *rapid.T, fresh func(policies.ScoreConfig) policies.Policy, cfg policies.ScoreConfig, c Case) {
	ofWaiting(t, &cfg, &c, policies.NormMinMax, policies.NormMean)
	cfg.Sent = false
	for i := range c.View.Replicas {
		c.View.Replicas[i].Signals.Waiting++
	}
	shifted(t, fresh(cfg), c, func(r *policies.Replica, _ *policies.Local) { r.Signals.Waiting *= 2 })
}

// alone: with a single router what others sent decides nothing, whatever waits.
func alone(t *rapid.T, fresh func(policies.ScoreConfig) policies.Policy, cfg policies.ScoreConfig, c Case) {
	c.View.Routers = rapid.IntRange(0, 1).Draw(t, "one router")
	cfg.Others = policies.OthersAuto
	auto := pick(fresh(cfg), c)
	cfg.Others = policies.OthersOff
	same(t, "the decision of a single router", auto, pick(fresh(cfg), c))
}

// best: with fit=hold the winner is that of fit=off without the kv term, or the request waits because that one has no
// room. Replicas that could never hold the request are left out of the comparison.
func best(t *rapid.T, fresh func(policies.ScoreConfig) policies.Policy, cfg policies.ScoreConfig, c Case) {
	cfg.Weights.KVPressure = 0
	for i := range c.View.Replicas {
		c.View.Replicas[i].Signals.KVTokens = 1 << 16 // enough for every request
	}
	cfg.Fit = policies.FitOff
	off := pick(fresh(cfg), c)
	cfg.Fit = policies.FitSpill
	spill := pick(fresh(cfg), c)
	cfg.Fit = policies.FitHold
	hold := pick(fresh(cfg), c)
	if hold.Action == policies.Dispatch {
		same(t, "the winner", hold.Replica, off.Replica)
		return
	}
	if hold.Action != off.Action && (hold.Action != policies.Hold || hold.Rejected[policies.NoRoom] != 1 || spill.Replica == off.Replica) {
		t.Fatalf("%v with rejected %v, where off has %s and spill %s", hold.Action, hold.Rejected, c.name(off.Replica), c.name(spill.Replica))
	}
}
