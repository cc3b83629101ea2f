package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/pflag"

	"github.com/seed-2cee110a/triage/policies"
	"github.com/seed-2cee110a/triage/reports"
)

// gated is a verdict of gates that ends the program with its own exit code.
type gated struct {
	error
	code int
}

// verdictFlags say what a verdict does to the exit code.
type verdictFlags struct {
	strict bool
	code   int // of a gate that failed
}

func (v *verdictFlags) bind(f *pflag.FlagSet) {
	v.code = exitGate
	f.BoolVar(&v.strict, "strict", false, "exit with 4 when a gate is inconclusive")
	f.IntVar(&v.code, "exit-code", exitGate, "exit with `N` when a gate failed, 0 to 255")
}

func (v *verdictFlags) check() error {
	if v.code < 0 || v.code > 255 {
		return fmt.Errorf("exit-code is %d, want 0 to 255", v.code)
	}
	return nil
}

// verdict tells what the gates came to and returns how the program is to end.
func (v *verdictFlags) verdict(gates []reports.GateResult, stderr io.Writer) error {
	if len(gates) == 0 {
		return nil
	}
	said := reports.Verdicts(gates)
	switch o := reports.Overall(gates); {
	case o == reports.Fail && v.code != exitOK:
		return gated{errors.New(said), v.code}
	case o == reports.Inconclusive && v.strict:
		return gated{errors.New(said), exitDoubt}
	case o == reports.Inconclusive:
		said += "; that does not fail without --strict"
	}
	fmt.Fprintln(stderr, said)
	return nil
}

// gateFlags are the conditions on a replay's own runs.
type gateFlags struct {
	verdictFlags
	exprs []string
}

func (g *gateFlags) bind(f *pflag.FlagSet) {
	f.StringArrayVar(&g.exprs, "gate", nil, "condition `EXPR` that the runs must meet, such as 'ttft.p90 < 0.5'; repeat it for more")
	g.verdictFlags.bind(f)
}

// compile finds what is wrong with the conditions before any work is done.
func (g *gateFlags) compile(specs []policies.Spec) (*reports.RunGates, error) {
	if err := g.check(); err != nil {
		return nil, err
	}
	labels := make([]string, len(specs))
	for i, s := range specs {
		labels[i] = s.Label
	}
	return reports.CompileRunGates(g.exprs, labels)
}

// verdict tells each gate and all of them on standard error.
func (g *gateFlags) verdict(gates []reports.GateResult, stderr io.Writer) error {
	io.WriteString(stderr, reports.GateLines(gates))
	return g.verdictFlags.verdict(gates, stderr)
}
