package calibrate

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml"

	"github.com/seed-2cee110a/triage/engine"
	"github.com/seed-2cee110a/triage/sim"
)

// IntervalsFrom says what the intervals are.
const IntervalsFrom = "Jacobian at the fit, sandwich over windows of neighbours, Student's t"

// complete makes the cost file and checks it against physics.
func (r *Result) complete(f *form, what, fitting string) error {
	l, s := r.Log, r.Settings
	c := &sim.Calibration{Tool: s.Tool, Source: l.Name, SHA256: l.SHA256, What: what, N: len(l.Requests) + len(l.Steps), Fitted: r.Fitted, Held: r.Held,
		Level: level, How: IntervalsFrom, Fitting: fitting, Replay: strings.Join(s.Flags, " ")}
	for _, e := range r.Errors {
		c.Errors = append(c.Errors, sim.HeldOut{Metric: e.Metric, Mean: round(e.Mean), Median: round(e.Median), MeanError: round(e.MeanError)})
	}
	v := make([]float64, len(r.Coefficients))
	for i := range r.Coefficients {
		k := &r.Coefficients[i]
		k.Value, k.Low, k.High = round(k.Value), round(k.Low), round(k.High)
		v[i] = k.Value
		if k.Kept != "" {
			c.Kept = append(c.Kept, k.Name)
			continue
		}
		c.Intervals = append(c.Intervals, sim.Interval{Name: k.Name, Low: k.Low, High: k.High})
	}
	r.File = &sim.CostFile{Kind: f.kind, For: s.For, Calibration: c}
	if f.kind == "table" {
		c.How, c.Level = "none: a table has no coefficients", 0
		return nil
	}
	r.File.Overhead = &sim.Overhead{Before: v[len(v)-1], After: s.Engine.OverheadAfter.Seconds() * 1e3}
	if f.kind == "linear" {
		lin := linearOf(v)
		r.File.Linear = &lin
	} else {
		r.File.Physical = &sim.FactorCost{Step: v[0], Batch: v[1], KV: v[2], Prefill: v[3]}
	}
	return r.possible(f, v)
}

// believable refuses a log that no hardware of the kind named can have made: where most steps, or output tokens, took less
// than reading the weights does.
func (s *Settings) believable(l *Log) error {
	if s.For == nil {
		return nil
	}
	fast, n := 0, 0
	see := func(took float64, b engine.Batch) {
		n++
		if took < engine.Fastest(s.Model, s.GPU, s.For.TP, b).Seconds() {
			fast++
		}
	}
	for i := range l.Requests {
		if t := l.Requests[i].TPOT(); !math.IsNaN(t) {
			see(t, engine.Batch{Decode: 1, KVTokens: 1})
		}
	}
	for i := range l.Steps {
		see(l.Steps[i].Seconds, l.Steps[i].Batch)
	}
	if 2*fast <= n {
		return nil
	}
	return refuse("%s: %d of %d steps or output tokens took less than %s on %d x %s can at the data sheet's peak; "+
		"want the model, GPU and tp that the log was measured on, and no speculative decoding", l.Name, fast, n, s.For.Model, s.For.TP, s.For.GPU)
}

// possible refuses steps that no hardware can do.
func (r *Result) possible(f *form, v []float64) error {
	s := r.Settings
	if s.For == nil {
		return nil
	}
	cost, err := f.cost(v)
	if err != nil {
		return err
	}
	for _, b := range []engine.Batch{{Decode: 1, KVTokens: 1}, {Decode: 64, KVTokens: 64 * 1024},
		{PrefillTokens: s.Engine.MaxNumBatchedTokens, PrefillSeqs: 1, PrefillContext: int64(s.Engine.MaxNumBatchedTokens)}} {
		if got, least := cost.Step(b), engine.Fastest(s.Model, s.GPU, s.For.TP, b); got < least {
			return refuse("%s: by the fit a step of %d sequences and %d prefill tokens takes %.3f ms, and %s on %d x %s needs at least %.3f ms at the data sheet's peak; "+
				"want the model, GPU and tp that the log was measured on, and prompts whose shared parts the log names",
				r.Log.Name, b.Decode, b.PrefillTokens, got.Seconds()*1e3, s.For.Model, s.For.TP, s.For.GPU, least.Seconds()*1e3)
		}
	}
	return nil
}

// round keeps six digits.
func round(v float64) float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return v
	}
	out, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 6, 64), 64)
	if err != nil {
		panic("calibrate: " + err.Error()) // what FormatFloat wrote
	}
	return out
}

// YAML is the cost file.
func (r *Result) YAML() ([]byte, error) {
	data, err := yaml.MarshalWithOptions(r.File, yaml.Indent(2))
	if err != nil {
		return nil, err
	}
	head := fmt.Sprintf("# Step times for triage replay --cost, fitted to %s.\n", strconv.Quote(r.Log.Name))
	return append([]byte(head), data...), nil
}
