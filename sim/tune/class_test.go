package tune

import (
	"slices"
	"testing"

	"github.com/seed-2cee110a/triage/sim"
)

// The hash sees every part of a decision, and nothing of what became of it.
func TestDecisions(t *testing.T) {
	outcomes := []sim.Outcome{
		{Row: 0, Replica: 1, Dispatched: 5, Finished: 90},
		{Row: 1, Replica: 0, Dispatched: 6, Finished: 80},
		{Row: 2, Replica: -1, Dispatched: -1, Status: sim.Rejected, Reason: sim.Deadline, Finished: 70},
	}
	hash := func(change func([]sim.Outcome)) uint64 {
		o := slices.Clone(outcomes)
		change(o)
		return decisions(&sim.Result{Outcomes: o})
	}
	same := hash(func([]sim.Outcome) {})
	for name, change := range map[string]func([]sim.Outcome){
		"another replica":              func(o []sim.Outcome) { o[0].Replica = 0 },
		"another instant":              func(o []sim.Outcome) { o[1].Dispatched = 7 },
		"replicas swapped":             func(o []sim.Outcome) { o[0].Replica, o[1].Replica = 0, 1 },
		"another reason":               func(o []sim.Outcome) { o[2].Reason = sim.Shed },
		"another instant of a refusal": func(o []sim.Outcome) { o[2].Finished = 71 },
		"served instead":               func(o []sim.Outcome) { o[2] = sim.Outcome{Row: 2, Dispatched: 70} },
	} {
		if hash(change) == same {
			t.Errorf("%s: the hash does not change", name)
		}
	}
	if hash(func(o []sim.Outcome) { o[0].Finished, o[1].First, o[1].Hit = 91, 50, 16 }) != same {
		t.Error("the hash changes with what became of the requests")
	}
}
