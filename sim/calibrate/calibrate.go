package calibrate

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/seed-2cee110a/triage/engine"
	"github.com/seed-2cee110a/triage/sim"
)

// Settings say what to fit and on what replicas the log was measured.
type Settings struct {
	Engine    engine.Config // KVBlocks included
	BlockSize int           // tokens behind one hash id
	For       *sim.CostFor  // nil: nobody knows; then only linear can be fitted
	Model     engine.Model  // of For
	GPU       engine.GPU    // likewise
	Fit       string        // "physical" or "linear"; "table" for steps
	HoldOut   float64       // share of the log kept for the error, 0 up to 0.9
	Replicas  int           // 0: as many as the log names
	Fix       map[string]float64
	Tool      string
	Flags     []string // of the replica, for the record
}

// Result is a cost model fitted to a log.
type Result struct {
	Log          *Log
	Settings     Settings
	Coefficients []Coefficient
	Errors       []sim.HeldOut
	Fitted, Held int
	Means        []Mean // of the part that is held out
	File         *sim.CostFile
}

// Mean is the mean of a metric over the part that is held out, s.
type Mean struct {
	Metric              string
	Measured, Simulated float64
}

// leastRequests is how many a fit needs, and leastSteps likewise.
const (
	leastRequests = 60
	leastSteps    = 20
)

// Refusal is why a log does not determine a cost model.
type Refusal struct{ error }

func refuse(format string, args ...any) error { return Refusal{fmt.Errorf(format, args...)} }

// Run fits a cost model.
func Run(ctx context.Context, l *Log, s Settings) (*Result, error) {
	if !(s.HoldOut >= 0 && s.HoldOut <= 0.9) {
		return nil, fmt.Errorf("holdout is %v, want 0 to 0.9", s.HoldOut)
	}
	if err := s.believable(l); err != nil {
		return nil, err
	}
	if len(l.Steps) > 0 {
		return runSteps(l, s)
	}
	if s.Fit == "table" {
		return nil, errors.New("a table is made of measured steps, and the log has requests; want --fit linear or physical")
	}
	f, err := s.form(l)
	if err != nil {
		return nil, err
	}
	return runRequests(ctx, l, s, f)
}

// form starts from the registry's cost model, if the replicas are known.
func (s *Settings) form(l *Log) (*form, error) {
	var p engine.CostModel
	if s.For != nil {
		var err error
		if p, err = engine.NewPhysical(s.Model, s.GPU, s.For.TP, s.Engine.MaxNumBatchedTokens); err != nil {
			return nil, err
		}
	}
	var f *form
	switch {
	case s.Fit == "physical" && p == nil:
		return nil, errors.New("physical rescales the registry's cost model, want --model and --gpu, or --fit linear")
	case s.Fit == "physical":
		f = physical(p, s.Engine.OverheadBefore)
	case p != nil:
		start, err := likeness(p)
		if err != nil {
			return nil, err
		}
		f = linear(start, true, s.Engine.OverheadBefore)
	case len(l.Steps) > 0:
		f = linear(sim.LinearCost{PerStep: 1000, PerToken: 10, PerContext: 1, PerDecode: 10, PerKV: 10}, false, s.Engine.OverheadBefore)
	default:
		f = linear(l.guess(), false, s.Engine.OverheadBefore)
	}
	if p != nil {
		f.bound(engine.Fastest(s.Model, s.GPU, s.For.TP, engine.Batch{Decode: 1, KVTokens: 1}))
	}
	return f, f.fix(s.Fix)
}

// bound keeps every step above what the hardware needs to read the weights.
func (f *form) bound(least engine.Time) {
	idle := f.parts(engine.Batch{Decode: 1, KVTokens: 1})[0]
	f.coefs[0].floor = min(least.Seconds()/idle, f.coefs[0].start)
}

