package fidelity

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"sync"

	"github.com/seed-2cee110a/triage/engine"
)

// Settings say how a folder is played.
type Settings struct {
	Workers int    // experiments at the same time; results do not depend on it
	Seed    uint64 // of drawn arrivals

	Coefficients *engine.Coefficients // of the cost model; nil: those in use
}

func (s Settings) coefficients() engine.Coefficients {
	if s.Coefficients != nil {
		return *s.Coefficients
	}
	return engine.Fitted()
}

// Report is a folder scored.
type Report struct {
	Seed         uint64
	Experiments  int
	Played       int
	Scores       []Score   // in the order of experiments and facts
	Loads        []Load    // by stage of what was played, in order
	Rivals       []Rival   // published simulators
	Closed       []Score   // constant concurrency, with the row's id as experiment; all of a run, and warm
	ClosedRows   int       // in closed_loop.csv
	ClosedPlayed int       // of them
	Offload      []string  // experiments played without the CPU KV offload that they had, under overload
	Skipped      []Skipped // what was not played
	Unscored     []Skipped // measured statistics that were not compared, Rows of them for each reason
}

// Skipped is something left out, and why.
type Skipped struct {
	What   string
	Rows   int
	Reason string
}

// Run plays and scores a folder.
func Run(ctx context.Context, dir string, s Settings) (*Report, error) {
	d, err := open(dir)
	if err != nil {
		return nil, err
	}
	played := make([]*played, len(d.experiments))
	err = each(ctx, s.Workers, len(played), func(i int) (err error) {
		played[i], err = d.experiments[i].play(ctx, dir, s)
		return err
	})
	if err != nil {
		return nil, err
	}
	r := d.score(played)
	r.Seed = s.Seed
	return r, r.closedLoop(ctx, filepath.Join(dir, "closed_loop.csv"), s)
}

// data is a folder as it was read.
type data struct {
	experiments []*Experiment
	known       map[string]*Experiment
	truth       []fact
	published   []Published
}

func open(dir string) (*data, error) {
	d := &data{known: map[string]*Experiment{}}
	var err error
	if d.experiments, err = readExperiments(filepath.Join(dir, "experiments.csv")); err != nil {
		return nil, err
	}
	for _, e := range d.experiments {
		d.known[e.ID] = e
	}
	if d.truth, err = readTruth(filepath.Join(dir, "ground_truth.csv"), d.known); err != nil {
		return nil, err
	}
	d.published, err = readPublished(filepath.Join(dir, "published_predictions.csv"), d.known)
	return d, err
}

// each calls f for 0 to n-1 on so many workers and returns the first error by number.
func each(ctx context.Context, workers, n int, f func(i int) error) error {
	errs := make([]error, n)
	jobs := make(chan int)
	var wg sync.WaitGroup
	for range max(1, min(workers, n)) {
		wg.Go(func() {
			for i := range jobs {
				if errs[i] = ctx.Err(); errs[i] == nil {
					errs[i] = f(i)
				}
			}
		})
	}
	for i := range n {
		jobs <- i
	}
	close(jobs)
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// played is an experiment that was played, or the reason why not.
type played struct {
	load       *workload
	timeout    float64
	out        []timing
	calibrated bool
	skipped    error
}

func (e *Experiment) play(ctx context.Context, dir string, set Settings) (*played, error) {
	w, err := e.workload(dir, set.Seed)
	if err != nil {
		return nil, err
	}
	return e.playLoad(ctx, w, set.coefficients())
}

// playLoad plays requests that were read or drawn before.
func (e *Experiment) playLoad(ctx context.Context, w *workload, by engine.Coefficients) (*played, error) {
	s, err := e.server(by)
	if u := (unmodelled{}); errors.As(err, &u) {
		return &played{load: w, skipped: u.error}, nil
	}
	if err != nil {
		return nil, err
	}
	out, err := play(ctx, s, w, e.inFlight())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", e.At, err)
	}
	return &played{load: w, timeout: e.timeout(), out: out, calibrated: s.calibrated}, nil
}

// score compares what was played with what was measured.
func (d *data) score(all []*played) *Report {
	r := &Report{Experiments: len(all)}
	byID := map[string]*played{}
	for i, p := range all {
		e := d.experiments[i]
		byID[e.ID] = p
		if p.skipped != nil {
			r.Skipped = append(r.Skipped, Skipped{e.ID, 1, e.At + ": " + p.skipped.Error()})
			continue
		}
		r.Played++
		r.Loads = append(r.Loads, e.loads(p.load, p.out, false)...)
		if e.Overload() && e.Offload {
			r.Offload = append(r.Offload, e.ID)
		}
	}
	first := map[Key]int{}
	facts := d.truth
	for i, e := range d.experiments {
		facts = append(facts, e.traced(all[i])...)
	}
	for _, f := range facts {
		first[f.Key] = f.First
		r.add(f, d.known[f.Experiment], byID[f.Experiment])
	}
	r.Rivals = rivals(d.published, d.known, func(k Key) float64 { return byID[k.Experiment].value(k, first[k]) })
	return r
}

// traced returns the facts that follow from a trace.
func (e *Experiment) traced(p *played) []fact {
	if !p.load.traced || p.skipped != nil {
		return nil
	}
	var out []fact
	for i := range p.load.stages {
		stage := strconv.Itoa(i)
		take := func(subset, metric, stat string) {
			k := Key{e.ID, stage, subset, metric, stat}
			if v := measured(p.load, e.timeout(), p.load.subset(stage, subset, 0)).value(metric, stat); v > 0 {
				out = append(out, fact{Key: k, Value: v})
			}
		}
		if e.Overload() {
			take("all", "busy_throughput", "mean")
			take("all", "ttft_growth", "mean")
			take("all", "tpot_drift", "mean")
			continue
		}
		for _, metric := range Metrics {
			for _, stat := range comparable {
				take(warm, metric, stat)
			}
		}
	}
	return out
}
