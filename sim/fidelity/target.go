package fidelity

import (
	"context"
	"fmt"
	"math"
	"path/filepath"

	"github.com/seed-2cee110a/triage/engine"
)

// target is an experiment, or a row of closed_loop.csv, as the fit sees it: what was measured and how to simulate it.
type target struct {
	combination string // model, GPU, tp and weights
	goals       []goal
	play        func(context.Context, engine.Coefficients) (func(goal) float64, error)
}

// goal is a mean that was measured.
type goal struct {
	Key
	value  float64 // ms
	weight float64
	closed bool // of closed_loop.csv
}

// Weights of goals. Most of what decides a TTFT is not the cost of a step, and a row of closed_loop.csv says neither how
// many requests there were nor how long they were; there are as many rows as stages.
const (
	weightTPOT   = 1
	weightTTFT   = 0.5
	weightClosed = 0.1
)

// keepsUp is the TTFT, ms, up to which a stage of an overloaded experiment was not overloaded yet.
const keepsUp = 1000

// mostInFlight is the concurrency up to which rows of closed_loop.csv are fitted; beyond, the queue decides.
const mostInFlight = 64

func combination(e *Experiment) string {
	return fmt.Sprintf("%s on %d x %s, %s", e.Model, e.TP, e.GPU, e.DType)
}

// targets are what is fitted: stages that followed their load, on GPUs that count as calibrated.
func targets(dir string, s Settings) ([]*target, error) {
	d, err := open(dir)
	if err != nil {
		return nil, err
	}
	var all []*target
	for _, e := range d.experiments {
		t, err := d.target(e, dir, s)
		if err != nil {
			return nil, err
		}
		if t != nil && len(t.goals) > 0 {
			all = append(all, t)
		}
	}
	closed, err := closedTargets(filepath.Join(dir, "closed_loop.csv"), s.Seed)
	return append(all, closed...), err
}

// target returns nil for what cannot be played.
func (d *data) target(e *Experiment, dir string, s Settings) (*target, error) {
	srv, err := e.server(engine.Fitted())
	if err != nil || !srv.calibrated {
		return nil, nil
	}
	w, err := e.workload(dir, s.Seed)
	if err != nil {
		return nil, err
	}
	t := &target{combination: combination(e), goals: d.goals(e, w)}
	t.play = func(ctx context.Context, c engine.Coefficients) (func(goal) float64, error) {
		p, err := e.playLoad(ctx, w, c)
		if err != nil {
			return nil, err
		}
		return func(g goal) float64 { return p.value(g.Key, 0) }, nil
	}
	return t, nil
}

// goals are the means of an experiment's stages, warm where there is a trace.
func (d *data) goals(e *Experiment, w *workload) []goal {
	subset := "all"
	facts := d.truth
	if w.traced {
		subset, facts = warm, e.traced(&played{load: w})
	}
	late := map[string]bool{}
	var all []goal
	for _, f := range facts {
		weight := map[string]float64{"ttft": weightTTFT, "tpot": weightTPOT}[f.Metric]
		if f.Experiment != e.ID || f.Stat != "mean" || f.Stage == "all" || f.Subset != subset || weight == 0 {
			continue
		}
		late[f.Stage] = late[f.Stage] || f.Metric == "ttft" && e.Overload() && f.Value > keepsUp
		if f.Metric == "ttft" && e.Regime != "stable" {
			continue // the queue decides
		}
		all = append(all, goal{Key: f.Key, value: f.Value, weight: weight})
	}
	return drop(all, func(g goal) bool { return late[g.Stage] })
}

func drop(all []goal, out func(goal) bool) []goal {
	var kept []goal
	for _, g := range all {
		if !out(g) {
			kept = append(kept, g)
		}
	}
	return kept
}

// closedTargets are the rows of closed_loop.csv with dense models on calibrated GPUs.
func closedTargets(file string, seed uint64) ([]*target, error) {
	var all []*target
	err := optional(eachRow(file, closedColumns, func(r *row) error {
		c := r.closed()
		e, err := c.experiment()
		if err != nil || c.concurrency > mostInFlight {
			return nil
		}
		srv, err := e.server(engine.Fitted())
		if m, known := engine.LookupModel(e.Model); err != nil || !srv.calibrated || known != nil || m.Class() != "dense" {
			return nil
		}
		all = append(all, c.target(e, seed))
		return nil
	}))
	return all, err
}

func (c *closedRow) target(e *Experiment, seed uint64) *target {
	w := c.workload(seed)
	t := &target{combination: combination(e),
		goals: []goal{{Key: Key{c.id, "0", "all", "tpot", "mean"}, value: c.tpot, weight: weightClosed, closed: true}}}
	t.play = func(ctx context.Context, by engine.Coefficients) (func(goal) float64, error) {
		s, err := e.server(by)
		if err != nil {
			return nil, err
		}
		out, err := play(ctx, s, w, c.concurrency)
		if err != nil {
			return nil, err
		}
		all := simulated(w, out, e.timeout(), w.subset("0", "all", 0))
		return func(g goal) float64 { return all.value(g.Metric, g.Stat) }, nil
	}
	return t
}

// misses plays targets; a miss is the logarithm of simulated over measured, in the order of targets and goals.
func misses(ctx context.Context, all []*target, c engine.Coefficients, workers int) ([]float64, error) {
	parts := make([][]float64, len(all))
	err := each(ctx, workers, len(all), func(i int) error {
		value, err := all[i].play(ctx, c)
		if err != nil {
			return fmt.Errorf("%s: %w", all[i].combination, err)
		}
		for _, g := range all[i].goals {
			parts[i] = append(parts[i], math.Log(value(g)/g.value))
		}
		return nil
	})
	var out []float64
	for _, p := range parts {
		out = append(out, p...)
	}
	return out, err
}
