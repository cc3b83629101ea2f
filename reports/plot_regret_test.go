package reports

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// handSweep is a grid of a (2 values) x b (3) x c (2). Regret is 0 at a=1, b=3, c=on; a matters most, then b; c little.
// One point was not replayed.
func handSweep() *Sweep {
	s := &Sweep{Objective: "ttft.p90", Traces: 1, Knobs: []SweepKnob{{"a", []string{"0", "1"}}, {"b", []string{"1", "2", "3"}}, {"c", []string{"off", "on"}}},
		Winner: 11, Default: 8}
	for a := range 2 {
		for b := range 3 {
			for c := range 2 {
				s.Regret = append(s.Regret, float64(1-a)+0.2*float64(2-b)+0.01*float64(1-c))
			}
		}
	}
	s.Regret[0] = math.NaN()
	return s
}

func TestRegrets(t *testing.T) {
	r := handSweep().Regrets()
	nan := math.NaN()
	if r.X.Name != "b" || r.Y.Name != "a" || r.WinnerX != 2 || r.WinnerY != 1 || r.DefaultX != 1 || r.DefaultY != 1 || r.InSlice || r.Rest != "c=on" {
		t.Errorf("%+v", r)
	}
	near := cmpopts.EquateApprox(0, 1e-12)
	if want := [][]float64{{1.4, 1.2, 1}, {0.4, 0.2, 0}}; !cmp.Equal(r.Best, want, near) || !cmp.Equal(r.Slice, want, near) {
		t.Errorf("best %v, slice %v, want %v", r.Best, r.Slice, want)
	}
	if math.Abs(r.Loss-0.21) > 1e-12 {
		t.Errorf("the defaults lose %v, want 0.21", r.Loss)
	}
	s := handSweep()
	s.Winner, s.Regret[1] = 10, nan // c=off
	r = s.Regrets()
	if !math.IsNaN(r.Best[0][0]) || !math.IsNaN(r.Slice[0][0]) || math.Abs(r.Slice[1][2]-0.01) > 1e-12 || r.Best[1][2] != 0 || !r.InSlice {
		t.Errorf("slice %v, best %v", r.Slice, r.Best)
	}
}

// The best over the rest is never worse than the slice, and where the winner is it is 0.
func TestRegretLaws(t *testing.T) {
	r := handSweep().Regrets()
	least := math.Inf(1)
	for k := range r.Best {
		for i, v := range r.Best[k] {
			least = math.Min(least, v)
			if r.Slice[k][i] < v {
				t.Errorf("slice %v is below best %v", r.Slice[k][i], v)
			}
		}
	}
	if least != 0 || r.Best[r.WinnerY][r.WinnerX] != 0 {
		t.Errorf("least %v, at the winner %v, want 0", least, r.Best[r.WinnerY][r.WinnerX])
	}
}

// Grids that a heat map stumbles over are drawn all the same, and twice the same.
func TestRegretEdges(t *testing.T) {
	nan := math.NaN()
	one := []SweepKnob{{"a", []string{"0"}}}
	long := SweepKnob{Name: "a"}
	var rising []float64
	for i := range 200 {
		long.Values = append(long.Values, strings.Repeat("9", i%30+1))
		rising = append(rising, float64(i))
	}
	for name, s := range map[string]*Sweep{
		"one point":    {"x", 1, one, []float64{0}, 0, -1},
		"not a number": {"x", 1, []SweepKnob{{"a", []string{"0", "1"}}}, []float64{nan, nan}, 0, 0},
		"all equal":    {"x", 1, []SweepKnob{{"a", []string{"0", "1"}}, {"b", []string{"0", "1"}}}, []float64{0, 0, 0, 0}, 0, 3},
		"infinite":     {"x", 1, []SweepKnob{{"a", []string{"0", "1"}}}, []float64{0, math.Inf(1)}, 0, 0},
		"negative":     {"x", 1, []SweepKnob{{"a", []string{"0", "1"}}}, []float64{0, -1}, 0, 1},
		"long":         {"x", 1, []SweepKnob{long}, rising, 0, 199},
		"hand":         handSweep(),
	} {
		t.Run(name, func(t *testing.T) {
			formats := []string{"svg"}
			if name == "hand" {
				formats = PlotFormats()
			}
			first, second := writtenPlots(t, TuningPlotFiles(s, formats)), writtenPlots(t, TuningPlotFiles(s, formats))
			for file, data := range first {
				if file != "regret.csv" {
					checkPicture(t, file, data)
				}
				if !bytes.Equal(data, second[file]) {
					t.Errorf("%s differs from run to run", file)
				}
			}
		})
	}
}

// One knob makes one row, and one panel.
func TestRegretOfOneKnob(t *testing.T) {
	s := &Sweep{"x", 1, []SweepKnob{{"q", []string{"0", "1", "3"}}}, []float64{0.3, 0, 0.1}, 1, 2}
	r := s.Regrets()
	if len(r.Best) != 1 || len(r.Best[0]) != 3 || r.Rest != "" {
		t.Errorf("%+v", r)
	}
	if got := r.answer(); got != "Best at q=1; within 2 % of the best: 1 of 3 cells; the defaults lose 10 %" {
		t.Errorf("answer %q", got)
	}
	var b bytes.Buffer
	if err := RegretHeatmap(&b, "svg", r); err != nil || !strings.Contains(b.String(), ">winner<") || !strings.Contains(b.String(), ">defaults<") {
		t.Errorf("%v, want a picture with the winner and the defaults marked", err)
	}
}

// Over several traces the regret is another number, and the picture says so, also of a search that was read back.
func TestRegretOfTraces(t *testing.T) {
	s := handSweep()
	for traces, want := range map[int]string{
		1: "is than the best of the grid, in percent.",
		3: "worst over 3 traces, against each trace&#39;s own best",
	} {
		s.Traces = traces
		r := s.Regrets()
		if svg := drawnSVG(t, regretDrawing(&r)); !strings.Contains(svg, want) {
			t.Errorf("%d traces: the picture does not say %q", traces, want)
		}
	}
	name := filepath.Join(t.TempDir(), "result.json")
	text := `{"schema":"` + TuneSchemaName + `","policy":"score","traces":[{"name":"a"},{"name":"b"}],"grid":[{"knob":"q","values":["1"]}],"points":1}`
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	if s, err := readSweep(name); err != nil || s.Traces != 2 {
		t.Errorf("read %+v, %v, want 2 traces", s, err)
	}
}
