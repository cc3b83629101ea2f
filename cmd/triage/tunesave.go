package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/seed-2cee110a/triage/reports"
)

// keep writes the output folder, if one is wanted, and says so.
func (j *tuneJob) keep(ctx context.Context, t *reports.Tuning, v reports.Volatile, stderr io.Writer) error {
	if j.save.dir == "" {
		return nil
	}
	names, err := j.writeFolder(ctx, t, v, stderr)
	if err != nil {
		return explain(err)
	}
	fmt.Fprintf(stderr, "wrote %s: %s\n", j.save.dir, strings.Join(names, ", "))
	return nil
}

// part is a file of the output folder.
type part struct {
	name  string
	write func(io.Writer) error
}

func (j *tuneJob) writeFolder(ctx context.Context, t *reports.Tuning, v reports.Volatile, stderr io.Writer) (names []string, err error) {
	m, err := reports.NewTuneManifest(t, tool(), v)
	if err != nil {
		return nil, err
	}
	d, err := newFolder(j.save.dir)
	if err != nil {
		return nil, err
	}
	defer d.discard()
	d.replace = j.save.force
	files := []part{
		{"sweep.parquet", func(w io.Writer) error { return reports.TuningParquet(w, t) }},
		{"result.json", func(w io.Writer) error { return reports.TuningJSON(w, t) }},
	}
	files = append(files, weightsPart(t, stderr)...)
	for _, p := range append(files, part{manifestName, m.JSON}) {
		if err := d.write(p.name, p.write); err != nil {
			return nil, err
		}
		names = append(names, p.name)
	}
	if err := d.draw(ctx, reports.TuningPlotFiles(reports.NewSweep(t), j.save.formats)); err != nil {
		return nil, err
	}
	if len(j.save.formats) > 0 {
		names = append(names, plots+"/")
	}
	return names, d.commit()
}

// weightsPart is the file for a live router: none for a policy without weights, with weights that no router can run, or
// that are clearly worse than what was replayed beside them.
func weightsPart(t *reports.Tuning, stderr io.Writer) []part {
	w, ok := t.Study.Weights("triage " + tool().Version)
	if !ok {
		return nil
	}
	if better := t.Outdone(); better != "" {
		fmt.Fprintf(stderr, "no weights.json: %s is better than every point of the grid; search around it\n", better)
		return nil
	}
	data, err := w.Encode()
	if err != nil {
		fmt.Fprintf(stderr, "no weights.json: %v\n", err)
		return nil
	}
	return []part{{"weights.json", func(w io.Writer) error { _, err := w.Write(data); return err }}}
}
