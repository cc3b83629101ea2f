package reports

import (
	"fmt"
	"math"
)

// best says which policy wins on mean and p90 TTFT, by how much, and what moved with it.
func best(c *Comparison) []string {
	if len(c.Runs) < 2 || !known(c.base().TTFT.Mean) {
		return nil
	}
	w := winner(c, nil, meanTTFT)
	p := winner(c, nil, func(r *Run) float64 { return r.TTFT.P90 })
	if w == nil || p == nil {
		return nil
	}
	next := winner(c, w, meanTTFT)
	if next == nil || !completesEnough(c, c.base()) {
		return []string{among(c, w, next)}
	}
	out := []string{verdict(c, w, next)}
	if p != w && p.TTFT.P90 < float64(w.TTFT.P90*(1-noise)) {
		out = append(out, fmt.Sprintf("%s has the lowest p90 TTFT: %s of %s", p.Policy,
			against(p.TTFT.P90, w.TTFT.P90), w.Policy))
	}
	if left := leftOut(c); left != "" {
		out = append(out, left)
	}
	return out
}

func meanTTFT(r *Run) float64 { return r.TTFT.Mean }

// among compares the winner with the next best, nil if there is none, where the baseline does not compare.
func among(c *Comparison, w, next *Run) string {
	served := "served the most requests"
	if 100*w.Completed >= 99*w.Requests {
		served = "served (nearly) all requests"
	}
	text := fmt.Sprintf("%s is the only policy that %s: mean TTFT %s", w.Policy, served, duration(w.TTFT.Mean))
	if next != nil {
		text = fmt.Sprintf("of the policies that %s %s", served, lead(w, next))
	}
	if left := leftOut(c); left != "" {
		text += "; " + left
	}
	return text
}

// lead says by how much the winner beats the next best.
func lead(w, next *Run) string {
	d := differ(next.TTFT.Mean, w.TTFT.Mean)
	if d == "" {
		return fmt.Sprintf("none has a clearly lower mean TTFT: %s (%s, %s)", against(w.TTFT.Mean, next.TTFT.Mean), w.Policy, next.Policy)
	}
	return fmt.Sprintf("%s has the lowest mean TTFT: %s of %s (%s)", w.Policy, against(w.TTFT.Mean, next.TTFT.Mean), next.Policy, d)
}

// verdict compares the winner with the baseline, or with the next best if it is the baseline.
func verdict(c *Comparison, w, next *Run) string {
	b := c.base()
	if w == b {
		b = next
	}
	d := differ(b.TTFT.Mean, w.TTFT.Mean)
	switch {
	case d == "":
		return fmt.Sprintf("no clear difference in mean TTFT: the lowest is %s (%s), against %s of %s", duration(w.TTFT.Mean), w.Policy,
			duration(b.TTFT.Mean), b.Policy)
	case w == c.base():
		return fmt.Sprintf("%s, the baseline, has the lowest mean TTFT: %s of %s, the next best (%s)", w.Policy, against(w.TTFT.Mean, b.TTFT.Mean), b.Policy, d)
	}
	return fmt.Sprintf("%s has the lowest mean TTFT: %s of %s (%s); p90 %s%s", w.Policy,
		against(w.TTFT.Mean, b.TTFT.Mean), b.Policy, d, against(w.TTFT.P90, b.TTFT.P90), source(b, w))
}

// evenly is the change of imbalance below which nothing is said of it.
const evenly = 0.05

// source says what moved together with the gain, and what it cost.
func source(b, w *Run) string {
	text, joint := "", "; meanwhile "
	if known(b.HitRatio, w.HitRatio) && ratio(b.HitRatio) != ratio(w.HitRatio) {
		text, joint = joint+"hit ratio "+moves(b.HitRatio, w.HitRatio), " and "
	}
	d := w.Imbalance - b.Imbalance
	switch {
	case !known(d) || math.Abs(d) < evenly:
		return text
	case d < 0:
		return text + joint + "imbalance " + moves(b.Imbalance, w.Imbalance)
	case text == "":
		return "; at the price of imbalance " + moves(b.Imbalance, w.Imbalance)
	}
	return text + ", at the price of imbalance " + moves(b.Imbalance, w.Imbalance)
}

// winner returns the run but one with the lowest value among those that completed nearly as much as any; nil if none
// is known.
func winner(c *Comparison, but *Run, value func(*Run) float64) *Run {
	var w *Run
	for i := range c.Runs {
		r := &c.Runs[i]
		if r == but || !known(value(r)) || !completesEnough(c, r) {
			continue
		}
		if w == nil || value(r) < value(w) {
			w = r
		}
	}
	return w
}

// completesEnough is false for a run that refused so much more than another that their times do not compare.
func completesEnough(c *Comparison, r *Run) bool {
	most := 0
	for _, other := range c.Runs {
		most = max(most, other.Completed)
	}
	return !uneven(r.Completed, most)
}

// uneven is true if one count of requests is over 1 % less than the other: times over them do not compare.
func uneven(a, b int) bool { return 100*min(a, b) < 99*max(a, b) }

// easier says that a's times are over clearly fewer requests than b's: that b is slower than a then says nothing.
func easier(a, b *Run) bool { return a.Completed < b.Completed && uneven(a.Completed, b.Completed) }

// leftOut names the runs that the verdict leaves out.
func leftOut(c *Comparison) string {
	text, plural := "", false
	for i := range c.Runs {
		r := &c.Runs[i]
		if completesEnough(c, r) {
			continue
		}
		if text != "" {
			text, plural = text+", ", true
		}
		text += fmt.Sprintf("%s refused %s of %s requests", r.Policy, group(int64(r.Rejected)), group(int64(r.Requests)))
	}
	switch {
	case text == "":
		return ""
	case plural:
		return text + ": their times are over an easier set and do not compare"
	}
	return text + " and does not compare: its times are over an easier set"
}
