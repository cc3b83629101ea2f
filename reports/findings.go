package reports

import (
	"fmt"
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
const noise = 0.01

// against prints two times in one unit: "1.20 s against 2.90 s".
func against(a, b float64) string { return both(a, b, " against ") }

// shift prints how a time moved: "2.90 s -> 1.20 s".
func shift(a, b float64) string { return both(a, b, " -> ") }

func both(a, b float64, between string) string {
	u := unitFor(a, b)
	return u.cell(a) + " " + u.name + between + u.cell(b) + " " + u.name
}

// times prints how often b goes into a: "2.4 times".
func times(a, b float64) string { return significant(a/b) + " times" }

// moves prints how a ratio moved: "0.11 -> 0.36".
func moves(a, b float64) string { return ratio(a) + " -> " + ratio(b) }

// join lists names: "a, b and c".
func join(names []string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
}

// differ says by how much b's mean TTFT is better or worse than a's, "" if the difference is noise.
func differ(a, b float64) string {
	switch d := b/a - 1; {
	case math.Abs(d) < noise:
		return ""
	case d < 0:
		return fmt.Sprintf("%.*f %% less", decimals(d), -100*d)
	case d < 1:
		return fmt.Sprintf("%.0f %% more", 100*d)
	}
	return times(b, a)
}
