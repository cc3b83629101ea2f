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
	c, err := Compare("triage replay made.parquet", resultsOf(t, cfg, tr, policy...)...)
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

// resultsOf replays a trace through policies.
func resultsOf(t *testing.T, cfg sim.Config, tr *traces.Trace, policy ...string) []*sim.Result {
	t.Helper()
	var out []*sim.Result
	for _, text := range policy {
		spec, err := policies.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		r, err := sim.Run(cfg, spec, tr)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, r)
	}
	return out
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

// maker makes a trace by hand, in blocks of 100 tokens.
type maker struct {
	*testing.T
	b    *traces.Builder
	line int64
	next int64 // a block of nobody else
}

func newMaker(t *testing.T) *maker {
	return &maker{T: t, next: 1 << 20,
		b: traces.NewBuilder(traces.Meta{SourceFormat: "hand", BlockSize: 100, BlockTail: traces.TailFloor, IdentityKind: "chain"})}
}

// add adds a request whose prompt is a prefix of so many tokens that all with one have, and private ones.
func (m *maker) add(atMs int, tenant string, shared, private, output int) {
	m.Helper()
	var blocks []int64
	for i := range int64(shared / 100) {
		blocks = append(blocks, i+1)
	}
	for range private / 100 {
		blocks, m.next = append(blocks, m.next), m.next+1
	}
	m.line++
	r := traces.NewRecord()
	r.Line, r.ArrivalNs, r.Tenant, r.PromptTokens, r.OutputTokens, r.Blocks = m.line, int64(atMs)*1e6, tenant, int32(shared+private), int32(output), blocks
	if err := m.b.Add(r); err != nil {
		m.Fatal(err)
	}
}

func (m *maker) trace() *traces.Trace {
	m.Helper()
	tr, err := m.b.Build()
	if err != nil {
		m.Fatal(err)
	}
	tr.Name = "made"
	return tr
}

// hotPrefix makes a trace in which requests share a prefix, every fourth time two at once, and private prompts come between,
// which push what is not in use out of caches.
func hotPrefix(t *testing.T) *traces.Trace {
	m := newMaker(t)
	for k := range 60 {
		for i := range choose(k%4 == 3, 2, 1) {
			m.add(2000*k+20*i, "hot", 30_000, 200, 60)
		}
		for i := range 4 {
			m.add(2000*k+300+400*i, "private", 0, 10_000, 30)
		}
	}
	return m.trace()
}

// bigAndSmall makes a trace of two tenants for a minute: one with prompts of 20,000 tokens every so many milliseconds, one
// with prompts of 200 twice a second.
func bigAndSmall(t *testing.T, every int) *traces.Trace {
	m := newMaker(t)
	for at := 0; at < 60_000; at += every {
		m.add(at, "big", 0, 20_000, 50)
	}
	for at := 250; at < 60_000; at += 500 {
		m.add(at, "small", 0, 200, 20)
	}
	return m.trace()
}

// crowdOf makes a trace in which so many requests that share a prefix come at about the same time, every ten seconds.
func crowdOf(t *testing.T, size int) *traces.Trace {
	m := newMaker(t)
	for k := range 10 {
		for i := range size {
			m.add(10_000*k+50*i, "hot", 30_000, 8_000, 300)
		}
	}
	return m.trace()
}
