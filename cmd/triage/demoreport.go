package main

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-2cee110a/triage/policies"
	"github.com/seed-2cee110a/triage/reports"
	"github.com/seed-2cee110a/triage/sim"
	"github.com/seed-2cee110a/triage/sim/tune"
)

// demoFolder is where demo leaves its report.
const demoFolder = "triage-demo"

// demoPage explains the pictures in it.
const demoPage = "README.md"

// demoGrid is small, so that a first look does not take long.
var demoGrid = []string{"aff=0,10", "q=1,3,10,30", "load=0.02,0.2,2"}

// leaveReport tunes, replays with the tuned policy too, and writes the folder.
func leaveReport(ctx context.Context, j *job, stderr io.Writer) error {
	t, err := tuneDemo(ctx, j)
	if err != nil {
		return err
	}
	j.policies = append(j.policies, "tuned="+t.Study.Space.Spec(t.Study.Recommended).Text)
	j.save.more = func(ctx context.Context, d *folder, c *reports.Comparison, results []*sim.Result) ([]string, error) {
		return explainDemo(ctx, d, t, c, results, j.save.formats)
	}
	return j.run(ctx, embedded, io.Discard, stderr)
}

// tuneDemo searches the scorer's weights on the embedded trace.
func tuneDemo(ctx context.Context, j *job) (*reports.Tuning, error) {
	base, err := policies.Parse("score")
	if err != nil {
		return nil, err
	}
	p := tune.Problem{Baselines: baselinesOf(base)}
	if p.Space, err = tune.ParseSpace(base, demoGrid); err != nil {
		return nil, err
	}
	if p.Objective, err = tune.ParseObjective(tune.DefaultObjective); err != nil {
		return nil, err
	}
	t, err := open(ctx, embedded, j.read)
	if err != nil {
		return nil, err
	}
	stage, err := sim.Prepare(j.cfg, t)
	if err != nil {
		return nil, err
	}
	p.Cases = []tune.Case{{Name: t.Name, Stage: stage}}
	study, err := tune.Search(ctx, p, tune.Settings{Workers: j.workers})
	if err != nil {
		return nil, err
	}
	return reports.NewTuning(study, shellLine("triage tune", []string{embedded}, flagsOf(study)), []string{"triage replay demo"})
}

// explainDemo adds to a folder of results what the search found and a page that explains the pictures.
func explainDemo(ctx context.Context, d *folder, t *reports.Tuning, c *reports.Comparison, results []*sim.Result, formats pictures) ([]string, error) {
	if err := d.draw(ctx, reports.TuningPlotFiles(reports.NewSweep(t), formats)); err != nil {
		return nil, err
	}
	g, err := reports.NewGallery(results...)
	if err != nil {
		return nil, err
	}
	files := append([]part{{"sweep.parquet", func(w io.Writer) error { return reports.TuningParquet(w, t) }}}, weightsPart(t, io.Discard)...)
	var names []string
	for _, f := range files {
		names = append(names, f.name)
	}
	page := &reports.Page{Comparison: c, Gallery: g, Tuning: t, Image: shownFormat(formats),
		Files: append([]string{"result.json", "outcomes.parquet", manifestName}, names...)}
	for _, f := range append(files, part{demoPage, page.Markdown}) {
		if err := d.write(f.name, f.write); err != nil {
			return nil, err
		}
	}
	return append(names, demoPage), nil
}

// shownFormat is that of the pictures in the page: PNG looks the same everywhere.
func shownFormat(formats pictures) string {
	switch {
	case len(formats) == 0:
		return ""
	case slices.Contains(formats, "png"):
		return "png"
	}
	return formats[0]
}

// earlierDemo reports whether a folder holds what demo leaves, which the next demo replaces.
func earlierDemo(dir string) bool {
	if _, err := os.Stat(filepath.Join(dir, demoPage)); err != nil {
		return false
	}
	data, err := os.ReadFile(filepath.Join(dir, manifestName))
	if err != nil {
		return false
	}
	var m struct{ Command string }
	return manifestOurs(filepath.Join(dir, manifestName)) && json.Unmarshal(data, &m) == nil &&
		strings.HasPrefix(m.Command, "triage replay demo ")
}
