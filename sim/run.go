package sim

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/seed-2cee110a/triage/engine"
	"github.com/seed-2cee110a/triage/policies"
	"github.com/seed-2cee110a/triage/traces"
)

// Run replays a trace through one policy.
func Run(cfg Config, spec policies.Spec, t *traces.Trace) (*Result, error) {
	s, err := Prepare(cfg, t)
	if err != nil {
		return nil, err
	}
	return s.Run(context.Background(), spec, nil)
}

// RunAll replays a trace through several policies on so many workers, 0 for one. The results come in the order of the
// specs and do not depend on the number of workers. progress, if not nil, is called from the workers with the requests
// played so far, over all runs, and their total.
func RunAll(ctx context.Context, cfg Config, specs []policies.Spec, t *traces.Trace, workers int, progress func(done, total int64)) ([]*Result, error) {
	s, err := Prepare(cfg, t)
	if err != nil {
		return nil, err
	}
	return s.RunAll(ctx, specs, workers, progress)
}

// RunAll is the function RunAll on a stage that is ready.
func (s *Stage) RunAll(ctx context.Context, specs []policies.Spec, workers int, progress func(done, total int64)) ([]*Result, error) {
	results, errs := make([]*Result, len(specs)), make([]error, len(specs))
	step := stepper(progress, int64(len(specs)*s.cfg.Limit))
	jobs := make(chan int)
	var wg sync.WaitGroup
	for range max(1, min(workers, len(specs))) {
		wg.Go(func() {
			for i := range jobs {
				results[i], errs[i] = s.Run(ctx, specs[i], step)
			}
		})
	}
	for i := range specs {
		jobs <- i
	}
	close(jobs)
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return results, nil
}

// stepper returns a function that adds to a common count and tells progress.
func stepper(progress func(done, total int64), total int64) func(int) {
	if progress == nil {
		return nil
	}
	var mu sync.Mutex
	var done int64
	return func(n int) {
		mu.Lock()
		defer mu.Unlock()
		done += int64(n)
		progress(done, total)
	}
}

// run is a replay in progress.
type run struct {
	*Stage
	*workshop
	routers  []*router
	ward     *ward  // nil without faults
	chain    *chain // nil with open sessions
	now      engine.Time
	arrived  int // requests that have arrived
	over     int // requests that have an outcome
	streams  streams
	limiter  *policies.Limiter    // nil without rate limits
	sinks    []policies.EventSink // policies that want to know what replicas store and evict
	stored   []policies.Block     // scratch
	eventful bool                 // every delivery has an effect elsewhere, so that none may be heard of late
	ages     []time.Duration
	result   *Result
}

// tick is how many instants pass between looks at the context.
const tick = 1 << 14

// lastInstant is where a run is given up: what is beyond may not fit a Time.
const lastInstant = engine.Never / 2

// Run replays the trace through one policy. step, if not nil, is told how many more requests have arrived.
func (s *Stage) Run(ctx context.Context, spec policies.Spec, step func(int)) (*Result, error) {
	r, err := s.start(spec)
	if err != nil {
		return nil, err
	}
	return r.play(ctx, step)
}

// play goes from instant to instant until no work is left.
func (r *run) play(ctx context.Context, step func(int)) (*Result, error) {
	told := 0
	for n := 1; ; n++ {
		r.now = r.instant()
		if r.now == engine.Never {
			break
		}
		if r.now > lastInstant {
			return nil, fmt.Errorf("%s: after %.0f days %d of %d requests are not finished; the cluster is far too slow for them",
				r.result.Policy, lastInstant.Seconds()/86400, r.cfg.Limit-r.over, r.cfg.Limit)
		}
		r.everything()
		if n%tick == 0 || r.arrived == r.cfg.Limit && told < r.cfg.Limit {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			if step != nil && r.arrived > told {
				step(r.arrived - told)
			}
			told = r.arrived
		}
	}
	return r.finish(), nil
}

// everything lets all that is due now happen, kind by kind.
func (r *run) everything() {
	changed := false
	for k := range numKinds {
		if k != repick || changed {
			changed = r.happen(k) || changed
		}
	}
	r.close()
}

func (s *Stage) start(spec policies.Spec) (*run, error) {
	w, err := s.borrow()
	if err != nil {
		return nil, err
	}
	n := s.cfg.Replicas
	r := &run{Stage: s, workshop: w, ward: newWard(s), chain: newChain(s), streams: newStreams(s), limiter: s.newLimiter(), eventful: s.eventful}
	for range max(1, s.cfg.Routers.N) {
		r.routers = append(r.routers, s.newRouter(spec))
	}
	r.listen()
	if r.ward != nil {
		for _, w := range r.routers {
			for i, u := range s.unborn {
				w.view.Replicas[i].Cordoned = u
			}
		}
	}
	r.result = &Result{Policy: spec.Label, Spec: spec, Config: s.cfg, Trace: s.trace, Warnings: s.warnings, Cost: s.note,
		Outcomes: make([]Outcome, s.cfg.Limit), Replicas: make([]ReplicaResult, n)}
	r.result.Adapters, r.result.Reused = s.adapters, s.reused()
	if !r.routers[0].believes() {
		r.result.Believed = -1
	}
	if s.cfg.Decisions {
		r.result.Decided = make([]Decided, s.cfg.Limit)
	}
	return r, nil
}

// close ends the instant: steps that are due now are formed.
func (r *run) close() {
	for i, touched := range r.touched {
		if touched {
			if r.cfg.Signals.Push > 0 {
				r.push(i)
			}
			r.touched[i] = false
			r.next[i] = r.engines[i].Next()
			if len(r.sinks) > 0 {
				r.publish(i)
			}
		}
	}
}

// finish completes the result.
func (r *run) finish() *Result {
	for i, e := range r.engines {
		r.result.Replicas[i].Name, r.result.Replicas[i].Pool = r.replicas[i].Name, r.of[i].index
		r.result.Replicas[i].Stats = e.Stats()
	}
	if r.over != r.cfg.Limit {
		panic("sim: a request has no outcome, or two")
	}
	r.result.Signals = ageOf(r.ages)
	for _, w := range r.routers {
		if b, ok := w.policy.(policies.BeliefReporter); ok {
			r.result.reporters = append(r.result.reporters, b)
		}
	}
	if r.ward != nil {
		r.aftermath()
	}
	r.giveBack(r.workshop)
	return r.result
}

// ageOf summarises ages; with live signals there are none, and all were 0.
func ageOf(ages []time.Duration) SignalAge {
	if len(ages) == 0 {
		return SignalAge{}
	}
	s := make([]float64, len(ages))
	for i, a := range ages {
		s[i] = a.Seconds()
	}
	q := quantiles(s)
	return SignalAge{Mean: q.Mean, P50: q.P50, P95: q.P95, Max: q.Max}
}
