package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/spf13/pflag"

	"github.com/seed-2cee110a/triage/reports"
	"github.com/seed-2cee110a/triage/sim"
	"github.com/seed-2cee110a/triage/traces"
)

const manifestName = "manifest.json"

// output says what of a replay is kept, and where.
type output struct {
	dir      string // folder for result.json, outcomes.parquet and the manifest; "" is none
	outcomes string // file for a row a request and policy; "" is none
	force    bool   // replace dir
}

func bindOutput(f *pflag.FlagSet, o *output) {
	f.StringVarP(&o.dir, "output", "o", "", "folder `DIR` for result.json, outcomes.parquet and manifest.json")
	f.StringVar(&o.outcomes, "outcomes", "", "`FILE` for a row a request and policy; its ending, .parquet, .jsonl or .csv, is the format")
	f.BoolVar(&o.force, "force", false, "replace an existing output folder")
}

// wanted says whether anything is kept that shows single decisions.
func (o *output) wanted() bool { return o.dir != "" || o.outcomes != "" }

// check finds what is wrong before any work is done.
func (o *output) check() error {
	if o.outcomes != "" {
		if err := traces.CheckOutcomeName(o.outcomes); err != nil {
			return err
		}
		if err := checkParent(o.outcomes); err != nil {
			return err
		}
	}
	if o.dir == "" {
		return nil
	}
	return checkFolder(o.dir, o.force)
}

func checkParent(path string) error {
	parent := filepath.Dir(filepath.Clean(path))
	info, err := os.Stat(parent)
	switch {
	case err != nil:
		return named(parent, err)
	case !info.IsDir():
		return fmt.Errorf("%s is not a folder", parent)
	}
	return nil
}

// write keeps what is to be kept and says so.
func (o *output) write(ctx context.Context, c *reports.Comparison, results []*sim.Result, v reports.Volatile, stderr io.Writer) error {
	if o.outcomes != "" {
		err := writeFile(o.outcomes, func(w io.Writer) error { return writeOutcomes(ctx, w, o.outcomes, results) })
		if err != nil {
			return explain(err)
		}
		fmt.Fprintf(stderr, "wrote %s\n", o.outcomes)
	}
	if o.dir == "" {
		return nil
	}
	if err := o.writeFolder(ctx, c, results, v); err != nil {
		return explain(err)
	}
	fmt.Fprintf(stderr, "wrote %s: result.json, outcomes.parquet, %s\n", o.dir, manifestName)
	return nil
}

func (o *output) writeFolder(ctx context.Context, c *reports.Comparison, results []*sim.Result, v reports.Volatile) error {
	d, err := newFolder(o.dir)
	if err != nil {
		return err
	}
	defer d.discard()
	m, err := reports.NewManifest(c, tool(), v)
	if err != nil {
		return err
	}
	for _, f := range []struct {
		name  string
		write func(io.Writer) error
	}{
		{"result.json", func(w io.Writer) error { return reports.JSON(w, c) }},
		{"outcomes.parquet", func(w io.Writer) error { return writeOutcomes(ctx, w, "outcomes.parquet", results) }},
		{manifestName, m.JSON},
	} {
		if err := d.write(f.name, f.write); err != nil {
			return err
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return d.commit()
}

// writeOutcomes writes the rows of all runs, in the order of the runs, in the format of the name's ending.
func writeOutcomes(ctx context.Context, w io.Writer, name string, results []*sim.Result) error {
	out, err := traces.NewOutcomeWriter(w, name, results[0].Trace.Meta)
	if err != nil {
		return err
	}
	n := 0
	for _, r := range results {
		for o := range r.Joined() {
			if n++; n%4096 == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			if err := out.Write(o); err != nil {
				return err
			}
		}
	}
	return out.Close()
}

// explain says what to do about a full disk.
func explain(err error) error {
	if errors.Is(err, syscall.ENOSPC) {
		return fmt.Errorf("%w; nothing was kept, free some space and run it again", err)
	}
	return err
}

// stopwatch returns a function that tells the time used since now.
func stopwatch() func() reports.Volatile {
	start := time.Now()
	return func() reports.Volatile {
		var used syscall.Rusage
		v := reports.Volatile{WallS: time.Since(start).Seconds()}
		if syscall.Getrusage(syscall.RUSAGE_SELF, &used) == nil {
			v.CPUS = time.Duration(used.Utime.Nano() + used.Stime.Nano()).Seconds()
		}
		return v
	}
}
