package sim

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"

	"github.com/seed-2cee110a/triage/engine"
)

// CostFile is a cost model that a file describes instead of the registry. Exactly the part that Kind names is there.
type CostFile struct {
	Kind        string       `yaml:"kind"`                  // "linear", "physical" or "table"
	For         *CostFor     `yaml:"for,omitempty"`         // replicas that it was measured on; nil: it does not say
	Linear      *LinearCost  `yaml:"linear,omitempty"`      //
	Physical    *FactorCost  `yaml:"physical,omitempty"`    //
	Steps       []StepCost   `yaml:"steps,omitempty"`       // of a table
	Overhead    *Overhead    `yaml:"overhead,omitempty"`    // nil: the engine settings'
	Calibration *Calibration `yaml:"calibration,omitempty"` // nil: written by hand

	File   string `yaml:"-"` // as given
	Digest string `yaml:"-"` // of its bytes
}

// CostFor names replicas.
type CostFor struct {
	Model string `yaml:"model"`
	GPU   string `yaml:"gpu"`
	TP    int    `yaml:"tp"`
}

// LinearCost is an engine.Linear in units that read well.
type LinearCost struct {
	PerStep    float64 `yaml:"per_step_us"`
	PerToken   float64 `yaml:"per_prefill_token_us"`
	PerContext float64 `yaml:"per_context_token_ns"` // of every prefill token, for every token of its context
	PerDecode  float64 `yaml:"per_decode_us"`        // every decoding sequence
	PerKV      float64 `yaml:"per_kv_token_ns"`      // every KV token that a decoding sequence reads
}

// FactorCost is engine.Factors of the registry's cost model.
type FactorCost struct {
	Step    float64 `yaml:"step"`
	Batch   float64 `yaml:"batch"`
	KV      float64 `yaml:"kv"`
	Prefill float64 `yaml:"prefill"`
}

// StepCost is a measured step.
type StepCost struct {
	PrefillTokens int     `yaml:"prefill_tokens"`
	DecodeSeqs    int     `yaml:"decode_seqs"`
	KVTokens      int64   `yaml:"kv_tokens"`
	Seconds       float64 `yaml:"seconds"`
}

// Overhead is a server's own time for a request.
type Overhead struct {
	Before float64 `yaml:"before_ms"` // to the waiting queue
	After  float64 `yaml:"after_ms"`  // from the end of a step to delivery
}

// Calibration is where a cost file comes from.
type Calibration struct {
	Tool      string     `yaml:"tool"`
	Source    string     `yaml:"source"`           // name of the log
	SHA256    string     `yaml:"sha256"`           // of the log
	What      string     `yaml:"what"`             // "requests" or "steps"
	N         int        `yaml:"in_log"`           // of them in the log
	Fitted    int        `yaml:"fitted"`           // of them the fit used
	Held      int        `yaml:"held_out"`         // of them kept for the error
	Errors    []HeldOut  `yaml:"held_out_errors"`  //
	Level     float64    `yaml:"level"`            // of the intervals, 0..1
	Intervals []Interval `yaml:"intervals"`        // of the fitted coefficients
	How       string     `yaml:"intervals_from"`   //
	Kept      []string   `yaml:"kept,omitempty"`   // coefficients that were not fitted
	Fitting   string     `yaml:"fitting"`          // what was minimised
	Replay    string     `yaml:"replay,omitempty"` // flags of the replica that the log was played on
}

// HeldOut is the error of a prediction on the part of a log that was not fitted, as shares of what was measured.
type HeldOut struct {
	Metric    string  `yaml:"metric"`
	Mean      float64 `yaml:"mean_abs"`   // mean absolute error of the single ones
	Median    float64 `yaml:"median_abs"` //
	MeanError float64 `yaml:"of_mean"`    // signed error of their mean
}

// Interval holds a coefficient at the level of the calibration.
type Interval struct {
	Name string  `yaml:"name"`
	Low  float64 `yaml:"low"`
	High float64 `yaml:"high"`
}

// CostKinds are the kinds of cost files.
var CostKinds = []string{"linear", "physical", "table"}

