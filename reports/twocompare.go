package reports

import (
	"fmt"
	"math"
	"strings"

	"github.com/seed-2cee110a/triage/sim"
)

// Two are two results side by side, policy by policy.
type Two struct {
	A, B   *Kept
	Notes  []string // what differs besides the numbers, and doubts
	Rows   []TwoRow
	OnlyA  []string // policies that only one of them has
	OnlyB  []string
	Width  int // columns of the table; 0 is 80
	Paired bool
}

// TwoRow is a metric of a policy in both results.
type TwoRow struct {
	Policy, Metric string
	Unit           string // "s", "ms" or ""
	A, B           float64
	Low, High      float64 // 95 % interval of the paired difference of windows, relative but of hit_ratio; NaN without one
	Word           string  // "better", "worse", "~" where the windows show no difference, "" without an interval
}

// Delta is the relative difference of B to A.
func (r TwoRow) Delta() float64 {
	if r.A == r.B {
		return 0
	}
	return r.B/r.A - 1
}

// twoMetrics are the rows of a policy.
var twoMetrics = []struct {
	name, unit string
	get        func(sim.Summary) float64
}{
	{"ttft.mean", "s", func(s sim.Summary) float64 { return s.TTFT.Mean }},
	{"ttft.p50", "s", func(s sim.Summary) float64 { return s.TTFT.P50 }},
	{"ttft.p90", "s", func(s sim.Summary) float64 { return s.TTFT.P90 }},
	{"ttft.p99", "s", func(s sim.Summary) float64 { return s.TTFT.P99 }},
	{"tpot.mean", "s", func(s sim.Summary) float64 { return s.TPOT.Mean }},
	{"e2e.mean", "s", func(s sim.Summary) float64 { return s.E2E.Mean }},
	{"e2e.p90", "s", func(s sim.Summary) float64 { return s.E2E.P90 }},
	{"hit_ratio", "", func(s sim.Summary) float64 { return s.HitRatio }},
	{"imbalance", "", func(s sim.Summary) float64 { return s.Imbalance }},
	{"rejected", "", func(s sim.Summary) float64 { return float64(s.Rejected) }},
	{"preemptions", "", func(s sim.Summary) float64 { return float64(s.Preemptions) }},
	{"output_tokens_per_s", "", func(s sim.Summary) float64 { return s.OutputPerS }},
}

// CompareTwo compares the policies that both results have.
func CompareTwo(a, b *Kept) (*Two, error) {
	t := &Two{A: a, B: b, Notes: differing(a, b)}
	rows := map[[2]string][]outcome{}
	doubts := map[string]bool{}
	for _, x := range a.Runs {
		y, err := b.run(x.Policy)
		if err != nil {
			t.OnlyA = append(t.OnlyA, x.Policy)
			continue
		}
		for _, m := range twoMetrics {
			row, doubt, err := twoRow(rows, a, b, x, y, m.name, m.get)
			if err != nil {
				return nil, err
			}
			row.Unit = m.unit
			t.Rows = append(t.Rows, row)
			t.Paired = t.Paired || row.Word != ""
			if doubt != "" && !doubts[doubt] {
				doubts[doubt] = true
				t.Notes = append(t.Notes, "no intervals: "+doubt)
			}
		}
	}
	for _, y := range b.Runs {
		if _, err := a.run(y.Policy); err != nil {
			t.OnlyB = append(t.OnlyB, y.Policy)
		}
	}
	if len(t.Rows) == 0 {
		return nil, fmt.Errorf("%s and %s have no policy in common (%s; %s)", a.Name, b.Name, strings.Join(a.Labels(), ", "), strings.Join(b.Labels(), ", "))
	}
	return t, nil
}

func twoRow(rows map[[2]string][]outcome, a, b *Kept, x, y sim.Summary, metric string, get func(sim.Summary) float64) (TwoRow, string, error) {
	r := TwoRow{Policy: x.Policy, Metric: metric, A: get(x), B: get(y), Low: math.NaN(), High: math.NaN()}
	if _, err := pairedMetric(metric); err != nil || !known(r.A, r.B) {
		return r, "", nil
	}
	p, err := pairKept(rows, metric, x.Policy, a, b)
	if err != nil || p.doubt != "" {
		return r, p.doubt, err
	}
	r.Low, r.High = p.low, p.high
	switch {
	case p.low > 0:
		r.Word = "worse"
	case p.high < 0:
		r.Word = "better"
	default:
		r.Word = "~"
	}
	if metric == "hit_ratio" { // a pairing says how much worse; a delta how much more
		r.Low, r.High = 0-p.high, 0-p.low
	}
	return r, "", nil
}