// fix takes values that the user gives.
func (f *form) fix(values map[string]float64) error {
	n := 0
	for k := range f.coefs {
		c := &f.coefs[k]
		if v, ok := values[c.Name]; ok {
			n++
			c.start, c.Kept = v, "given"
		}
	}
	if n < len(values) {
		var have []string
		for _, c := range f.coefs {
			have = append(have, c.Name)
		}
		return fmt.Errorf("--fix names a coefficient that %s does not have, have %s", f.kind, strings.Join(have, ", "))
	}
	return nil
}

func (f *form) free() []bool {
	out := make([]bool, len(f.coefs))
	for k := range out {
		out[k] = f.coefs[k].Kept == ""
	}
	return out
}

// vague is the half of an interval, as a share of the coefficient or of where it started if the registry says so, from
// which the log does not determine it.
const vague = 1

// alike is how much the variance of a coefficient may grow because others do much the same, before it is kept if there
// is something to keep it at.
const alike = 100

// settle takes over a fit. It returns false if a coefficient had to be kept and the fit is to be done again without it.
func (f *form) settle(x []float64, q *normal) (bool, error) {
	_, floor := f.starts(f.free())
	width, inflation := q.halfWidths(), q.inflation()
	for k, d := range q.step(x, floor, 0) { // how far chance in the schedules kept the fit from where it was going
		width[k] += math.Abs(d)
	}
	worst, known := vaguest{}, vaguest{}
	i := 0
	for k := range f.coefs {
		c := &f.coefs[k]
		if c.Kept != "" {
			c.Value, c.Low, c.High = c.start, math.NaN(), math.NaN()
			continue
		}
		half := float64(width[i] * c.start)
		c.Value = float64(x[i] * c.start)
		c.Low, c.High = max(0, c.Value-half), c.Value+half
		if c.floor > 0 && c.Value < float64(c.floor*1.001) { // the fit would go where no hardware can
			width[i] = math.Inf(1)
		}
		scale := x[i]
		if c.known {
			scale = max(scale, 1)
			known.see(c, width[i]/scale, inflation[i])
		}
		worst.see(c, width[i]/scale, inflation[i])
		i++
	}
	switch {
	case i == 0:
		return false, refuse("the log determines none of the coefficients: want %s, and latencies that follow from lengths and load", needLoad)
	case worst.share <= vague && known.inflation <= alike:
		return true, nil
	case known.c != nil && (known.share > vague || known.inflation > alike):
		known.c.Kept = "registry"
		if known.c.Name == overheadName {
			known.c.Kept = "setting"
		}
		return false, nil
	case worst.share <= vague:
		return true, nil
	}
	return false, refuse("the log does not determine %s: want %s, or give it by --fix %s=VALUE", worst.c.Name, worst.c.Needs, worst.c.Name)
}

// vaguest is the coefficient that a log tells least of.
type vaguest struct {
	c         *Coefficient
	share     float64 // half of its interval, over its scale
	inflation float64
}

// see takes the wider interval; of infinite ones, the later.
func (v *vaguest) see(c *Coefficient, share, inflation float64) {
	if v.c == nil || share >= v.share {
		v.c, v.share = c, share
	}
	v.inflation = max(v.inflation, inflation)
}

