package sim

import (
	"fmt"
	"math"
	"strings"

	"github.com/seed-2cee110a/triage/engine"
)

func (f *CostFile) steps() []engine.StepTime {
	out := make([]engine.StepTime, len(f.Steps))
	for i, s := range f.Steps {
		b := engine.Batch{Decode: s.DecodeSeqs, KVTokens: s.KVTokens, PrefillTokens: s.PrefillTokens}
		out[i] = engine.StepTime{Batch: b, Took: picoseconds(s.Seconds, engine.Second)}
	}
	return out
}

// picoseconds rounds a time in some unit.
func picoseconds(v float64, unit engine.Time) engine.Time {
	if !(math.Abs(v) < 1e6*float64(engine.Second)/float64(unit)) {
		return -1
	}
	return engine.Time(math.Round(float64(v * float64(unit))))
}

// Linear returns the engine's cost model.
func (l LinearCost) Model() engine.Linear {
	return engine.Linear{
		PerStep: picoseconds(l.PerStep, engine.Microsecond), PerToken: picoseconds(l.PerToken, engine.Microsecond),
		PerContext: picoseconds(l.PerContext, engine.Nanosecond), PerDecode: picoseconds(l.PerDecode, engine.Microsecond),
		PerKV: picoseconds(l.PerKV, engine.Nanosecond),
	}
}

// Apply makes a configuration use the file: its cost model and, unless they were chosen, its overheads.
func (f *CostFile) Apply(c *Config, keepBefore, keepAfter bool) {
	c.Cost, c.CostFile = f.File, f
	if o := f.Overhead; o != nil {
		if !keepBefore {
			c.Engine.OverheadBefore = picoseconds(o.Before, engine.Millisecond)
		}
		if !keepAfter {
			c.Engine.OverheadAfter = picoseconds(o.After, engine.Millisecond)
		}
	}
}

// model returns the cost model of the file for replicas of m on tp GPUs g.
func (f *CostFile) model(c Config, m engine.Model, g engine.GPU) (engine.CostModel, error) {
	if err := f.suits(c); err != nil {
		return nil, err
	}
	switch f.Kind {
	case "linear":
		return f.Linear.Model(), nil
	case "table":
		return engine.NewTable(f.steps())
	}
	p, err := engine.NewPhysical(m, g, c.TP, c.Engine.MaxNumBatchedTokens)
	if err != nil {
		return nil, err
	}
	return engine.NewRescaled(p, engine.Factors{Step: f.Physical.Step, Batch: f.Physical.Batch, KV: f.Physical.KV, Prefill: f.Physical.Prefill})
}

// suits says whether the file is about other replicas than c has.
func (f *CostFile) suits(c Config) error {
	if w := f.For; w != nil && (w.Model != c.Model || w.GPU != c.GPU || w.TP != c.TP) {
		return fmt.Errorf("%s is for %s on %d x %s, the replicas are %s on %d x %s; want --model %s --gpu %s --tp %d",
			f.File, w.Model, w.TP, w.GPU, c.Model, c.TP, c.GPU, w.Model, w.GPU, w.TP)
	}
	return nil
}

// note says where the file comes from.
func (f *CostFile) note() CostNote {
	n := CostNote{Model: f.Kind, Digest: f.Digest, Note: "step times from " + f.File + ", which does not say what they were measured on"}
	c := f.Calibration
	if c == nil {
		return n
	}
	n.Calibrated, n.Source, n.SHA256 = true, c.Source, c.SHA256
	n.Note = fmt.Sprintf("fitted to %d of %d %s of %s (sha256 %.8s)", c.Fitted, c.N, c.What, c.Source, c.SHA256)
	var parts []string
	for _, e := range c.Errors {
		parts = append(parts, fmt.Sprintf("%s %.1f %%", e.Metric, 100*e.Median))
		n.HeldOut = append(n.HeldOut, e)
	}
	if c.Held > 0 && len(parts) > 0 {
		n.Note += fmt.Sprintf("; median error on the %d held out: %s", c.Held, strings.Join(parts, ", "))
	}
	return n
}