// ParseCostFile reads and checks a cost file. Errors name file, line and column where they can.
func ParseCostFile(name string, data []byte) (*CostFile, error) {
	f := &CostFile{File: name, Digest: fmt.Sprintf("sha256:%x", sha256.Sum256(data))}
	if err := yaml.UnmarshalWithOptions(data, f, yaml.Strict()); err != nil {
		var y yaml.Error
		if errors.As(err, &y) && y.GetToken() != nil {
			at := y.GetToken().Position
			return nil, fmt.Errorf("%s:%d:%d: %s", name, at.Line, at.Column, costKeyHint(y))
		}
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if err := f.check(); err != nil {
		return nil, fmt.Errorf("%s%s: %w", name, place(data, err), errors.Unwrap(err))
	}
	return f, nil
}

// keyError is what is wrong with the value at a path such as linear.per_step_us.
type keyError struct {
	path string
	error
}

func (e *keyError) Unwrap() error { return e.error }

func bad(path, format string, args ...any) error {
	return &keyError{path, fmt.Errorf("%s "+format, append([]any{path}, args...)...)}
}

// place is ":line:column" of what the error is about, "" if that is not in the file.
func place(data []byte, err error) string {
	var k *keyError
	if !errors.As(err, &k) {
		return ""
	}
	p, err := yaml.PathString("$." + k.path)
	if err != nil {
		return ""
	}
	n, err := p.ReadNode(bytes.NewReader(data))
	if err != nil || n == nil {
		return ""
	}
	at := n.GetToken().Position
	return fmt.Sprintf(":%d:%d", at.Line, at.Column)
}

// costKeys are all keys of a cost file.
var costKeys = []string{"kind", "for", "linear", "physical", "steps", "overhead", "calibration", "model", "gpu", "tp",
	"per_step_us", "per_prefill_token_us", "per_context_token_ns", "per_decode_us", "per_kv_token_ns", "step", "batch", "kv", "prefill",
	"prefill_tokens", "decode_seqs", "kv_tokens", "seconds", "before_ms", "after_ms", "tool", "source", "sha256", "what", "in_log", "fitted",
	"held_out", "held_out_errors", "level", "intervals", "intervals_from", "fitting", "kept", "replay", "metric", "mean_abs", "median_abs", "of_mean",
	"name", "low", "high"}

// costKeyHint adds the nearest key to the error about an unknown one.
func costKeyHint(y yaml.Error) string {
	key := y.GetToken().Value
	if !strings.Contains(y.GetMessage(), "unknown field") {
		return y.GetMessage()
	}
	if near := nearest(key, costKeys); near != "" {
		return fmt.Sprintf("unknown key %q, did you mean %q?", key, near)
	}
	return fmt.Sprintf("unknown key %q, have kind, for, linear, physical, steps, overhead and calibration", key)
}

// nearest returns the name that shares most pairs of letters with what was given, "" if none shares half of them.
func nearest(given string, names []string) string {
	best, most := "", 0.5
	for _, n := range names {
		if s := alike(given, n); s > most {
			best, most = n, s
		}
	}
	return best
}

// alike is the share of pairs of neighbouring letters that two words have in common, Dice's coefficient.
func alike(a, b string) float64 {
	pairs := map[string]int{}
	for i := range max(0, len(a)-1) {
		pairs[a[i:i+2]]++
	}
	common := 0
	for i := range max(0, len(b)-1) {
		if pairs[b[i:i+2]] > 0 {
			pairs[b[i:i+2]]--
			common++
		}
	}
	return 2 * float64(common) / float64(max(1, len(a)+len(b)-2))
}

// check says what is wrong with the file. Its errors wrap what to print and may know a path.
func (f *CostFile) check() error {
	if f.Kind == "" {
		return bad("kind", "is missing, want one of %s", strings.Join(CostKinds, ", "))
	}
	if !slices.Contains(CostKinds, f.Kind) {
		return bad("kind", "is %q, want one of %s", f.Kind, strings.Join(CostKinds, ", "))
	}
	for _, part := range []struct {
		key, kind string
		there     bool
	}{{"linear", "linear", f.Linear != nil}, {"physical", "physical", f.Physical != nil}, {"steps", "table", len(f.Steps) > 0}} {
		switch wanted := part.kind == f.Kind; {
		case wanted && !part.there:
			return bad(part.key, "is missing or empty, and kind %s needs it", f.Kind)
		case !wanted && part.there:
			return bad(part.key, "is there, and kind is %s, want only what belongs to the kind", f.Kind)
		}
	}
	if f.Kind == "physical" && f.For == nil {
		return bad("for", "is missing: physical rescales the cost model of a model on a GPU, want for: {model: NAME, gpu: NAME, tp: N}")
	}
	if err := f.checkNumbers(); err != nil {
		return err
	}
	return f.checkSteps()
}

// Largest coefficients: steps of them fit a Time with room to spare.
const (
	mostMicro  = 1e9
	mostNano   = 1e9
	mostMilli  = 3.6e6 // an hour, as for the flags
	mostFactor = 1000
)

func (f *CostFile) checkNumbers() error {
	if l := f.Linear; l != nil {
		if err := l.check(); err != nil {
			return err
		}
	}
	if p := f.Physical; p != nil {
		err := errors.Join(within("physical.step", p.Step, 1e-3, mostFactor), within("physical.batch", p.Batch, 0, mostFactor),
			within("physical.kv", p.KV, 0, mostFactor), within("physical.prefill", p.Prefill, 0, mostFactor))
		if err := first(err); err != nil {
			return err
		}
	}
	if o := f.Overhead; o != nil {
		return first(errors.Join(within("overhead.before_ms", o.Before, 0, mostMilli), within("overhead.after_ms", o.After, 0, mostMilli)))
	}
	return nil
}

func (l *LinearCost) check() error {
	return first(errors.Join(within("linear.per_step_us", l.PerStep, 1e-3, mostMicro), within("linear.per_prefill_token_us", l.PerToken, 0, mostMicro),
		within("linear.per_context_token_ns", l.PerContext, 0, mostNano), within("linear.per_decode_us", l.PerDecode, 0, mostMicro),
		within("linear.per_kv_token_ns", l.PerKV, 0, mostNano)))
}

func (f *CostFile) checkSteps() error {
	if f.Kind != "table" {
		return nil
	}
	_, err := engine.NewTable(f.steps())
	if err != nil {
		return bad("steps", "cannot make a table: %w", err)
	}
	return nil
}

// first is the first of joined errors, nil if there are none.
func first(err error) error {
	if j, ok := err.(interface{ Unwrap() []error }); ok {
		return j.Unwrap()[0]
	}
	return err
}

func within(path string, v, low, high float64) error {
	if v >= low && v <= high {
		return nil
	}
	return bad(path, "is %v, want %v to %v", v, low, high)
}

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
