package reports

import (
	"fmt"
	"math"
)

// best says which policy wins on mean and p90 TTFT, by how much, and where the gain comes from.
func best(c *Comparison) []string {
	if len(c.Runs) < 2 || !known(c.base().TTFT.Mean) {
		return nil
	}
	w := winner(c, func(r *Run) float64 { return r.TTFT.Mean })
	p := winner(c, func(r *Run) float64 { return r.TTFT.P90 })
	if w == nil || p == nil {
		return nil
	}
	out := []string{verdict(c, w)}
	if p != w && p.TTFT.P90 < float64(w.TTFT.P90*(1-noise)) {
		out = append(out, fmt.Sprintf("%s has the lowest p90 TTFT: %s of %s", p.Policy,
			against(p.TTFT.P90, w.TTFT.P90), w.Policy))
	}
	return append(out, fewer(c)...)
}

// verdict compares the winner with the baseline, or with the next if it is the baseline.
func verdict(c *Comparison, w *Run) string {
	b := c.base()
	if w == b {
		return winsAsBaseline(c, w)
	}
	d := differ(b.TTFT.Mean, w.TTFT.Mean)
	if d == "" {
		return fmt.Sprintf("no policy has a mean TTFT clearly below that of %s: the lowest is %s (%s)", b.Policy,
			against(w.TTFT.Mean, b.TTFT.Mean), w.Policy)
	}
	return fmt.Sprintf("%s has the lowest mean TTFT: %s of %s (%s); p90 %s%s", w.Policy,
		against(w.TTFT.Mean, b.TTFT.Mean), b.Policy, d, against(w.TTFT.P90, b.TTFT.P90), source(b, w))
}

func winsAsBaseline(c *Comparison, w *Run) string {
	next := winner(c, func(r *Run) float64 {
		if r == w {
			return math.Inf(1)
		}
		return r.TTFT.Mean
	})
	if next == nil || next == w {
		return fmt.Sprintf("%s has the lowest mean TTFT: %s", w.Policy, duration(w.TTFT.Mean))
	}
	return fmt.Sprintf("%s, the baseline, has the lowest mean TTFT: %s of %s, the next best", w.Policy,
		against(w.TTFT.Mean, next.TTFT.Mean), next.Policy)
}

// source says what moved together with the gain.
func source(b, w *Run) string {
	var parts []string
	if known(b.HitRatio, w.HitRatio) && ratio(b.HitRatio) != ratio(w.HitRatio) {
		parts = append(parts, "hit ratio "+moves(b.HitRatio, w.HitRatio))
	}
	if known(b.Imbalance, w.Imbalance) && ratio(b.Imbalance) != ratio(w.Imbalance) {
		parts = append(parts, "imbalance "+moves(b.Imbalance, w.Imbalance))
	}
	if len(parts) == 0 {
		return ""
	}
	return "; " + join(parts)
}

// winner returns the run with the lowest value among those that completed nearly as much as any; nil if none is known.
func winner(c *Comparison, value func(*Run) float64) *Run {
	var w *Run
	for i := range c.Runs {
		r := &c.Runs[i]
		if !known(value(r)) || !completesEnough(c, r) {
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
	return 100*r.Completed >= 99*most
}

// fewer names the runs left out of the verdict.
func fewer(c *Comparison) []string {
	var out []string
	for i := range c.Runs {
		if r := &c.Runs[i]; !completesEnough(c, r) {
			out = append(out, fmt.Sprintf("%s completed only %s of %s requests, fewer than others: its times are over an easier set and do not compare",
				r.Policy, group(int64(r.Completed)), group(int64(r.Requests))))
		}
	}
	return out
}
