package reports

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// picture is a plot of a replay: its file name without ending and the question it answers.
type picture struct {
	name     string
	question string
	draw     func(g *Gallery) Plot
}

// pictures of a replay; a row is all that a new one needs.
var pictures = []picture{
	{"affinity", "does affinity pay, and where?", func(g *Gallery) Plot {
		s := NewAffinitySeries(g)
		return Plot{affinityDrawing(s), s.CSV}
	}},
	{"ttft", "which policy?", func(g *Gallery) Plot {
		s := NewECDFSeries(g)
		return Plot{ecdfDrawing(s), s.CSV}
	}},
	{"load", "is a replica hot, and what does it hit?", func(g *Gallery) Plot {
		s := NewLoadSeries(g)
		return Plot{loadDrawing(s), s.CSV}
	}},
}

// Plot is a picture and its numbers.
type Plot struct {
	drawing *drawing
	csv     func(io.Writer) error
}

// PlotFile is a file of a folder of plots.
type PlotFile struct {
	Name  string
	Write func(io.Writer) error
}

// files are the plot in every format, and its numbers.
func (p Plot) files(name string, formats []string) []PlotFile {
	var out []PlotFile
	for _, f := range formats {
		out = append(out, PlotFile{name + "." + f, func(w io.Writer) error { return p.drawing.render(w, f) }})
	}
	return append(out, PlotFile{name + ".csv", p.csv})
}

// PlotFiles are the pictures of a replay in those formats, each with its numbers as CSV; none without a format. At most
// six policies are drawn, the first ones, because more colours are not told apart; the last note of each picture says so.
func PlotFiles(g *Gallery, formats []string) ([]PlotFile, error) {
	if len(g.Runs) == 0 {
		return nil, errNoRuns
	}
	if len(formats) == 0 {
		return nil, nil
	}
	shown, note := *g, ""
	if most := len(categories); len(g.Runs) > most {
		shown.Runs = g.Runs[:most]
		note = fmt.Sprintf("Drawn are the first %d of %d policies.", most, len(g.Runs))
	}
	var out []PlotFile
	for _, pic := range pictures {
		p := pic.draw(&shown)
		if note != "" {
			p.drawing.notes = append(p.drawing.notes, note)
		}
		out = append(out, p.files(pic.name, formats)...)
	}
	return out, nil
}

// ParsePlotFormats reads a list such as "svg,png", or "none" for an empty one.
func ParsePlotFormats(text string) ([]string, error) {
	if text == "none" {
		return nil, nil
	}
	var out []string
	for _, f := range strings.Split(text, ",") {
		if !slices.Contains(PlotFormats(), f) {
			return nil, fmt.Errorf("unknown picture format %q (have %s; none for no pictures)", f, strings.Join(PlotFormats(), ", "))
		}
		if !slices.Contains(out, f) {
			out = append(out, f)
		}
	}
	return out, nil
}
