package reports

import (
	"fmt"
	"strconv"
)

// affinityCatastrophe finds runs that pile the work on few replicas and pay for it.
func affinityCatastrophe(c *Comparison) []string {
	var out []string
	limit := max(3, 0.6*float64(c.Config.Replicas))
	for i := range c.Runs {
		r, b := &c.Runs[i], c.base()
		if r == b || !known(r.Imbalance, r.TTFT.Mean, b.TTFT.Mean) {
			continue
		}
		if r.Imbalance > limit && r.TTFT.Mean > 2*b.TTFT.Mean {
			out = append(out, catastrophe(c, r))
		}
	}
	return out
}

func catastrophe(c *Comparison, r *Run) string {
	where := "too few replicas"
	if r.Imbalance > 0.9*float64(c.Config.Replicas) {
		where = "one replica"
	}
	text := fmt.Sprintf("%s sends nearly all work to %s (imbalance %s of %d): ", r.Policy, where,
		strconv.FormatFloat(r.Imbalance, 'f', 1, 64), c.Config.Replicas)
	if known(r.HitRatio) && highestHits(c, r) {
		text += fmt.Sprintf("its hit ratio of %s is the best here and ", ratio(r.HitRatio))
	}
	text += fmt.Sprintf("its mean TTFT is %s that of %s", times(r.TTFT.Mean, c.base().TTFT.Mean), c.base().Policy)
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
		verdict = "makes no difference"
	case with.TTFT.Mean > without.TTFT.Mean:
		verdict = "does not pay"
	}
	return fmt.Sprintf("affinity (aff=%s) %s: mean TTFT %s of %s%s; hit ratio %s%s", p.bv, verdict,
		against(with.TTFT.Mean, without.TTFT.Mean), without.Policy, inWords(without.TTFT.Mean, with.TTFT.Mean),
		moves(without.HitRatio, with.HitRatio), p.atLeast())
}

// inWords prints a difference in brackets, nothing if it is noise: " (127 times less)".
func inWords(from, to float64) string {
	switch d := differ(from, to); {
	case d == "":
		return ""
	case to < from/2:
		return fmt.Sprintf(" (%s less)", times(from, to))
	default:
		return " (" + d + ")"
	}
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
		return "filtering on KV room (fit=spill) makes no difference to the mean TTFT: " + numbers
	case on.TTFT.Mean < off.TTFT.Mean:
		return "filtering on KV room (fit=spill) saves: " + numbers
	case on.HitRatio < off.HitRatio:
		return "filtering on KV room (fit=spill) costs: " + numbers + ": each spill evicts somebody else's prompt" + p.atLeast()
	}
	return "filtering on KV room (fit=spill) costs: " + numbers + p.atLeast()
}
