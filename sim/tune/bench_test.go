package tune

import (
	"os"
	"testing"

	"github.com/seed-2cee110a/triage/policies"
	"github.com/seed-2cee110a/triage/sim"
	"github.com/seed-2cee110a/triage/traces"
)

const mooncake = "../../../shared/traces/mooncake/conversation_trace.jsonl.gz"

// conversation is Mooncake's hour of chat on the default cluster; the test is skipped where the trace is not there.
func conversation(t testing.TB) Case {
	t.Helper()
	if _, err := os.Stat(mooncake); err != nil {
		t.Skip("no Mooncake conversation trace beside the checkout")
	}
	tr, err := traces.Open(mooncake, traces.Options{})
	if err != nil {
		t.Fatal(err)
	}
	stage, err := sim.Prepare(sim.Default(), tr)
	if err != nil {
		t.Fatal(err)
	}
	return Case{Name: "conversation", Stage: stage}
}

// BenchmarkGrid searches a grid of 32 points over norm=work, on one worker; the aim for a whole study of 1,000 points on
// two cores is 100 points a second on each.
func BenchmarkGrid(b *testing.B) {
	base, err := policies.Parse("score")
	if err != nil {
		b.Fatal(err)
	}
	space, err := ParseSpace(base, []string{"q=log:0.1..10:8", "load=0,0.02,0.2,2"})
	if err != nil {
		b.Fatal(err)
	}
	objective, err := ParseObjective(DefaultObjective)
	if err != nil {
		b.Fatal(err)
	}
	p := Problem{Cases: []Case{conversation(b)}, Space: space, Objective: objective}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Search(b.Context(), p, Settings{Workers: 1}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N*space.Len())/b.Elapsed().Seconds(), "points/s")
}
