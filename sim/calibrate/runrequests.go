package calibrate

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/seed-2cee110a/triage/engine"
)

func runRequests(ctx context.Context, l *Log, s Settings, f *form) (*Result, error) {
	if err := l.check(s); err != nil {
		return nil, err
	}
	server, err := l.newServer(s.Engine, s.BlockSize)
	if err != nil {
		return nil, err
	}
	n := l.firstPart(1 - s.HoldOut)
	t := newFitter(l, server, f, n)
	if t.fitted < leastRequests {
		return nil, refuse("%s: %d requests can be fitted (%d in the log, the last %.0f %% kept for the error), want at least %d", l.Name, t.fitted, len(l.Requests), 100*s.HoldOut, leastRequests)
	}
	if math.IsNaN(t.tpot) {
		return nil, refuse("%s: no output has more than one token, so nothing is known of decoding; want longer outputs", l.Name)
	}
	if t.steady() {
		if err := f.keepLoad(); err != nil {
			return nil, fmt.Errorf("%s: %w", l.Name, err)
		}
	}
	if err := t.converge(ctx); err != nil {
		return nil, err
	}
	r := &Result{Log: l, Settings: s, Coefficients: f.coefs, Fitted: t.fitted}
	if err := r.predict(ctx, server, f, n); err != nil {
		return nil, err
	}
	return r, r.complete(f, "requests", "TTFT and TPOT, as means of cells of like requests, outliers beyond 3 sigma weighed down")
}

// firstPart counts the requests that arrived in the first share of the log's time; of its requests, if all came at once.
func (l *Log) firstPart(share float64) int {
	all := len(l.Requests)
	end := l.Requests[all-1].At
	switch {
	case share >= 1:
		return all
	case end == 0:
		return max(1, int(share*float64(all)))
	}
	n, _ := slices.BinarySearchFunc(l.Requests, engine.Time(share*float64(end)), func(r Request, at engine.Time) int { return cmp.Compare(r.At, at) })
	return max(1, n)
}

// converge fits, and fits again without what the log does not tell, until it tells the rest.
func (t *fitter) converge(ctx context.Context) error {
	for {
		free := t.form.free()
		x, q, err := t.best(ctx, free)
		if err != nil {
			return err
		}
		done, err := t.form.settle(x, q)
		if err != nil {
			return fmt.Errorf("%s: %w", t.log.Name, err)
		}
		if done {
			return nil
		}
	}
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
