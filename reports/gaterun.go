package reports

import (
	"fmt"
	"slices"

	"github.com/seed-2cee110a/triage/sim"
)

// RunGates are the conditions of a replay on its own runs. With one run its numbers have plain names and names below its
// label; with several only names below labels.
type RunGates struct{ conditions []*condition }

// CompileRunGates checks expressions before anything is replayed, against the labels of the runs to come.
func CompileRunGates(exprs, labels []string) (*RunGates, error) {
	g := &RunGates{}
	if len(exprs) == 0 {
		return g, nil
	}
	s, err := runScope(make([]sim.Summary, len(labels)), labels)
	if err != nil {
		return nil, err
	}
	for _, text := range exprs {
		c, err := compile(text, s)
		if err != nil {
			return nil, fmt.Errorf("gate %w", err)
		}
		g.conditions = append(g.conditions, c)
	}
	return g, nil
}

// reserved are names of gates that no policy may have.
var reserved = []string{"baseline", "trace", "regression", numberOf, textOf, quotientOf, powerOf}

// runScope has the numbers of runs under their labels, and plainly if there is only one.
func runScope(runs []sim.Summary, labels []string) (*scope, error) {
	s := newScope()
	if len(runs) == 1 {
		s.summary("", runs[0])
	}
	from := map[string]string{}
	for i, label := range labels {
		name := Label(label)
		if slices.Contains(reserved, name) {
			return nil, fmt.Errorf("gate: policy %q is %s in gates, which means something else there; label it otherwise, as in -p other=%s", label, name, label)
		}
		if other, taken := from[name]; taken {
			return nil, fmt.Errorf("gate: policies %q and %q are both %s in gates; label one, as in -p other=%s", other, label, name, label)
		}
		from[name] = label
		if _, taken := s.tree[name]; !taken { // a lone run may be labelled like one of its numbers
			s.summary(name, runs[i])
		}
	}
	return s, nil
}

// Check evaluates the conditions on the runs of a comparison.
func (g *RunGates) Check(c *Comparison) ([]GateResult, error) {
	if len(g.conditions) == 0 {
		return nil, nil
	}
	var runs []sim.Summary
	var labels []string
	for _, r := range c.Runs {
		runs, labels = append(runs, r.Summary), append(labels, r.Policy)
	}
	s, err := runScope(runs, labels)
	if err != nil {
		return nil, err
	}
	var out []GateResult
	for _, cond := range g.conditions {
		verdict, detail, err := cond.evaluate(s)
		if err != nil {
			return nil, fmt.Errorf("gate %w", err)
		}
		out = append(out, GateResult{Name: cond.text, Expr: cond.text, Verdict: verdict, Detail: detail})
	}
	return out, nil
}
