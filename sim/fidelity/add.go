package fidelity

import (
	"math"
	"slices"
)

// add scores a fact, or says why not.
func (r *Report) add(f fact, e *Experiment, p *played) {
	if why := f.unscored(e, p); why != "" {
		r.leave(why)
		return
	}
	v := p.value(f.Key, f.First)
	if math.IsNaN(v) {
		r.leave("nothing was served in time in the simulation")
		return
	}
	s := Score{Key: f.Key, Regime: e.Regime, GPU: e.GPU, Model: e.Model, Overload: e.Overload(), Calibrated: p.calibrated, Measured: f.Value, Simulated: v}
	s.Best = f.Stage != "all" && (f.Subset == warm || f.Subset == "all" && (!p.load.traced || e.Overload() || f.Metric == "request_throughput"))
	r.Scores = append(r.Scores, s)
}

// unscored says why a fact is not compared, "" if it is.
func (f *fact) unscored(e *Experiment, p *played) string {
	switch {
	case p.skipped != nil:
		return "the experiment was not played"
	case f.Metric == "input_len_measured":
		return "it was given, not to be predicted"
	case f.Metric == "itl_published":
		return "divides by another number of tokens: only for published predictions"
	case !slices.Contains(Metrics, f.Metric) && !slices.Contains(loads, f.Metric):
		return "unknown metric " + f.Metric
	case p.load.subset(f.Stage, f.Subset, f.First) == nil:
		return "it is not known which requests are in it: " + f.Subset
	}
	return ""
}

// loads are metrics of what the server got through.
var loads = []string{"request_throughput", "busy_throughput", "ttft_growth", "tpot_drift"}

// leave counts a fact that is not scored.
func (r *Report) leave(why string) {
	i := slices.IndexFunc(r.Unscored, func(s Skipped) bool { return s.Reason == why })
	if i < 0 {
		i = len(r.Unscored)
		r.Unscored = append(r.Unscored, Skipped{What: "measured statistics", Reason: why})
	}
	r.Unscored[i].Rows++
}

// value is the simulation's, NaN if there is none.
func (p *played) value(k Key, first int) float64 {
	if p.skipped != nil {
		return math.NaN()
	}
	in := p.load.subset(k.Stage, k.Subset, first)
	if in == nil {
		return math.NaN()
	}
	return simulated(p.load, p.out, p.timeout, in).value(k.Metric, k.Stat)
}
