package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/pflag"

	"github.com/seed-2cee110a/triage/traces"
)

// bindTrace binds the flags that say how a trace is read.
func bindTrace(f *pflag.FlagSet, o *traces.Options) {
	f.Var(choice[string]{&o.Format, traceFormats()}, "trace-format", "format of the trace, where its content does not say")
	f.Var(blockSize(&o.BlockSize), "trace-block-size", "tokens behind one hash id, where the format does not say")
	f.Var(count[int]{&o.Limit}, "limit", "read only the first requests; 0 reads all")
	f.Var(adapters{&o.Adapters}, "adapters", "give each session a LoRA adapter, in place of the trace's: zipf:s=1.1,n=64 by popularity, identical, or distinct; base=0.2 leaves a share to the base model, seed=2 draws again")
}

// adapters is a flag for an overlay of adapters.
type adapters struct{ p *traces.Adapters }

func (a adapters) String() string { return a.p.String() }
func (a adapters) Type() string   { return "SPEC" }

func (a adapters) Set(text string) (err error) {
	*a.p, err = traces.ParseAdapters(text)
	return err
}

// maxTraceBlock is the largest block that a trace can have, tokens.
const maxTraceBlock = 1 << 20

func blockSize(p *int) bounded { return bounded{count[int]{p}, 1, maxTraceBlock} }

func traceFormats() []string {
	var names []string
	for _, f := range traces.Formats() {
		names = append(names, f.Name)
	}
	return names
}

// open loads a trace and gives up when ctx ends, even while it waits for standard input.
func open(ctx context.Context, name string, o traces.Options) (*traces.Trace, error) {
	if name == "" {
		return nil, usage{errors.New("the name of a trace is empty, want a file, - or demo")}
	}
	if info, err := statInput(name); err == nil && info.IsDir() {
		return nil, fmt.Errorf("%s is a directory, want a trace", name)
	}
	t, err := interruptible(ctx, func() (*traces.Trace, error) { return traces.Open(name, o) })
	if err == nil && t.Len() == 0 {
		return nil, errors.New(name + ": no requests, want at least one")
	}
	return t, err
}
