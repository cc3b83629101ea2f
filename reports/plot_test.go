package reports

import (
	"bytes"
	"encoding/xml"
	"errors"
	"image/png"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-2cee110a/triage/traces"
)

// done is a completed request: dispatched on arrival, finished a second after its first token.
func done(arrived, ttft float64, prompt, hit, could, replica int32) PlayedRequest {
	return PlayedRequest{Prompt: prompt, Hit: hit, Could: could, Replica: replica, Completed: true,
		Arrived: arrived, Dispatched: arrived, Finished: arrived + ttft + 1, TTFT: ttft}
}

// gone is a request that was refused on arrival.
func gone(arrived float64, prompt int32) PlayedRequest {
	nan := math.NaN()
	return PlayedRequest{Prompt: prompt, Hit: traces.Unknown, Could: 0, Replica: -1, Arrived: arrived, Dispatched: nan, Finished: nan, TTFT: nan}
}

// handGallery has two policies on two replicas and six requests of one length, of which the second policy refuses one.
func handGallery() *Gallery {
	names := []string{"r0", "r1"}
	return &Gallery{Trace: "hand.jsonl", Runs: []Played{
		{"round-robin", names, []PlayedRequest{
			done(0, 4, 100, 0, 96, 0), done(1, 2, 100, 0, 96, 1), done(2, 1.5, 100, 48, 96, 0),
			done(3, 1, 100, 96, 96, 1), done(4, 1, 100, 96, 96, 0), done(5, 0.5, 100, 16, 96, 1)}},
		{"score", names, []PlayedRequest{
			done(0, 2, 100, 0, 96, 0), done(1, 0.5, 100, 80, 96, 0), done(2, 0.5, 100, 96, 96, 0),
			done(3, 0.5, 100, 96, 96, 0), done(4, 0.5, 100, 96, 96, 0), gone(5, 100)}},
	}}
}

// edges are galleries that a plotting library stumbles over.
func edges() map[string]*Gallery {
	nan := math.NaN()
	names := []string{"r0"}
	run := func(qs ...PlayedRequest) *Gallery { return &Gallery{"edge", []Played{{"p", names, qs}}} }
	unknown := done(0, 1, 10, traces.Unknown, traces.Unknown, 0)
	return map[string]*Gallery{
		"no requests":   run(),
		"no replicas":   {"edge", []Played{{"p", nil, nil}}},
		"all refused":   run(gone(0, 5), gone(1, 5)),
		"one request":   run(done(0, 1, 10, 0, 8, 0)),
		"all equal":     run(done(0, 1, 10, 0, 8, 0), done(0, 1, 10, 0, 8, 0), done(0, 1, 10, 8, 8, 0)),
		"zero TTFT":     run(PlayedRequest{Prompt: 10, Could: 8, Completed: true}, PlayedRequest{Prompt: 10, Hit: 8, Could: 8, Completed: true}),
		"NaN TTFT":      run(PlayedRequest{Prompt: 10, Could: 8, Completed: true, Arrived: nan, Dispatched: nan, Finished: nan, TTFT: nan}),
		"no identity":   run(unknown, unknown),
		"some identity": run(unknown, done(0, 1, 10, 0, 8, 0)),
		"wide":          run(done(0, 1e-12, 10, 0, 8, 0), done(0, 1e9, 1e6, 0, 8, 0)),
		"odd names":     {"<&>\"'", []Played{{strings.Repeat("long name <&> ", 30), names, []PlayedRequest{done(0, 1, 10, 0, 8, 0)}}, {"", names, nil}}},
		"many policies": many(9),
		"hand":          handGallery(),
	}
}

func many(n int) *Gallery {
	g := &Gallery{Trace: "edge"}
	for i := range n {
		r := handGallery().Runs[0]
		r.Policy = "policy " + string(rune('a'+i))
		g.Runs = append(g.Runs, r)
	}
	return g
}

// Every picture of every odd run is a whole file, twice the same.
func TestPlotsOfEdges(t *testing.T) {
	for name, g := range edges() {
		t.Run(name, func(t *testing.T) {
			formats := []string{"svg"} // what is drawn is the same, and PNG takes long
			if name == "hand" || name == "zero TTFT" {
				formats = PlotFormats()
			}
			first, second := plotBytes(t, g, formats), plotBytes(t, g, formats)
			if want := (1 + len(formats)) * len(pictures); len(first) != want {
				t.Fatalf("%d files, want %d", len(first), want)
			}
			for file, data := range first {
				checkPicture(t, file, data)
				if !bytes.Equal(data, second[file]) {
					t.Errorf("%s differs from run to run", file)
				}
			}
		})
	}
}

