package reports

import (
	"errors"
	"fmt"
	"math"

	"github.com/seed-2cee110a/triage/sim"
)

// Gating is a gate file applied to a result.
type Gating struct {
	File     *GateFile
	Result   *Kept
	Baseline *Kept  // nil: none
	Absent   string // why there is no baseline although one is named

	AllowOtherTrace bool // compare with a baseline of another trace
	outcomes        map[[2]string][]outcome
}

// Gated is what the gates of a file came to.
type Gated struct {
	File     string
	Scenario string // the trace
	Gates    []GateResult
	Notes    []string // what differs between result and baseline
	Result   *Kept
	Baseline *Kept
}

// Check evaluates every gate. An error is one of the file, with its place, or of a file that cannot be read.
func (g *Gating) Check() (*Gated, error) {
	out := &Gated{File: g.File.name, Scenario: g.Result.doc.Trace.Name, Result: g.Result, Baseline: g.Baseline}
	out.Notes = g.notes()
	g.outcomes = map[[2]string][]outcome{}
	for i := range g.File.gates {
		r, err := g.gate(&g.File.gates[i])
		if err != nil {
			return nil, err
		}
		out.Gates = append(out.Gates, r)
	}
	return out, nil
}

// notes says what makes the comparison with the baseline doubtful.
func (g *Gating) notes() []string {
	var out []string
	if g.Absent != "" {
		out = append(out, g.Absent)
	}
	if g.Baseline != nil {
		for _, d := range differing(g.Baseline, g.Result) {
			out = append(out, "the baseline differs: "+d)
		}
	}
	return out
}

func (g *Gating) gate(e *gateEntry) (GateResult, error) {
	s, policy, err := g.scope(e)
	if err != nil {
		return GateResult{}, err
	}
	c, err := compile(e.Expr.v, s)
	if err != nil {
		return GateResult{}, g.File.errorAt(e.Expr.at, err)
	}
	verdict, detail, err := c.evaluate(s)
	var bad *Unreadable
	switch {
	case errors.As(err, &bad):
		return GateResult{}, bad
	case err != nil:
		return GateResult{}, g.File.errorAt(e.Expr.at, err)
	}
	return GateResult{Name: e.Name.v, Policy: policy, Expr: e.Expr.v, Verdict: verdict, Detail: detail, Line: e.Expr.at.Line}, nil
}

// scope has what a gate may name: the numbers of its policy, or of every policy under its label, the same of the
// baseline, and the trace.
func (g *Gating) scope(e *gateEntry) (*scope, string, error) {
	p := g.File.policyOf(e)
	if p.at == nil && len(g.Result.Runs) > 1 {
		s, err := g.labelled()
		return s, "", err
	}
	policy := p.v
	if p.at == nil {
		policy = g.Result.Runs[0].Policy
	}
	run, err := g.Result.run(policy)
	if err != nil {
		return nil, "", g.File.errorAt(p.at, err)
	}
	s := newScope()
	s.summary("", run)
	g.traces(s)
	if !g.named() {
		return s, policy, nil
	}
	base, why := g.baseline(policy)
	if why == "" {
		s.summary("baseline", base)
	} else {
		s.unknownSummary("baseline", why)
	}
	s.pair = func(metric string) (pairing, error) { return g.pair(metric, policy, why) }
	return s, policy, nil
}

// named says whether the gates may speak of a baseline.
func (g *Gating) named() bool { return g.Baseline != nil || g.Absent != "" }

// baseline returns the numbers of a policy in the baseline, or why they are not known.
func (g *Gating) baseline(policy string) (sim.Summary, string) {
	switch {
	case g.Absent != "":
		return sim.Summary{}, g.Absent
	case !g.AllowOtherTrace && !g.Baseline.sameTrace(g.Result):
		return sim.Summary{}, "the baseline is of another trace"
	}
	run, err := g.Baseline.run(policy)
	if err != nil {
		return sim.Summary{}, err.Error()
	}
	return run, ""
}

// labelled has every policy below its label.
func (g *Gating) labelled() (*scope, error) {
	s, err := runScope(g.Result.Runs, g.Result.Labels())
	if err != nil {
		return nil, err
	}
	g.traces(s)
	if !g.named() {
		return s, nil
	}
	for _, r := range g.Result.Runs {
		lead := "baseline." + Label(r.Policy)
		if base, why := g.baseline(r.Policy); why == "" {
			s.summary(lead, base)
		} else {
			s.unknownSummary(lead, why)
		}
	}
	return s, nil
}

// traces adds what gates may say of the trace.
func (g *Gating) traces(s *scope) {
	t := g.Result.doc.Trace
	s.add("trace", map[string]any{"requests": float64(t.Requests), "span": float64(t.SpanS), "digest": t.Digest})
	if !g.named() {
		return
	}
	base := map[string]any{"requests": math.NaN(), "span": math.NaN(), "digest": ""}
	if g.Baseline != nil {
		b := g.Baseline.doc.Trace
		base = map[string]any{"requests": float64(b.Requests), "span": float64(b.SpanS), "digest": b.Digest}
	} else {
		s.missing["baseline.trace"] = g.Absent
	}
	s.add("baseline.trace", base)
}

// Unreadable is about a file of outcomes that is there and cannot be read, or that is not of the result beside it.
type Unreadable struct{ error }

// pair compares a metric of a policy with the baseline, window by window.
func (g *Gating) pair(metric, policy, why string) (pairing, error) {
	if why != "" {
		return pairing{metric: metric, doubt: why}, nil
	}
	return pairKept(g.outcomes, metric, policy, g.Baseline, g.Result)
}

// pairKept compares a metric of a policy in two results; rows that were read are kept in the map.
func pairKept(rows map[[2]string][]outcome, metric, policy string, base, cand *Kept) (pairing, error) {
	if !base.sameTrace(cand) {
		return pairing{metric: metric, doubt: "the traces differ"}, nil
	}
	var both [2][]outcome
	for i, k := range []*Kept{base, cand} {
		key := [2]string{k.outcomes, policy}
		if _, ok := rows[key]; !ok {
			read, err := readOutcomes(k.outcomes, policy)
			switch {
			case err != nil && missingOutcomes(err):
				return pairing{metric: metric, doubt: fmt.Sprintf("%s has no outcomes.parquet", k.Name)}, nil
			case err != nil:
				return pairing{}, &Unreadable{err}
			}
			if err := k.holds(policy, read); err != nil {
				return pairing{}, &Unreadable{fmt.Errorf("%s: outcomes are not those of result.json: %w", k.outcomes, err)}
			}
			rows[key] = read
		}
		both[i] = rows[key]
	}
	return pairRuns(metric, both[0], both[1])
}