func runRequests(ctx context.Context, l *Log, s Settings, f *form) (*Result, error) {
	if err := l.check(s); err != nil {
		return nil, err
	}
	server, err := l.newServer(s.Engine, s.BlockSize)
	if err != nil {
		return nil, err
	}
	n := len(l.Requests) - int(s.HoldOut*float64(len(l.Requests)))
	t := newFitter(l, server, f, n)
	fitted := 0
	for _, u := range t.use {
		if u {
			fitted++
		}
	}
	if fitted < leastRequests {
		return nil, refuse("%s: %d requests can be fitted (%d in the log, the last %.0f %% kept for the error), want at least %d", l.Name, fitted, len(l.Requests), 100*s.HoldOut, leastRequests)
	}
	if math.IsNaN(t.tpot) {
		return nil, refuse("%s: no output has more than one token, so nothing is known of decoding; want longer outputs", l.Name)
	}
	if t.steady() {
		if err := f.keepLoad(); err != nil {
			return nil, fmt.Errorf("%s: %w", l.Name, err)
		}
	}
	var x []float64
	for {
		free := f.free()
		start, _ := f.starts(free)
		var q *normal
		if x, q, err = t.fit(ctx, free, start); err != nil {
			return nil, err
		}
		done, err := f.settle(x, q)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", l.Name, err)
		}
		if done {
			break
		}
	}
	r := &Result{Log: l, Settings: s, Coefficients: f.coefs, Fitted: fitted}
	if err := r.predict(ctx, server, f, n); err != nil {
		return nil, err
	}
	return r, r.complete(f, "requests", "TTFT and TPOT, as means of cells of like requests, outliers beyond 3 sigma weighed down")
}

// keepLoad keeps what shows only where the number of decoding sequences varies.
func (f *form) keepLoad() error {
	for k := range f.coefs {
		c := &f.coefs[k]
		switch {
		case !c.ofLoad || c.Kept != "":
		case !c.known:
			return refuse("the number of decoding sequences hardly varies, so the log does not determine %s: want %s, or give it by --fix %s=VALUE", c.Name, c.Needs, c.Name)
		default:
			c.Kept = "registry"
		}
	}
	return nil
}

// check says what a log of requests lacks before any work is done.
func (l *Log) check(s Settings) error {
	if named := len(l.replicas()); s.Replicas > 0 && s.Replicas != named {
		if named == 1 {
			return refuse("%s: the log does not say which of %d replicas served each request, want a column %s, or the log of one replica", l.Name, s.Replicas, names(fReplica))
		}
		return refuse("%s: the log names %d replicas, and replicas is %d", l.Name, named, s.Replicas)
	}
	return nil
}

// predict plays the whole log and scores the part that was not fitted.
func (r *Result) predict(ctx context.Context, s *server, f *form, n int) error {
	l := r.Log
	if n == len(l.Requests) {
		return nil
	}
	p, err := f.params(values(r.Coefficients))
	if err != nil {
		return err
	}
	got, err := s.play(ctx, l, p, len(l.Requests))
	if err != nil {
		return err
	}
	var e [3]errorSum
	for i := n; i < len(l.Requests); i++ {
		q := &l.Requests[i]
		if math.IsNaN(q.TTFT) {
			continue
		}
		r.Held++
		e[0].add(got[i].ttft, q.TTFT)
		e[1].add(tpot(got[i].ttft, got[i].e2e, q.Output), q.TPOT())
		e[2].add(got[i].e2e, q.E2E)
	}
	for k, name := range []string{"TTFT", "TPOT", "E2E"} {
		r.score(name, &e[k])
	}
	return nil
}

func (r *Result) score(name string, e *errorSum) {
	if len(e.abs) > 0 {
		r.Errors = append(r.Errors, e.heldOut(name))
		n := float64(len(e.abs))
		r.Means = append(r.Means, Mean{name, e.measured / n, e.simulated / n})
	}
}

// errorSum gathers errors of predictions.
type errorSum struct {
	abs                 []float64
	measured, simulated float64
}

func (e *errorSum) add(simulated, measured float64) {
	if math.IsNaN(measured) || measured <= 0 {
		return
	}
	e.abs = append(e.abs, math.Abs(simulated/measured-1))
	e.measured, e.simulated = e.measured+measured, e.simulated+simulated
}

func (e *errorSum) heldOut(metric string) sim.HeldOut {
	sum := 0.0
	for _, a := range e.abs {
		sum += a
	}
	return sim.HeldOut{Metric: metric, Mean: sum / float64(len(e.abs)), Median: median(e.abs), MeanError: e.simulated/e.measured - 1}
}

func values(all []Coefficient) []float64 {
	out := make([]float64, len(all))
	for i, c := range all {
		out[i] = c.Value
	}
	return out
}
