package reports

import (
	"testing"

	"github.com/seed-2cee110a/triage/policies"
	"github.com/seed-2cee110a/triage/sim"
	"github.com/seed-2cee110a/triage/traces"
)

// diagnose replays a trace and what the findings ask for beside it, as the command does.
func diagnose(t *testing.T, cfg sim.Config, tr *traces.Trace, perfect bool, policy ...string) *Comparison {
	t.Helper()
	var results []*sim.Result
	for _, text := range policy {
		spec, err := policies.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		r, err := sim.Run(cfg, spec, tr)
		if err != nil {
			t.Fatal(err)
		}
		results = append(results, r)
	}
	c, err := Compare("triage replay made.parquet", results...)
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range c.Asides(perfect) {
		r, err := sim.Run(a.Config, a.Spec, tr)
		if err != nil {
			t.Fatal(err)
		}
		c.Answer(a, r)
	}
	c.Conclude()
	return c
}

// madeUp makes the first requests of a preset, changed.
func madeUp(t *testing.T, preset string, requests int, change func(*traces.Params)) *traces.Trace {
	t.Helper()
	p, err := traces.PresetByName(preset)
	if err != nil {
		t.Fatal(err)
	}
	p.Params.Requests = requests
	if change != nil {
		change(&p.Params)
	}
	tr, err := traces.Generate(p.Params)
	if err != nil {
		t.Fatal(err)
	}
	return tr
}
