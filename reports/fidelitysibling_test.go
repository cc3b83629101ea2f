package reports

import (
	"strings"
	"testing"

	"github.com/seed-2cee110a/triage/sim/fidelity"
)

// Beside an overloaded server stand the busiest stable stages of its kind, each once, and none of another tp, of a whole
// stage where there is a warm one, or of overload.
func TestSiblingsOfOverload(t *testing.T) {
	r := &fidelity.Report{}
	stage := func(id, stage, regime string, tp, inFlight int, subset string, best bool) {
		r.Loads = append(r.Loads, fidelity.Load{Experiment: id, Stage: stage, Regime: regime, Model: "m", GPU: "H100", TP: tp, InFlight: inFlight})
		r.Scores = append(r.Scores, fidelity.Score{Key: fidelity.Key{Experiment: id, Stage: stage, Subset: subset, Metric: "tpot", Stat: "mean"},
			Regime: regime, Overload: regime == "overload", Best: best, Measured: 10, Simulated: 11})
	}
	stage("idle", "0", "stable", 2, 5, "warm", true)
	stage("over", "0", "overload", 2, 128, "all", true)
	stage("over", "1", "overload", 2, 128, "all", true)
	stage("busy", "0", "stable", 2, 80, "all", true)
	stage("busy", "1", "stable", 2, 120, "all", true)
	stage("half", "0", "stable", 2, 100, "all", false)
	stage("wide", "0", "stable", 4, 127, "all", true)
	stage("more", "0", "stable", 2, 90, "all", true)
	var got []string
	for _, row := range siblingTable(r).rows {
		got = append(got, strings.Join(row, " "))
	}
	want := []string{"m on 2 x H100 busy 1 120 10.0 11.0 +10.0 %", "m on 2 x H100 more 0 90 10.0 11.0 +10.0 %", "m on 2 x H100 busy 0 80 10.0 11.0 +10.0 %"}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("rows\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
