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
	interval        // of how much worse the candidate is, relative to the baseline; 0.05 is 5 % worse
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

// pairedMetric returns how to compute a metric of some rows, NaN over none.
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
	return func(rows []outcome) float64 { return statisticOf(timesOf(rows, times), statistic) }, nil
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
	if len(x) == 0 {
		return math.NaN()
	}
	if name == "mean" {
		sum := 0.0
		for _, v := range x {
			sum += v
		}
		return sum / float64(len(x))
	}
	percent := map[string]int{"p50": 50, "p90": 90, "p95": 95, "p99": 99}[name]
	return nearestRank(x, percent)
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
	diffs := differences(metric, of, base, cand)
	if len(diffs) < windowLeast {
		p.doubt = fmt.Sprintf("too few windows: %d, want at least %d of at least %d requests", len(diffs), windowLeast, windowSize)
		return p, nil
	}
	p.interval = studentInterval(diffs)
	return p, nil
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

// differences has an entry a window: how much worse the candidate is, relative to the baseline. Windows in which that is
// not known are left out.
func differences(metric string, of func([]outcome) float64, base, cand []outcome) []float64 {
	arrivals := make([]float64, len(base))
	for i, o := range base {
		arrivals[i] = o.arrival
	}
	cuts := cutWindows(arrivals)
	var out []float64
	for w := 1; w < len(cuts); w++ {
		a, b := completedByBoth(base, cand, cuts[w-1], cuts[w])
		if d := worse(metric, of(a), of(b)); known(d) {
			out = append(out, d)
		}
	}
	return out
}

// completedByBoth returns the rows from..to that both runs completed.
func completedByBoth(base, cand []outcome, from, to int) (a, b []outcome) {
	for i := from; i < to; i++ {
		if base[i].completed && cand[i].completed {
			a, b = append(a, base[i]), append(b, cand[i])
		}
	}
	return a, b
}

// worse is how much worse b is than a, relative to a. More hits are better, more seconds worse.
func worse(metric string, a, b float64) float64 {
	switch {
	case a == b:
		return 0
	case metric == "hit_ratio":
		return 1 - b/a
	}
	return b/a - 1
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
	return false, fmt.Sprintf("the interval has the slack of %s inside", signed(slack))
}

// words prints the interval, and what speaks against trusting it.
func (p pairing) words() string {
	if p.doubt != "" {
		return "regression of " + p.metric + " not measured"
	}
	text := fmt.Sprintf("%s is %s worse (95 %% interval %s to %s, %d windows, lag-1 autocorrelation %.2f)",
		p.metric, signed(p.mean), signed(p.low), signed(p.high), p.n, p.lag1)
	if p.lag1 > 0.5 {
		text += ", neighbouring windows move together and the interval is too narrow"
	}
	return text
}

// signed prints a relative difference in percent: "+4.9 %".
func signed(v float64) string {
	text := fmt.Sprintf("%+.2f %%", v*100)
	if text == "-0.00 %" {
		return "+0.00 %"
	}
	return text
}
