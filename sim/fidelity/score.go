package fidelity

import (
	"cmp"
	"math"
	"slices"
)

// Score is a statistic as it was measured and as it was simulated.
type Score struct {
	Key
	Regime, GPU, Model  string
	Overload            bool // means say little
	Calibrated          bool // step times were fitted on this GPU
	Measured, Simulated float64
	Best                bool // the best there is for its stage: warm where there is a trace
	Queued              bool // at constant concurrency: requests were measured to wait longer than they ran
}

// Error is relative to what was measured.
func (s Score) Error() float64 { return (s.Simulated - s.Measured) / s.Measured }

// Stable says whether the server followed its load with room to spare.
func (s Score) Stable() bool { return s.Regime == "stable" }

// Errors is a set of absolute relative errors in numbers; over none they are NaN.
type Errors struct {
	N            int
	Mean, Median float64
	Bias         float64 // mean with the sign: below 0 is too fast, for times
}

// Summarise returns the errors of scores.
func Summarise(scores []Score) Errors {
	var all []float64
	for _, s := range scores {
		all = append(all, s.Error())
	}
	return summarise(all)
}

func summarise(errors []float64) Errors {
	e := Errors{N: len(errors), Mean: math.NaN(), Median: math.NaN(), Bias: math.NaN()}
	if len(errors) == 0 {
		return e
	}
	e.Bias = average(errors)
	absolute := make([]float64, len(errors))
	for i, v := range errors {
		absolute[i] = math.Abs(v)
	}
	e.Mean, e.Median = average(absolute), statistic(absolute, "p50")
	return e
}

// Select returns the scores for which keep holds.
func Select(scores []Score, keep func(*Score) bool) []Score {
	var out []Score
	for i := range scores {
		if keep(&scores[i]) {
			out = append(out, scores[i])
		}
	}
	return out
}

// Rival is another simulator on the rows that it and this one have both predicted.
type Rival struct {
	Simulator    string
	Metric       string
	Ours, Theirs Errors
}

// Verdict says who has the smaller errors: better, worse, or mixed where mean and median disagree.
func (r Rival) Verdict() string {
	switch {
	case r.Ours.Mean < r.Theirs.Mean && r.Ours.Median < r.Theirs.Median:
		return "better"
	case r.Ours.Mean >= r.Theirs.Mean && r.Ours.Median >= r.Theirs.Median:
		return "worse"
	}
	return "mixed"
}

// comparable are the statistics that rivals are compared on; beyond, warm-up decides.
var comparable = []string{"mean", "p50", "p90"}

// rivals compares with published predictions, in order of simulator and metric. Overload is left out.
func rivals(published []Published, known map[string]*Experiment, value func(Key) float64) []Rival {
	type id struct{ simulator, metric string }
	ours, theirs := map[id][]float64{}, map[id][]float64{}
	var order []id
	for _, p := range published {
		v := value(p.Key)
		if math.IsNaN(v) || known[p.Experiment].Overload() || !slices.Contains(comparable, p.Stat) {
			continue
		}
		k := id{p.Simulator, p.Metric}
		if ours[k] == nil {
			order = append(order, k)
		}
		ours[k] = append(ours[k], (v-p.Measured)/p.Measured)
		theirs[k] = append(theirs[k], (p.Predicted-p.Measured)/p.Measured)
	}
	slices.SortFunc(order, func(a, b id) int {
		return cmp.Or(cmp.Compare(metricRank(a.metric), metricRank(b.metric)), cmp.Compare(a.simulator, b.simulator))
	})
	var out []Rival
	for _, k := range order {
		out = append(out, Rival{Simulator: k.simulator, Metric: k.metric, Ours: summarise(ours[k]), Theirs: summarise(theirs[k])})
	}
	return out
}

// Metrics of latency, in the order in which they are shown.
var Metrics = []string{"ttft", "tpot", "e2e"}

// metricRank orders metrics; what is not a Metric comes after.
func metricRank(m string) int {
	if i := slices.Index(Metrics, m); i >= 0 {
		return i
	}
	return len(Metrics)
}
