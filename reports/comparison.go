package reports

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/seed-2cee110a/triage/policies"
	"github.com/seed-2cee110a/triage/sim"
	"github.com/seed-2cee110a/triage/sim/trust"
	"github.com/seed-2cee110a/triage/traces"
)

// Comparison is what every report prints: runs of one trace on one cluster, side by side.
type Comparison struct {
	Command  string      // repeats the replay when policies are appended, such as "triage replay conv.jsonl --tp 4"
	Policies string      // the policies to append, such as "-p round-robin -p 'mine=score:q=1'"; "" is not known
	Advice   [][2]string // commands to run next and what each shows; nil: those that answer what the comparison leaves open
	Width    int         // columns that text for a terminal may take; 0 is 80
	Trace    TraceFacts
	Config   sim.Config
	Signals  sim.SignalAge // of the first run whose policy reads signals; NaN if none does
	Cost     sim.CostNote
	Trust    trust.Statement // the zero value says nothing
	Runs     []Run
	Baseline int // the run that gains refer to: the first round robin, else the first run
	Findings []Finding
	Gates    []GateResult // none: no gates were asked for
}

// Run is one run of a comparison.
type Run struct {
	sim.Summary
	Spec     policies.Spec
	Age      sim.SignalAge // NaN for a policy that reads no signals
	Warnings []string

	result  *sim.Result // nil for a run that is known by its numbers alone
	course  *course     // nil if nothing was held or refused
	besides []beside
}

// TraceFacts is what the header says of the trace.
type TraceFacts struct {
	Name         string
	Digest       string
	Requests     int
	SpanS        float64 // from the first arrival to the last, as logged
	Tied         int     // requests that arrive at the same instant as another
	Unidentified int     // requests without prefix identity
	Reused       int     // requests whose answers the next turn can hit
}

// Compare digests the results of one or more runs. They must be of the same trace.
func Compare(command string, results ...*sim.Result) (*Comparison, error) {
	if len(results) == 0 {
		return nil, errors.New("no results to report, want at least one")
	}
	first := results[0]
	c := &Comparison{Command: command, Config: first.Config, Cost: first.Cost, Trace: traceFacts(first.Trace)}
	c.Trace.Reused = first.Reused
	for _, r := range results {
		if r.Trace.Digest != first.Trace.Digest {
			return nil, fmt.Errorf("%s replayed trace %s and %s replayed %s, want one trace",
				first.Policy, first.Trace.Digest, r.Policy, r.Trace.Digest)
		}
		run := Run{Summary: r.Summary(), Spec: r.Spec, Age: r.Signals, Warnings: r.Warnings, result: r}
		if run.Held+run.Rejected > 0 {
			run.course = newCourse(r)
		}
		if !readsSignals(r.Spec) {
			run.Age = noAge()
		}
		if c.Trace.Unidentified == c.Trace.Requests {
			run.forgetHits()
		}
		c.Runs = append(c.Runs, run)
	}
	c.Trust = trustOf(results)
	c.conclude()
	return c, nil
}

// conclude fills what follows from the runs.
func (c *Comparison) conclude() {
	c.Baseline = baseline(c.Runs)
	c.Signals = noAge()
	for _, r := range c.Runs {
		if readsSignals(r.Spec) {
			c.Signals = r.Age
			break
		}
	}
	c.Findings = findings(c)
}

// readsSignals is false for the policies that go by the router's own book alone.
func readsSignals(s policies.Spec) bool { return s.Name == "score" }

func noAge() sim.SignalAge {
	nan := math.NaN()
	return sim.SignalAge{Mean: nan, P50: nan, P95: nan, Max: nan}
}

// stale says that the router saw numbers that may be old.
func (c *Comparison) stale() bool { return late(c.Config) }

// late says that signals are not live.
func late(cfg sim.Config) bool { return cfg.Signals.Scrape > 0 || cfg.Signals.Push > 0 }

// adapters says that they play a part.
func (c *Comparison) adapters() bool { return c.Runs[0].Adapters }

// forgetHits makes hit ratios unknown: a trace without identity hits nothing, which does not mean that its requests
// share nothing.
func (r *Run) forgetHits() {
	r.HitRatio, r.Believed = math.NaN(), math.NaN()
	r.Replicas = slices.Clone(r.Replicas)
	for i := range r.Replicas {
		r.Replicas[i].HitRatio = math.NaN()
	}
}

func baseline(runs []Run) int {
	for i, r := range runs {
		if r.Spec.Name == "round-robin" {
			return i
		}
	}
	return 0
}

func (c *Comparison) base() *Run { return &c.Runs[c.Baseline] }

// Gain is run i's mean TTFT over the baseline's, less 1: -0.5 is half of it.
func (c *Comparison) Gain(i int) float64 { return c.Runs[i].TTFT.Mean/c.base().TTFT.Mean - 1 }

// Warning is a doubt about some of the runs, or about all of them.
type Warning struct {
	Text     string
	Policies []string // nil: all
}

// Warnings returns every warning once, in order of first appearance.
func (c *Comparison) Warnings() []Warning {
	var out []Warning
	at := map[string]int{}
	for _, r := range c.Runs {
		for _, text := range r.Warnings {
			i, seen := at[text]
			if !seen {
				i = len(out)
				at[text], out = i, append(out, Warning{Text: text})
			}
			out[i].Policies = append(out[i].Policies, r.Policy)
		}
	}
	for i := range out {
		if len(out[i].Policies) == len(c.Runs) {
			out[i].Policies = nil
		}
	}
	return out
}

func traceFacts(t *traces.Trace) TraceFacts {
	f := TraceFacts{Name: t.Name, Digest: t.Digest, Requests: t.Len(), Tied: tied(t.ArrivalNs)}
	if n := t.Len(); n > 0 {
		f.SpanS = float64(t.ArrivalNs[n-1]-t.ArrivalNs[0]) / 1e9
	}
	for row := range t.Len() {
		if !t.Identified(row) {
			f.Unidentified++
		}
	}
	return f
}

// tied counts the arrivals, sorted, that are equal to a neighbour.
func tied(arrivals []int64) int {
	n := 0
	for i, a := range arrivals {
		if i > 0 && arrivals[i-1] == a || i+1 < len(arrivals) && arrivals[i+1] == a {
			n++
		}
	}
	return n
}
