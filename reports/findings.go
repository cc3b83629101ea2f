package reports

import (
	"math"
	"strings"
)

// Finding is something that the numbers say, in words. ID is stable and names the rule.
type Finding struct {
	ID       string
	Text     string
	Policy   string    // the run that it is about; "" if it is about several
	Evidence *Evidence // nil: the text has it all
}

// Evidence is what a finding rests on.
type Evidence struct {
	Window   *span // seconds since the run began; nil is the whole run
	Replicas []string
	Tenants  []string
	Numbers  map[string]float64 // by name, with the unit in it
}

// rule reads a comparison and says what it finds; nothing without data.
type rule struct {
	id   string
	find func(c *Comparison) []Finding
}

// rules in the order in which findings are shown.
var rules = []rule{
	{"best", words(best)},
	{"affinity-catastrophe", words(affinityCatastrophe)},
	{"affinity-pays", words(affinityPays)},
	{"spill-price", words(spillPrice)},
	{"stale-signals", words(staleSignals)},
	{"signals-cost", signalsCost},
	{"picker-or-stale", each(pickerOrStale)},
	{"capacity", each(capacity)},
	{"tenant-starved", each(tenantStarved)},
	{"hot-replica", each(hotReplica)},
	{"warm-another", each(warmAnother)},
	{"belief-off", each(beliefOff)},
	{"unknown-identity", words(unknownIdentity)},
	{"rejections", words(rejections)},
	{"preemptions", words(preemptions)},
}

func findings(c *Comparison) []Finding {
	var out []Finding
	for _, r := range rules {
		for _, f := range r.find(c) {
			f.ID = r.id
			out = append(out, f)
		}
	}
	return out
}

// words makes a rule of one that has all in its text.
func words(find func(c *Comparison) []string) func(c *Comparison) []Finding {
	return func(c *Comparison) (out []Finding) {
		for _, text := range find(c) {
			out = append(out, Finding{Text: text})
		}
		return out
	}
}

// each makes a rule of one that looks at one run and what it was played on; nil is nothing.
func each(find func(c *Comparison, r *Run) *Finding) func(c *Comparison) []Finding {
	return func(c *Comparison) (out []Finding) {
		for i := range c.Runs {
			if f := find(c, &c.Runs[i]); f != nil {
				f.Policy = c.Runs[i].Policy
				f.Text = f.Policy + ": " + f.Text
				out = append(out, *f)
			}
		}
		return out
	}
}

// noise is the relative difference below which two means are called equal.
const noise = 0.02

// against prints two times in one unit: "1.20 s against 2.90 s".
func against(a, b float64) string { return both(a, b, " against ") }

// shift prints how a time moved: "2.90 s -> 1.20 s".
func shift(a, b float64) string { return both(a, b, " -> ") }

func both(a, b float64, between string) string {
	u := unitFor(a, b)
	return u.cell(a) + " " + u.name + between + u.cell(b) + " " + u.name
}

// moves prints how a ratio moved: "0.11 -> 0.36".
func moves(a, b float64) string { return ratio(a) + " -> " + ratio(b) }

// join lists names: "a, b and c".
func join(names []string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
}

// differ prints b's change against a, "" if it is noise.
func differ(a, b float64) string {
	d := b/a - 1
	if math.Abs(d) < noise {
		return ""
	}
	return change(d)
}
