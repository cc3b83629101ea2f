package reports

import (
	"fmt"

	"github.com/seed-2cee110a/triage/policies"
)

// pair is two runs of the same policy that differ in one knob only.
type pair struct {
	a, b   *Run
	av, bv string // the knob's values
}

// pairs returns the score runs that differ in the knob alone.
func pairs(c *Comparison, knob string) []pair {
	var out []pair
	for i := range c.Runs {
		for j := i + 1; j < len(c.Runs); j++ {
			a, b := &c.Runs[i], &c.Runs[j]
			if onlyDiffer(a, b, knob) && known(a.TTFT.Mean, b.TTFT.Mean) {
				out = append(out, pair{a, b, a.Spec.Knob(knob), b.Spec.Knob(knob)})
			}
		}
	}
	return out
}

// swap returns the pair the other way round.
func (p pair) swap() pair { return pair{p.b, p.a, p.bv, p.av} }

// lopsided is true if the run that completed clearly less is also the faster one: its times are over an easier set.
// Were it the slower one all the same, the difference would only be larger over equal sets.
func (p pair) lopsided() bool {
	few, many := p.a, p.b
	if few.Completed > many.Completed {
		few, many = many, few
	}
	return p.uneven() && few.TTFT.Mean <= many.TTFT.Mean
}

// uneven is true if one run completed over 1 % less than the other.
func (p pair) uneven() bool { return uneven(p.a.Completed, p.b.Completed) }

// atLeast says that a difference is a lower bound, where it is one.
func (p pair) atLeast() string {
	if !p.uneven() {
		return ""
	}
	few := p.a
	if p.b.Completed < p.a.Completed {
		few = p.b
	}
	return fmt.Sprintf("; at least, since %s completed only %s of %s requests", few.Policy, group(int64(few.Completed)), group(int64(few.Requests)))
}

// incomparable says so.
func (p pair) incomparable(knob string) string {
	return fmt.Sprintf("%s=%s and %s=%s do not compare by time, as they completed %s and %s of %s requests (%s, %s); hit ratio %s",
		knob, p.av, knob, p.bv, group(int64(p.a.Completed)), group(int64(p.b.Completed)), group(int64(p.a.Requests)),
		p.a.Policy, p.b.Policy, moves(p.a.HitRatio, p.b.HitRatio))
}

func onlyDiffer(a, b *Run, knob string) bool {
	if a.Spec.Name != "score" || b.Spec.Name != "score" {
		return false
	}
	diff := policies.Diff(a.Spec, b.Spec)
	return len(diff) == 1 && diff[0] == knob
}
