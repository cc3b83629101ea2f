package reports

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/seed-2cee110a/triage/sim/fidelity"
)

// siblings is how many stable stages are shown of a kind of server that was overloaded.
const siblings = 3

// serverKind is what step times depend on.
type serverKind struct {
	model, gpu string
	tp         int
}

func (k serverKind) String() string { return fmt.Sprintf("%s on %d x %s", k.model, k.tp, k.gpu) }

func kindOf(l fidelity.Load) serverKind { return serverKind{l.Model, l.GPU, l.TP} }

// siblingTable is, for every kind of server that was overloaded, the stable stages nearest to that. Where the simulator
// agrees with these and not with the overload, something slowed the server down that no column names.
func siblingTable(r *fidelity.Report) fidelityTable {
	t := fidelityTable{title: "stable stages of the same model, GPU and tp as under overload",
		note: fmt.Sprintf("TPOT means, ms, of the %d with the most requests in flight. Where these agree and the overload does not, the data does not say what slowed that server.", siblings),
		head: []string{"model on GPUs", "experiment", "stage", "in flight", "measured", "simulated", "error"}}
	stable := stableStages(r)
	seen := map[serverKind]bool{}
	for _, over := range r.Loads {
		k := kindOf(over)
		if over.Regime != "overload" || seen[k] {
			continue
		}
		seen[k] = true
		for _, l := range stable[k][:min(siblings, len(stable[k]))] {
			t.rows = append(t.rows, append([]string{k.String()}, l.cells()...))
		}
	}
	return t
}

// stableStage is a stable stage and its mean TPOT.
type stableStage struct {
	fidelity.Load
	tpot fidelity.Score
}

func (s stableStage) cells() []string {
	return []string{s.Experiment, s.Stage, strconv.Itoa(s.InFlight), significant(s.tpot.Measured), significant(s.tpot.Simulated), biasCell(s.tpot.Error())}
}

// stableStages returns those of each kind of server, that with the most requests in flight first.
func stableStages(r *fidelity.Report) map[serverKind][]stableStage {
	out := map[serverKind][]stableStage{}
	for _, s := range of(r.Scores, "tpot", "mean") {
		i := slices.IndexFunc(r.Loads, func(l fidelity.Load) bool { return l.Experiment == s.Experiment && l.Stage == s.Stage })
		if s.Best && s.Stable() && i >= 0 {
			k := kindOf(r.Loads[i])
			out[k] = append(out[k], stableStage{r.Loads[i], s})
		}
	}
	for _, all := range out {
		slices.SortStableFunc(all, func(a, b stableStage) int { return cmp.Compare(b.InFlight, a.InFlight) })
	}
	return out
}
