package main

import (
	"context"
	"io"
	"sync"
	"time"

	"github.com/seed-2cee110a/triage/reports"
	"github.com/seed-2cee110a/triage/sim"
	"github.com/seed-2cee110a/triage/traces"
)

// asides replays what the findings of a comparison ask for beside its runs, on as many workers, and draws them again.
func (j *job) asides(ctx context.Context, c *reports.Comparison, t *traces.Trace, stderr io.Writer) error {
	list := c.Asides(j.perfect)
	if len(list) == 0 {
		return nil
	}
	p := startProgress(stderr, time.Second/2)
	defer p.stop()
	results, errs := make([]*sim.Result, len(list)), make([]error, len(list))
	var wg sync.WaitGroup
	free := make(chan struct{}, j.workers)
	for i, a := range list {
		free <- struct{}{}
		wg.Go(func() {
			results[i], errs[i] = aside(ctx, a, t)
			<-free
		})
	}
	wg.Wait()
	for i, a := range list {
		if errs[i] != nil {
			return errs[i]
		}
		c.Answer(a, results[i])
	}
	c.Conclude()
	return nil
}

func aside(ctx context.Context, a reports.Aside, t *traces.Trace) (*sim.Result, error) {
	stage, err := sim.Prepare(a.Config, t)
	if err != nil {
		return nil, err
	}
	return stage.Run(ctx, a.Spec, nil)
}
