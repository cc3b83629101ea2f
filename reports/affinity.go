package reports

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/seed-2cee110a/triage/sim"
)

// affinityCatastrophe finds runs that pile the work on few replicas and pay for it. A run that is alone has nobody to
// say that it pays, so it must use next to one replica only, over enough requests that this is no accident.
func affinityCatastrophe(c *Comparison) []string {
	var out []string
	limit := max(3, 0.6*float64(c.widest()))
	for i := range c.Runs {
		r, other := &c.Runs[i], c.rival(i)
		if !known(r.Imbalance, r.TTFT.Mean) {
			continue
		}
		switch {
		case other == nil && piled(c, r) && r.Completed >= 4*c.widest():
			out = append(out, catastrophe(c, r, nil))
		case other != nil && r.Imbalance > limit && r.TTFT.Mean > 2*other.TTFT.Mean:
			out = append(out, catastrophe(c, r, other))
		}
	}
	return out
}

// rival is the run to measure run i by: the baseline, for the baseline itself the best of the others, nil if none
// compares.
func (c *Comparison) rival(i int) *Run {
	b := c.base()
	if i != c.Baseline && known(b.TTFT.Mean) && !easier(b, &c.Runs[i]) {
		return b
	}
	return winner(c, &c.Runs[i], meanTTFT)
}

// widest returns the replicas of the largest pool, which an imbalance cannot exceed.
func (c *Comparison) widest() int {
	if len(c.Config.Pools) == 0 {
		return c.Config.Replicas
	}
	return slices.MaxFunc(c.Config.Pools, func(a, b sim.Pool) int { return a.Replicas - b.Replicas }).Replicas
}

// piled says that next to all work of r is on one replica.
func piled(c *Comparison, r *Run) bool {
	n := float64(c.widest())
	return n > 1 && r.Imbalance > 0.9*n
}

// catastrophe describes r against another run, nil if it is alone.
func catastrophe(c *Comparison, r, other *Run) string {
	where := "too few replicas"
	if piled(c, r) {
		where = "one replica"
	}
	text := fmt.Sprintf("%s sends nearly all work to %s (imbalance %s of %d): ", r.Policy, where,
		strconv.FormatFloat(r.Imbalance, 'f', 1, 64), c.widest())
	if known(r.HitRatio) && highestHits(c, r) {
		text += fmt.Sprintf("its hit ratio of %s is the best here and ", ratio(r.HitRatio))
	}
	text += "its mean TTFT is " + duration(r.TTFT.Mean)
	if other != nil {
		text += fmt.Sprintf(", %s that of %s", times(r.TTFT.Mean/other.TTFT.Mean), other.Policy)
	}
	if r.Spec.Name != "score" {
		return text
	}
	return text + fmt.Sprintf("; affinity needs a load term (here q=%s, load=%s)", r.Spec.Knob("q"), r.Spec.Knob("load"))
}

func highestHits(c *Comparison, r *Run) bool {
	for i := range c.Runs {
		if other := &c.Runs[i]; other != r && other.HitRatio >= r.HitRatio {
			return false
		}
	}
	return len(c.Runs) > 1
}

// affinityPays compares runs with and without the affinity term.
func affinityPays(c *Comparison) []string {
	if c.Trace.Unidentified == c.Trace.Requests {
		return nil
	}
	var out []string
	for _, p := range pairs(c, "aff") {
		if zero(p.bv) {
			p = p.swap()
		}
		if !zero(p.av) || zero(p.bv) {
			continue
		}
		if p.lopsided() {
			out = append(out, p.incomparable("aff"))
		} else {
			out = append(out, worthOfAffinity(p))
		}
	}
	return out
}

func worthOfAffinity(p pair) string {
	without, with := p.a, p.b
	verdict := "pays"
	switch {
	case differ(without.TTFT.Mean, with.TTFT.Mean) == "":
		verdict = "makes no clear difference"
	case with.TTFT.Mean > without.TTFT.Mean:
		verdict = "does not pay"
	}
	return fmt.Sprintf("affinity (aff=%s) %s: mean TTFT %s of %s%s; hit ratio %s%s", p.bv, verdict,
		against(with.TTFT.Mean, without.TTFT.Mean), without.Policy, inBrackets(without.TTFT.Mean, with.TTFT.Mean),
		moves(without.HitRatio, with.HitRatio), p.atLeast())
}

// inBrackets prints a difference, nothing if it is noise: " (-58 %)".
func inBrackets(from, to float64) string {
	if d := differ(from, to); d != "" {
		return " (" + d + ")"
	}
	return ""
}

func zero(knob string) bool {
	v, err := strconv.ParseFloat(knob, 64)
	return err == nil && v == 0
}

// spillPrice says what the filter on KV room costs or saves.
func spillPrice(c *Comparison) []string {
	var out []string
	for _, p := range pairs(c, "fit") {
		if p.av == "spill" {
			p = p.swap()
		}
		if p.av != "off" || p.bv != "spill" {
			continue
		}
		if p.lopsided() {
			out = append(out, p.incomparable("fit"))
		} else {
			out = append(out, priceOfSpill(p))
		}
	}
	return out
}

func priceOfSpill(p pair) string {
	off, on := p.a, p.b
	numbers := fmt.Sprintf("hit ratio %s, mean TTFT %s (%s -> %s)", moves(off.HitRatio, on.HitRatio),
		shift(off.TTFT.Mean, on.TTFT.Mean), off.Policy, on.Policy)
	d := differ(off.TTFT.Mean, on.TTFT.Mean)
	switch {
	case d == "":
		return "filtering on KV room (fit=spill) makes no clear difference to the mean TTFT: " + numbers
	case on.TTFT.Mean < off.TTFT.Mean:
		return "filtering on KV room (fit=spill) saves: " + numbers
	case on.HitRatio < off.HitRatio:
		return "filtering on KV room (fit=spill) costs: " + numbers + ": each spill evicts somebody else's prompt" + p.atLeast()
	}
	return "filtering on KV room (fit=spill) costs: " + numbers + p.atLeast()
}
