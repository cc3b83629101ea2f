package policies_test

import (
	"slices"
	"testing"

	"github.com/seed-2cee110a/triage/policies"
)

// serve picks and dispatches a request of a model and returns the replica's name.
func serve(p *policies.RoundRobin, v *policies.View, model policies.ID) string {
	r := &policies.Request{Model: model, PromptTokens: 1}
	var d policies.Decision
	p.Pick(r, v, &d)
	p.Pick(r, v, &d) // a what-if moves nothing
	p.Dispatched(r, v, &d)
	return v.Replicas[d.Replica].Name
}

// Twelve replicas take turns in the order of their numbers, whatever their order in the view; a cordoned one is
// passed over.
func TestRoundRobinOrder(t *testing.T) {
	_, v := cluster(12)
	slices.Reverse(v.Replicas)
	v.Replicas[11-3].Cordoned = true // r3
	var p policies.RoundRobin
	var got []string
	for range 12 {
		got = append(got, serve(&p, v, 1))
	}
	want := []string{"r0", "r1", "r2", "r4", "r5", "r6", "r7", "r8", "r9", "r10", "r11", "r0"}
	if !slices.Equal(got, want) {
		t.Errorf("turns %v, want %v", got, want)
	}
}

// Requests for r2, the only one with model 2, do not send every request for model 1 to r0.
func TestRoundRobinPerModel(t *testing.T) {
	_, v := cluster(3)
	v.Replicas[2].Model = 2
	var p policies.RoundRobin
	var got []string
	for range 4 {
		got = append(got, serve(&p, v, 1))
		serve(&p, v, 2)
	}
	if want := []string{"r0", "r1", "r0", "r1"}; !slices.Equal(got, want) {
		t.Errorf("turns of model 1 %v, want %v", got, want)
	}
}
