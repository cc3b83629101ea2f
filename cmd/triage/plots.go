package main

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/seed-2cee110a/triage/reports"
	"github.com/seed-2cee110a/triage/sim"
)

// pictures are the formats of pictures, as a flag.
type pictures []string

func (p *pictures) String() string {
	if len(*p) == 0 {
		return "none"
	}
	return strings.Join(*p, ",")
}

func (p *pictures) Type() string { return "FORMATS" }

func (p *pictures) Set(text string) error {
	formats, err := reports.ParsePlotFormats(text)
	if err != nil {
		return err
	}
	*p = formats
	return nil
}

// bindPlots adds the flag for pictures; by default they are drawn in every format.
func bindPlots(f *pflag.FlagSet, p *pictures) {
	*p = reports.PlotFormats()
	f.Var(p, plots, "pictures in the folder: svg, png, svg,png, or none")
}

// drawResults adds the pictures of a replay, each with its numbers.
func drawResults(ctx context.Context, d *folder, results []*sim.Result, formats []string) error {
	if len(formats) == 0 {
		return nil
	}
	g, err := reports.NewGallery(results...)
	if err != nil {
		return err
	}
	files, err := reports.PlotFiles(g, formats)
	if err != nil {
		return err
	}
	return d.draw(ctx, files)
}

// draw adds a folder of pictures.
func (d *folder) draw(ctx context.Context, files []reports.PlotFile) error {
	if len(files) == 0 {
		return nil
	}
	if err := os.Mkdir(filepath.Join(d.temp, plots), 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return named(filepath.Join(d.path, plots), err)
	}
	for _, p := range files {
		if !slices.Contains(plotEndings, filepath.Ext(p.Name)) {
			panic("triage: " + p.Name + " does not end like a picture, so --force would spare it")
		}
		f, err := os.Create(filepath.Join(d.temp, plots, p.Name))
		if err == nil {
			err = fill(f, p.Write)
		}
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return named(filepath.Join(d.path, plots, p.Name), err)
		}
	}
	return nil
}

// contents lists what is in a folder of results, for a message.
func contents(formats []string, files ...string) string {
	if len(formats) > 0 {
		files = append(files, plots+"/")
	}
	return strings.Join(files, ", ")
}

// drawInto writes pictures into dir, each whole or not at all, and makes dir if it is not there.
func drawInto(ctx context.Context, dir string, files []reports.PlotFile) error {
	if err := os.Mkdir(dir, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return named(dir, err)
	}
	for _, p := range files {
		if err := writeFile(ctx, filepath.Join(dir, p.Name), p.Write); err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}
