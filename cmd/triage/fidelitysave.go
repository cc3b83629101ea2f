package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/pflag"

	"github.com/seed-2cee110a/triage/reports"
	"github.com/seed-2cee110a/triage/sim/fidelity"
	"github.com/seed-2cee110a/triage/sim/trust"
)

// fidelityOutput says what of a comparison with measurements is kept, and where.
type fidelityOutput struct {
	dir     string // folder for result.json, the manifest and pictures; "" is none
	force   bool   // replace dir
	formats pictures
	table   string // file for the error table; "" is none
}

func (o *fidelityOutput) bind(f *pflag.FlagSet) {
	f.VarP(path{&o.dir}, "output", "o", "folder `DIR` for result.json, manifest.json and pictures of measured against simulated")
	f.BoolVar(&o.force, "force", false, "replace an existing output folder")
	bindPlots(f, &o.formats)
	f.Var(path{&o.table}, "write-table", "`FILE` for the table of errors that a program is built with")
}

// check finds what is wrong before any work is done on the measurements in data.
func (o *fidelityOutput) check(data string) error {
	switch {
	case data == "" && (o.dir != "" || o.table != ""):
		return errors.New("--data is missing: -o and --write-table keep what comes out of measurements")
	case o.force && o.dir == "":
		return errors.New("--force replaces the folder of -o, which is not given")
	case o.table != "" && data != "" && within(data, o.table):
		return fmt.Errorf("--write-table %s is in the folder of measurements, which are only read; want a file elsewhere", o.table)
	case o.table != "" && o.dir != "" && within(o.dir, o.table):
		return fmt.Errorf("--write-table %s is in the folder %s of -o, which appears as a whole; want a file elsewhere", o.table, o.dir)
	}
	if o.table != "" {
		if err := checkFile(o.table); err != nil {
			return err
		}
	}
	if o.dir == "" {
		return nil
	}
	if err := checkOutside(o.dir, "the folder of measurements", data); err != nil {
		return err
	}
	return checkFolder(o.dir, o.force)
}

// write keeps what is to be kept and says so.
func (o *fidelityOutput) write(ctx context.Context, r *fidelity.Report, data, command string, v reports.Volatile, stderr io.Writer) error {
	if o.dir == "" && o.table == "" {
		return nil
	}
	sum, files, err := fidelity.Digest(data)
	if err != nil {
		return err
	}
	var all []pending
	if o.table != "" {
		d, err := newDraft(ctx, o.table, trust.New(r, sum, files).Write)
		if err != nil {
			return explain(err)
		}
		defer d.discard()
		all = append(all, pending{o.table, d.commit})
	}
	if o.dir != "" {
		m := &reports.FidelityManifest{Tool: tool(), Command: command, Data: sum, Files: files, Seed: r.Seed, Cost: trust.CostDigest(), Volatile: v}
		d, err := o.folder(ctx, r, m)
		if err != nil {
			return explain(err)
		}
		defer d.discard()
		all = append(all, pending{o.dir + ": " + contents(o.formats, "result.json", manifestName), d.commit})
	}
	return commit(ctx, all, stderr)
}

func (o *fidelityOutput) folder(ctx context.Context, r *fidelity.Report, m *reports.FidelityManifest) (*folder, error) {
	d, err := newFolder(o.dir)
	if err != nil {
		return nil, err
	}
	d.replace = o.force
	for _, p := range []part{{"result.json", func(w io.Writer) error { return reports.FidelityJSON(w, r) }}, {manifestName, m.JSON}} {
		if err == nil {
			err = d.write(p.name, p.write)
		}
	}
	if err == nil {
		err = d.draw(ctx, reports.FidelityPlotFiles(r, o.formats))
	}
	if err != nil {
		d.discard()
		return nil, err
	}
	return d, nil
}

// tableOfErrors prints those that the program was built with.
func tableOfErrors(w io.Writer, format string) error {
	for _, r := range reports.TrustCatalog() {
		if r.Name == format {
			return r.Write(w, trust.Embedded())
		}
	}
	return usage{errors.New("unknown format " + format)}
}
