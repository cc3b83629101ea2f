package main

import (
	"context"
	"io"

	"github.com/seed-2cee110a/triage/policies"
	"github.com/seed-2cee110a/triage/reports"
	"github.com/seed-2cee110a/triage/sim/tune"
)

// hold replays the recommended policy on every trace and holds it to the gates.
func (j *tuneJob) hold(ctx context.Context, s *tune.Study, stderr io.Writer) error {
	gates, err := reports.CompileRunGates(j.gates.exprs, []string{"recommended"})
	if err != nil {
		return usage{err}
	}
	spec := s.Space.Spec(s.Recommended)
	spec.Label = "recommended"
	var all []reports.GateResult
	for _, c := range s.Cases {
		results, err := c.Stage.RunAll(ctx, []policies.Spec{spec}, 1, func(done, total int64) {})
		if err != nil {
			return err
		}
		runs, err := reports.Compare("", results...)
		if err != nil {
			return err
		}
		checked, err := gates.Check(runs)
		if err != nil {
			return usage{err}
		}
		for _, g := range checked {
			if len(s.Cases) > 1 {
				g.Name = c.Name + ": " + g.Name
			}
			all = append(all, g)
		}
	}
	return j.gates.verdict(all, stderr)
}
