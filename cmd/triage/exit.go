package main

import (
	"context"
	"errors"
	"io/fs"
	"os"

	"github.com/spf13/cobra"
)

// Exit codes.
const (
	exitOK          = 0
	exitFailed      = 1
	exitUsage       = 2
	exitGate        = 3 // a gate failed
	exitDoubt       = 4 // a gate is inconclusive and --strict is given
	exitInterrupted = 130
)

// failed marks an error as no fault of the command line: bad data, or reading or writing went wrong.
type failed struct{ error }

func (f failed) Unwrap() error { return f.error }

// usage marks an error as a fault of the command line or the configuration, found while a command runs.
type usage struct{ error }

func (u usage) Unwrap() error { return u.error }

// action makes a command's function. Its errors count as failures unless they are marked as usage; errors that cobra
// finds before it runs are usage.
func action(f func(cmd *cobra.Command, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		if err := f(cmd, args); err != nil {
			return failed{err}
		}
		return nil
	}
}

func exitCode(err error) int {
	var u usage
	var f failed
	var g gated
	switch {
	case errors.As(err, &g):
		return g.code
	case errors.Is(err, context.Canceled):
		return exitInterrupted
	case errors.As(err, &u) || !errors.As(err, &f):
		return exitUsage
	}
	return exitFailed
}

func message(err error) string {
	if errors.Is(err, context.Canceled) {
		return "interrupted"
	}
	return err.Error()
}

// bare strips the operation and the file name of an I/O error, for messages that name the file themselves.
func bare(err error) error {
	var p *fs.PathError
	var l *os.LinkError
	switch {
	case errors.As(err, &p):
		return p.Err
	case errors.As(err, &l):
		return l.Err
	}
	return err
}

// interruptible runs f, which knows no context, and stops waiting for it when ctx ends.
func interruptible[T any](ctx context.Context, f func() (T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	done := make(chan result, 1)
	go func() {
		value, err := f()
		done <- result{value, err}
	}()
	select {
	case r := <-done:
		return r.value, r.err
	case <-ctx.Done():
		var none T
		return none, context.Canceled
	}
}
