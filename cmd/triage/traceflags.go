package main

import (
	"context"
	"errors"

	"github.com/spf13/pflag"

	"github.com/seed-2cee110a/triage/traces"
)

// bindTrace binds the flags that say how a trace is read.
func bindTrace(f *pflag.FlagSet, o *traces.Options) {
	f.Var(choice[string]{&o.Format, traceFormats()}, "trace-format", "format of the trace, where its content does not say")
	f.Var(count[int]{&o.BlockSize}, "trace-block-size", "tokens behind one hash id, where the format does not say")
	f.Var(count[int]{&o.Limit}, "limit", "read only the first requests; 0 reads all")
}

func traceFormats() []string {
	var names []string
	for _, f := range traces.Formats() {
		names = append(names, f.Name)
	}
	return names
}

// open loads a trace and gives up when ctx ends, even while it waits for standard input.
func open(ctx context.Context, name string, o traces.Options) (*traces.Trace, error) {
	t, err := interruptible(ctx, func() (*traces.Trace, error) { return traces.Open(name, o) })
	if err == nil && t.Len() == 0 {
		return nil, errors.New(name + ": no requests, want at least one")
	}
	return t, err
}
