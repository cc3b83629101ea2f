package reports

import (
	"fmt"
	"strings"
)

// Verdict is what a gate came to.
type Verdict string

const (
	Pass         Verdict = "pass"
	Fail         Verdict = "fail"
	Inconclusive Verdict = "inconclusive" // a number that it needs is not known, or the runs do not tell
)

// GateResult is a gate and what it came to.
type GateResult struct {
	Name    string // of a gate file, else the expression
	Policy  string // whose numbers plain names are, "" if labels lead them
	Expr    string
	Verdict Verdict
	Detail  string // the numbers that it looked at, and doubts
	Line    int    // in the gate file; 0 without one
}

// Overall is the verdict of several gates: one failure fails them all, and without one a doubt remains a doubt.
func Overall(gates []GateResult) Verdict {
	out := Pass
	for _, g := range gates {
		switch {
		case g.Verdict == Fail:
			return Fail
		case g.Verdict == Inconclusive:
			out = Inconclusive
		}
	}
	return out
}

// counted says how many gates have which verdict, worst first: "1 of 3 gates failed, 1 inconclusive".
func counted(gates []GateResult) string {
	n := map[Verdict]int{}
	for _, g := range gates {
		n[g.Verdict]++
	}
	all := count(len(gates), "gate")
	var parts []string
	if n[Fail] > 0 {
		parts = append(parts, fmt.Sprintf("%d of %s failed", n[Fail], all))
	}
	if n[Inconclusive] > 0 {
		parts = append(parts, fmt.Sprintf("%d of %s inconclusive", n[Inconclusive], all))
	}
	if len(parts) == 0 {
		return all + " passed"
	}
	return strings.Join(parts, ", ")
}

// Verdicts says in one line what gates came to.
func Verdicts(gates []GateResult) string { return counted(gates) }

// GateLines prints a line a gate, verdict first, for standard error.
func GateLines(gates []GateResult) string {
	var b strings.Builder
	for _, g := range gates {
		fmt.Fprintf(&b, "gate %-12s  %s\n", g.Verdict, g.title())
		if g.Detail != "" {
			fmt.Fprintf(&b, "    %s\n", g.Detail)
		}
	}
	return b.String()
}

// title names a gate together with its policy.
func (g GateResult) title() string {
	if g.Policy == "" || g.Name == g.Expr {
		return g.Name
	}
	return g.Name + " (" + g.Policy + ")"
}
