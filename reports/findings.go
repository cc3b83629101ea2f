package reports

import (
	"math"
	"strings"
)

// Finding is something that the numbers say, in words. ID is stable and names the rule.
type Finding struct {
	ID   string
	Text string
}

// rule reads a comparison and says what it finds; nothing without data.
type rule struct {
	id   string
	find func(c *Comparison) []string
}

// rules in the order in which findings are shown.
var rules = []rule{
	{"best", best},
	{"affinity-catastrophe", affinityCatastrophe},
	{"affinity-pays", affinityPays},
	{"spill-price", spillPrice},
	{"stale-signals", staleSignals},
	{"unknown-identity", unknownIdentity},
	{"rejections", rejections},
}

func findings(c *Comparison) []Finding {
	var out []Finding
	for _, r := range rules {
		for _, text := range r.find(c) {
			out = append(out, Finding{r.id, text})
		}
	}
	return out
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
