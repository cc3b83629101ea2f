package reports

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// outcome is what a pairing needs of a row of outcomes. Times in seconds, NaN for what is not known.
type outcome struct {
	arrival, ttft, tpot, e2e float64
	prompt, hit              float64
	completed                bool
}

// pairing is a metric of two runs of one trace, window by window.
type pairing struct {
	metric   string
	doubt    string // why there is no interval, "" if there is one
	empty    int    // windows in which the metric has no value
	interval        // of how much worse the candidate is: 0.05 is 5 % longer, or 0.05 less of the hit ratio
}

// pairedMetrics are the metrics of windows.
var pairedMetrics = func() []string {
	out := []string{"hit_ratio"}
	for _, t := range []string{"ttft", "tpot", "e2e"} {
		for _, q := range []string{"mean", "p50", "p90", "p95", "p99"} {
			out = append(out, t+"."+q)
		}
	}
	return out
}()

// pairedMetric returns how to compute a metric of some rows, NaN over too few.
func pairedMetric(name string) (func([]outcome) float64, error) {
	if !slices.Contains(pairedMetrics, name) {
		near := ""
		if n := nearest(name, pairedMetrics); n != "" {
			near = fmt.Sprintf("; did you mean %q?", n)
		}
		return nil, fmt.Errorf("regression knows no metric %q (have %s%s)", name, strings.Join(pairedMetrics, ", "), near)
	}
	if name == "hit_ratio" {
		return hitOf, nil
	}
	times, statistic, _ := strings.Cut(name, ".")
	return func(rows []outcome) float64 {
		x := timesOf(rows, times)
		if len(x) < windowNeeds(statistic) {
			return math.NaN()
		}
		return statisticOf(x, statistic)
	}, nil
}

func hitOf(rows []outcome) float64 {
	prompt, hit := 0.0, 0.0
	for _, r := range rows {
		prompt, hit = prompt+r.prompt, hit+r.hit
	}
	return hit / prompt
}

func timesOf(rows []outcome, name string) []float64 {
	out := make([]float64, 0, len(rows))
	for _, r := range rows {
		v := r.ttft
		switch name {
		case "tpot":
			v = r.tpot
		case "e2e":
			v = r.e2e
		}
		if known(v) {
			out = append(out, v)
		}
	}
	return out
}

func statisticOf(x []float64, name string) float64 {
	if name == "mean" {
		sum := 0.0
		for _, v := range x {
			sum += v
		}
		return sum / float64(len(x))
	}
	return nearestRank(x, percents[name])
}

// dropped is the share of rows that only one run may have refused before the two are no longer compared.
const dropped = 0.01

// pairRuns compares a candidate with a baseline on the same rows, in order. Rows that either refused are left out.
func pairRuns(metric string, base, cand []outcome) (pairing, error) {
	p := pairing{metric: metric}
	of, err := pairedMetric(metric)
	if err != nil {
		return p, err
	}
	if len(base) != len(cand) {
		p.doubt = fmt.Sprintf("the runs have %d and %d requests, want the same", len(base), len(cand))
		return p, nil
	}
	if p.doubt = refusals(base, cand); p.doubt != "" {
		return p, nil
	}
	_, statistic, _ := strings.Cut(metric, ".")
	base, cand = completedByBoth(base, cand)
	diffs, empty := differences(metric, of, base, cand, windowNeeds(statistic))
	p.empty = empty
	if len(diffs) < windowLeast {
		p.doubt = fmt.Sprintf("too few windows: %d, want at least %d with at least %d values of %s each", len(diffs), windowLeast, windowNeeds(statistic), metric)
		return p, nil
	}
	p.conclude(studentInterval(diffs))
	return p, nil
}

// conclude takes an interval of differences over.
func (p *pairing) conclude(i interval) {
	if i.lag1 > entangled {
		p.doubt = fmt.Sprintf("the %d windows of %s do not tell: neighbours move together, with a lag-1 autocorrelation of %.3f, above %.1f", i.n, p.metric, i.lag1, entangled)
		return
	}
	if p.metric != "hit_ratio" {
		i.mean, i.low, i.high = math.Expm1(i.mean), math.Expm1(i.low), math.Expm1(i.high)
	}
	p.interval = i
}

// refusals says that one run refused many more requests than the other, so that the rest is not comparable.
func refusals(base, cand []outcome) string {
	var a, b int
	for i := range base {
		if base[i].completed && !cand[i].completed {
			b++
		}
		if cand[i].completed && !base[i].completed {
			a++
		}
	}
	if limit := dropped * float64(len(base)); float64(a) > limit || float64(b) > limit {
		return fmt.Sprintf("the baseline alone refused %d and the candidate alone %d of %d requests: what is left does not compare", a, b, len(base))
	}
	return ""
}

// differences has an entry a window of at least size rows, as worse says. Windows in which that is not known are left out
// and counted.
func differences(metric string, of func([]outcome) float64, base, cand []outcome, size int) (diffs []float64, empty int) {
	arrivals := make([]float64, len(base))
	for i, o := range base {
		arrivals[i] = o.arrival
	}
	cuts := cutWindows(arrivals, size)
	for w := 1; w < len(cuts); w++ {
		from, to := cuts[w-1], cuts[w]
		if d := worse(metric, of(base[from:to]), of(cand[from:to])); known(d) {
			diffs = append(diffs, d)
		} else {
			empty++
		}
	}
	return diffs, empty
}

// completedByBoth returns the rows that both runs completed.
func completedByBoth(base, cand []outcome) (a, b []outcome) {
	for i := range base {
		if base[i].completed && cand[i].completed {
			a, b = append(a, base[i]), append(b, cand[i])
		}
	}
	return a, b
}

// worse is how much worse b is than a, so that a is as much better than b: the logarithm of the ratio of times, and the
// hits that are missing.
func worse(metric string, a, b float64) float64 {
	switch {
	case a == b:
		return 0
	case metric == "hit_ratio":
		return a - b
	}
	return math.Log(b / a)
}

// regressed says whether the candidate is worse by more than slack; a doubt says that the windows do not tell.
func (p pairing) regressed(slack float64) (bool, string) {
	switch {
	case p.doubt != "":
		return false, p.doubt
	case p.low > slack:
		return true, ""
	case p.high <= slack:
		return false, ""
	}
	return false, fmt.Sprintf("the interval has the slack of %s inside", p.signed(slack))
}

// words prints the interval.
func (p pairing) words() string {
	empty := ""
	if p.empty > 0 {
		empty = fmt.Sprintf(" and %d without a value", p.empty)
	}
	if p.doubt != "" {
		return "regression of " + p.metric + " not measured" + strings.Replace(empty, " and", ", windows", 1)
	}
	return fmt.Sprintf("%s is %s worse (95 %% interval %s to %s, %d windows%s, lag-1 autocorrelation %.2f)",
		p.metric, p.signed(p.mean), p.signed(p.low), p.signed(p.high), p.n, empty, p.lag1)
}

// signed prints a difference in percent, "+4.91 %", and one of the hit ratio in percentage points, "+4.91 points".
func (p pairing) signed(v float64) string {
	text := strings.Replace(fmt.Sprintf("%+.2f", v*100), "-0.00", "+0.00", 1)
	if p.metric == "hit_ratio" {
		return text + " points"
	}
	return text + " %"
}
