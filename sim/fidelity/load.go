package fidelity

import (
	"slices"
	"strconv"

	"github.com/seed-2cee110a/triage/engine"
)

// Load is what a stage put on a server, as it was played: what errors of that stage are errors for.
type Load struct {
	Experiment, Stage  string
	Regime, GPU, Model string
	Class, Weights     string // of the model: engine.Model.Class, and how weights are stored
	TP                 int
	Calibrated         bool // step times were fitted to models of this class on this GPU
	Prompt, Output     Span // tokens
	PerS               float64
	InFlight           int // requests at once, at most
}

// Span is a range of whole numbers, both ends included.
type Span struct{ Least, Most int }

// Over returns the span of both.
func (s Span) Over(t Span) Span {
	switch {
	case s == Span{}:
		return t
	case t == Span{}:
		return s
	}
	return Span{min(s.Least, t.Least), max(s.Most, t.Most)}
}

// WeightsOf says how a model's weights are stored: the experts', where it has some, as they are most of them.
func WeightsOf(m engine.Model) string {
	if m.Experts.N > 0 {
		return m.ExpertWeight().String()
	}
	return m.Weight.String()
}

// loads describes every stage of an experiment that was played. At constant concurrency there is no rate.
func (e *Experiment) loads(w *workload, out []timing, constant bool) []Load {
	m, g, err := lookup(e.Model, e.GPU, e.DType)
	if err != nil {
		return nil // it was not played
	}
	var all []Load
	for i, s := range w.stages {
		l := Load{Experiment: e.ID, Stage: strconv.Itoa(i), Regime: e.Regime, GPU: g.Name, Model: m.Name, Class: m.Class(), Weights: WeightsOf(m),
			TP: e.TP, Calibrated: engine.Measured(m, g)}
		if !constant {
			l.PerS = float64(s.Requests) / s.Seconds
		}
		var in []timing
		for k, q := range w.requests {
			if q.stage == i {
				in = append(in, out[k])
				l.Prompt, l.Output = l.Prompt.Over(Span{int(q.prompt), int(q.prompt)}), l.Output.Over(Span{int(q.output), int(q.output)})
			}
		}
		l.InFlight = atOnce(in)
		all = append(all, l)
	}
	return all
}

// atOnce is how many requests are in flight at the same time, at most. One that ends when another is sent has left.
func atOnce(all []timing) int {
	var sent, finish []engine.Time
	for _, t := range all {
		if t.finish >= 0 {
			sent, finish = append(sent, t.sent), append(finish, t.finish)
		}
	}
	slices.Sort(sent)
	slices.Sort(finish)
	most, ended := 0, 0
	for i, at := range sent {
		for finish[ended] <= at {
			ended++
		}
		most = max(most, i+1-ended)
	}
	return most
}
