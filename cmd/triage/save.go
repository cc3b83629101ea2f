package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"syscall"
	"time"

	"github.com/spf13/pflag"

	"github.com/seed-2cee110a/triage/reports"
	"github.com/seed-2cee110a/triage/sim"
	"github.com/seed-2cee110a/triage/traces"
)

// output says what of a replay is kept, and where.
type output struct {
	dir      string   // folder for result.json, outcomes.parquet and the manifest; "" is none
	outcomes string   // file for a row a request and policy; "" is none
	force    bool     // replace dir
	formats  pictures // of pictures in dir
	more     extra    // adds to dir; may be nil
}

// extra adds files to a folder of results and returns their names.
type extra func(ctx context.Context, d *folder, c *reports.Comparison, results []*sim.Result) ([]string, error)

func bindOutput(f *pflag.FlagSet, o *output) {
	f.VarP(path{&o.dir}, "output", "o", "folder `DIR` for result.json, outcomes.parquet, manifest.json and pictures")
	f.Var(path{&o.outcomes}, "outcomes", "`FILE` for a row a request and policy; its ending, .parquet, .jsonl or .csv, is the format")
	f.BoolVar(&o.force, "force", false, "replace an existing output folder")
	bindPlots(f, &o.formats)
}

// wanted says whether anything is kept that shows single decisions.
func (o *output) wanted() bool { return o.dir != "" || o.outcomes != "" }

// check finds what is wrong before any work is done, with the trace to read.
func (o *output) check(trace string) error {
	if o.force && o.dir == "" {
		return errors.New("--force replaces the folder of -o, which is not given")
	}
	if err := o.clash(trace); err != nil {
		return err
	}
	if o.outcomes != "" {
		if err := traces.CheckOutcomeName(o.outcomes); err != nil {
			return err
		}
		if err := checkFile(o.outcomes); err != nil {
			return err
		}
	}
	if o.dir == "" {
		return nil
	}
	return checkFolder(o.dir, o.force)
}

// clash finds outputs that would destroy the trace or each other.
func (o *output) clash(trace string) error {
	if o.outcomes != "" {
		if err := checkApart(trace, o.outcomes); err != nil {
			return err
		}
	}
	if o.dir == "" {
		return nil
	}
	if o.outcomes != "" && within(o.dir, o.outcomes) {
		return fmt.Errorf("--outcomes %s is in the folder %s of -o, which appears as a whole; want a file elsewhere", o.outcomes, o.dir)
	}
	return checkTraceOutside(o.dir, trace)
}

// pending is something written that waits to be put in place.
type pending struct {
	what   string // for the message
	commit func() error
}

// write keeps what is to be kept and says so. Nothing is put in place before all is written.
func (o *output) write(ctx context.Context, c *reports.Comparison, results []*sim.Result, v reports.Volatile, stderr io.Writer) error {
	var all []pending
	if o.outcomes != "" {
		d, err := newDraft(ctx, o.outcomes, func(w io.Writer) error { return writeOutcomes(ctx, w, o.outcomes, results) })
		if err != nil {
			return explain(err)
		}
		defer d.discard()
		all = append(all, pending{o.outcomes, d.commit})
	}
	if o.dir != "" {
		d, err := newFolder(o.dir)
		if err != nil {
			return explain(err)
		}
		defer d.discard()
		d.replace = o.force
		if err := fillFolder(ctx, d, c, results, v); err != nil {
			return explain(err)
		}
		if err := drawResults(ctx, d, results, o.formats); err != nil {
			return explain(err)
		}
		names := []string{"result.json", "outcomes.parquet", manifestName}
		if o.more != nil {
			added, err := o.more(ctx, d, c, results)
			if err != nil {
				return explain(err)
			}
			names = append(names, added...)
		}
		all = append(all, pending{o.dir + ": " + contents(o.formats, names...), d.commit})
	}
	return commit(ctx, all, stderr)
}

// commit puts everything in place, in order, and names what is.
func commit(ctx context.Context, all []pending, stderr io.Writer) error {
	for i, p := range all {
		err := ctx.Err()
		if err == nil {
			err = p.commit()
		}
		switch {
		case err != nil && i == 0:
			return explain(err)
		case err != nil:
			return err
		}
		fmt.Fprintf(stderr, "wrote %s\n", p.what)
	}
	return nil
}

// fillFolder writes the files of a folder of results.
func fillFolder(ctx context.Context, d *folder, c *reports.Comparison, results []*sim.Result, v reports.Volatile) error {
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
	return nil
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