func plotBytes(t *testing.T, g *Gallery, formats []string) map[string][]byte {
	t.Helper()
	files, err := PlotFiles(g, formats)
	if err != nil {
		t.Fatal(err)
	}
	return writtenPlots(t, files)
}

func writtenPlots(t *testing.T, files []PlotFile) map[string][]byte {
	t.Helper()
	out := map[string][]byte{}
	for _, f := range files {
		var b bytes.Buffer
		if err := f.Write(&b); err != nil {
			t.Fatalf("%s: %v", f.Name, err)
		}
		out[f.Name] = b.Bytes()
	}
	return out
}

// checkPicture reads a file back.
func checkPicture(t *testing.T, name string, data []byte) {
	t.Helper()
	switch filepath.Ext(name) {
	case ".png":
		if img, err := png.Decode(bytes.NewReader(data)); err != nil || img.Bounds().Dx() < 1000 {
			t.Errorf("%s: %v, want a PNG at least 1000 pixels wide", name, err)
		}
	case ".svg":
		if bytes.Contains(data, []byte("NaN")) || bytes.Contains(data, []byte("Inf")) {
			t.Errorf("%s has a coordinate or a text that is no number", name)
		}
		d := xml.NewDecoder(bytes.NewReader(data))
		for {
			if _, err := d.Token(); err == io.EOF {
				return
			} else if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
	}
}

// The numbers behind the pictures of a run made by hand.
func TestPlotNumbers(t *testing.T) {
	files := writtenPlots(t, append(mustPlotFiles(t, handGallery()), TuningPlotFiles(handSweep(), []string{"svg"})...))
	for name, got := range files {
		if filepath.Ext(name) != ".csv" {
			continue
		}
		path := filepath.Join("testdata", "plot-"+name)
		if *update {
			if err := os.WriteFile(path, got, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, want)
		}
	}
}

func mustPlotFiles(t *testing.T, g *Gallery) []PlotFile {
	t.Helper()
	files, err := PlotFiles(g, []string{"svg"})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// More policies than colours: the first are drawn, and the picture says so.
func TestPlotsOfManyPolicies(t *testing.T) {
	svg := string(writtenPlots(t, mustPlotFiles(t, many(9)))["ttft.svg"])
	if !strings.Contains(svg, "Drawn are the first 6 of 9 policies.") || strings.Contains(svg, ">policy g<") || !strings.Contains(svg, ">policy f<") {
		t.Error("ttft.svg does not say that it shows six of nine policies, or shows others")
	}
}

// A picture that cannot be drawn or written leaves nothing half done.
func TestRenderFails(t *testing.T) {
	f := affinityDrawing(NewAffinitySeries(handGallery()))
	var b bytes.Buffer
	if err := f.render(&b, "gif"); err == nil || b.Len() > 0 || !strings.Contains(err.Error(), "svg, png") {
		t.Errorf("gif: %v after %d bytes, want an error that names the formats", err, b.Len())
	}
	full := errors.New("disk full")
	if err := f.render(failing{full}, "png"); !errors.Is(err, full) {
		t.Errorf("got %v, want %v", err, full)
	}
	if _, err := PlotFiles(&Gallery{}, PlotFormats()); err == nil {
		t.Error("pictures of no runs, want an error")
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

func TestParsePlotFormats(t *testing.T) {
	for text, want := range map[string]string{"svg,png": "svg png", "png,png": "png", "none": "", "svg": "svg"} {
		if got, err := ParsePlotFormats(text); err != nil || strings.Join(got, " ") != want {
			t.Errorf("%q: %q, %v, want %q", text, got, err, want)
		}
	}
	for _, text := range []string{"", "gif", "svg,", "none,svg", "SVG"} {
		if got, err := ParsePlotFormats(text); err == nil {
			t.Errorf("%q: %q, want an error", text, got)
		}
	}
	if files, err := PlotFiles(handGallery(), nil); len(files) != 0 || err != nil {
		t.Errorf("%d files, %v without a format, want none", len(files), err)
	}
}
