package tune

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/seed-2cee110a/triage/policies"
	"github.com/seed-2cee110a/triage/sim"
)

// Problem is what to search, on what, and for what.
type Problem struct {
	Cases     []Case // one a trace
	Space     *Space
	Objective *Objective
	Baselines []policies.Spec // replayed beside the points
}

// Case is a trace on a cluster, ready to be replayed.
type Case struct {
	Name  string
	Stage *sim.Stage
}

// Settings say how to search; nothing in them changes the result.
type Settings struct {
	Workers  int            // replays at the same time; 0 is one
	Progress func(Progress) // if not nil, called after every replay, by one worker at a time
}

// Progress is how far a search has come.
type Progress struct {
	Done, Total int     // replays, those of the baselines included
	Points      int     // points replayed on every trace
	Best        int     // the one of them with the lowest mean objective, -1 before the first
	Value       float64 // its mean objective over the traces
}

// Cell is one replay: a point, or a baseline, on a trace.
type Cell struct {
	Done      bool
	Value     float64 // of the objective, NaN if it has none
	Why       string  // it has none
	Decisions uint64  // hash of all decisions
	Metrics   Metrics
}

// Search replays every baseline and every point on every trace. The study does not depend on the number of workers. A point
// whose objective is not finite has no value and is not recommended; if that is so for all of them it is an error. When the
// context ends it returns the study of what was done until then, with the context's error.
func Search(ctx context.Context, p Problem, s Settings) (*Study, error) {
	if len(p.Cases) == 0 {
		return nil, errors.New("no traces to replay, want at least one")
	}
	r := newSearch(p, s)
	var wg sync.WaitGroup
	for range max(1, min(s.Workers, r.total())) {
		wg.Go(func() { r.work(ctx) })
	}
	wg.Wait()
	if r.err != nil {
		return nil, r.err
	}
	study := conclude(r.study)
	if ctx.Err() == nil && study.Recommended < 0 {
		return nil, r.valueless()
	}
	return study, ctx.Err()
}

// search is a search in progress. Replays are numbered: the baselines before the points, each on all traces in turn.
type search struct {
	Problem
	settings Settings
	study    *Study

	mu       sync.Mutex
	next     int // the first replay that no worker has taken
	progress Progress
	err      error // of replay failed, the lowest of those that failed
	failed   int
}

func newSearch(p Problem, s Settings) *search {
	study := &Study{Problem: p, Facts: make([]Facts, len(p.Cases))}
	study.Baselines, study.Points = cells(len(p.Baselines), len(p.Cases)), cells(p.Space.Len(), len(p.Cases))
	r := &search{Problem: p, settings: s, study: study, progress: Progress{Best: -1}}
	r.progress.Total = r.total()
	return r
}

// cells makes n rows over one array.
func cells(n, traces int) [][]Cell {
	rows, all := make([][]Cell, n), make([]Cell, n*traces)
	for i := range rows {
		rows[i] = all[i*traces : (i+1)*traces : (i+1)*traces]
	}
	return rows
}

func (r *search) total() int { return (len(r.Problem.Baselines) + r.Space.Len()) * len(r.Cases) }

// work takes replays until none is left, one failed, or the context ends.
func (r *search) work(ctx context.Context) {
	for ctx.Err() == nil {
		job, ok := r.take()
		if !ok {
			return
		}
		row, trace := job/len(r.Cases), job%len(r.Cases)
		cell, facts, err := r.replay(ctx, r.spec(row), trace)
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			err = fmt.Errorf("%s: %w", r.place(row, trace), err)
		}
		r.finish(job, cell, facts, err)
	}
}

func (r *search) take() (job int, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err != nil || r.next == r.progress.Total {
		return 0, false
	}
	r.next++
	return r.next - 1, true
}

// spec is the policy of a row: a baseline or a point.
func (r *search) spec(row int) policies.Spec {
	if n := len(r.Problem.Baselines); row >= n {
		return r.Space.Spec(row - n)
	}
	return r.Problem.Baselines[row]
}

func (r *search) place(row, trace int) string {
	name := r.spec(row).Text + " on " + r.Cases[trace].Name
	if n := len(r.Problem.Baselines); row >= n {
		return fmt.Sprintf("point %d, %s", row-n, name)
	}
	return name
}

// cells returns the row's place in the study.
func (r *search) cells(row int) []Cell {
	if n := len(r.Problem.Baselines); row >= n {
		return r.study.Points[row-n]
	}
	return r.study.Baselines[row]
}

func (r *search) replay(ctx context.Context, spec policies.Spec, trace int) (Cell, Facts, error) {
	result, err := r.Cases[trace].Stage.Run(ctx, spec, nil)
	if err != nil {
		return Cell{}, Facts{}, err
	}
	s := result.Brief()
	c := Cell{Done: true, Decisions: decisions(result), Metrics: measure(&s)}
	c.Value, err = r.Objective.Value(result, &s)
	if none := (*notFinite)(nil); errors.As(err, &none) {
		c.Value, c.Why, err = math.NaN(), none.text, nil
	}
	return c, Facts{result.Trace, result.Config, result.Cost, result.Warnings}, err
}

// valueless is the error of a search whose points all lack a value on some trace. It shows the first.
func (r *search) valueless() error {
	for row := range r.study.Points {
		for trace, c := range r.study.Points[row] {
			if c.Why != "" {
				return fmt.Errorf("no point has a value on every trace: %s: %s", r.place(row+len(r.Problem.Baselines), trace), c.Why)
			}
		}
	}
	return errors.New("no point is replayed on every trace")
}

// finish files a replay. Replays are taken in order, so that all before the first to fail are finished whatever the number
// of workers, and the error does not depend on it.
func (r *search) finish(job int, c Cell, facts Facts, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil {
		if r.err == nil || job < r.failed {
			r.err, r.failed = err, job
		}
		return
	}
	row, trace := job/len(r.Cases), job%len(r.Cases)
	r.cells(row)[trace] = c
	r.study.Facts[trace] = facts
	r.progress.Done++
	r.advance(row - len(r.Problem.Baselines))
	if r.settings.Progress != nil {
		r.settings.Progress(r.progress)
	}
}

// advance looks whether a point is now replayed on every trace, and the best so far.
func (r *search) advance(point int) {
	if point < 0 || !done(r.study.Points[point]) {
		return
	}
	p := &r.progress
	p.Points++
	if !valued(r.study.Points[point]) {
		return
	}
	sum := 0.0
	for _, c := range r.study.Points[point] {
		sum += c.Value
	}
	if v := sum / float64(len(r.Cases)); p.Best < 0 || v < p.Value || v == p.Value && point < p.Best {
		p.Best, p.Value = point, v
	}
}

// valued says that a row is replayed on every trace and has a value on each.
func valued(cells []Cell) bool {
	return done(cells) && !slices.ContainsFunc(cells, func(c Cell) bool { return math.IsNaN(c.Value) })
}

func done(cells []Cell) bool {
	for _, c := range cells {
		if !c.Done {
			return false
		}
	}
	return true
}
