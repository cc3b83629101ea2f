package reports

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
)

// Sweep is a search as its picture sees it: a grid of knobs, and by point, the last knob varying fastest, the worst regret
// over the traces: how much worse the objective is than the best, 0.1 for 10 %; NaN where the point was not replayed.
type Sweep struct {
	Objective string
	Traces    int // that every point was replayed on
	Knobs     []SweepKnob
	Regret    []float64
	Winner    int // point to roll out
	Default   int // point at which every knob has the value it has without tuning; -1 if the grid has none
}

// SweepKnob is a knob and the values that were tried, in order.
type SweepKnob struct {
	Name   string
	Values []string
}

// Regrets is a sweep over two knobs: a row a value of Y, a column a value of X.
type Regrets struct {
	Objective          string
	Traces             int
	X, Y               SweepKnob
	Slice              [][]float64 // the other knobs as the winner has them
	Best               [][]float64 // the other knobs as is best for each pair
	Rest               string      // the winner's other knobs, "" if there are none
	WinnerX, WinnerY   int
	DefaultX, DefaultY int     // of the defaults in Best, -1 if they are not in the grid
	InSlice            bool    // the defaults are in Slice too
	Loss               float64 // regret of the defaults, NaN if it is not known
}

// Regrets picks the two knobs that matter most and lays the sweep out over them. A knob matters as the best regret for
// each of its values differs.
func (s *Sweep) Regrets() Regrets {
	x, y := s.leading()
	r := Regrets{Objective: s.Objective, Traces: s.Traces, X: s.knob(x), Y: s.knob(y), DefaultX: -1, DefaultY: -1, Loss: math.NaN()}
	r.Slice, r.Best = unknownGrid(r), unknownGrid(r)
	won := s.indices(s.Winner)
	r.WinnerX, r.WinnerY = indexAt(won, x), indexAt(won, y)
	for p, v := range s.Regret {
		at := s.indices(p)
		i, k := indexAt(at, x), indexAt(at, y)
		if !(r.Best[k][i] <= v) && !math.IsNaN(v) {
			r.Best[k][i] = v
		}
		if s.sameRest(at, won, x, y) {
			r.Slice[k][i] = v
		}
	}
	if s.Default >= 0 {
		at := s.indices(s.Default)
		r.Loss = s.Regret[s.Default]
		r.DefaultX, r.DefaultY, r.InSlice = indexAt(at, x), indexAt(at, y), s.sameRest(at, won, x, y)
	}
	var rest []string
	for i, k := range s.Knobs {
		if i != x && i != y && len(k.Values) > 1 {
			rest = append(rest, k.Name+"="+k.Values[won[i]])
		}
	}
	r.Rest = strings.Join(rest, ", ")
	return r
}

func unknownGrid(r Regrets) [][]float64 {
	out := make([][]float64, len(r.Y.Values))
	for k := range out {
		out[k] = make([]float64, len(r.X.Values))
		for i := range out[k] {
			out[k][i] = math.NaN()
		}
	}
	return out
}

// indices returns which value of each knob a point has.
func (s *Sweep) indices(point int) []int {
	at := make([]int, len(s.Knobs))
	for i := len(s.Knobs) - 1; i >= 0; i-- {
		n := len(s.Knobs[i].Values)
		at[i], point = point%n, point/n
	}
	return at
}

// indexAt is 0 for the axis that a grid of one knob does not have.
func indexAt(at []int, axis int) int {
	if axis < 0 {
		return 0
	}
	return at[axis]
}

func (s *Sweep) knob(i int) SweepKnob {
	if i < 0 {
		return SweepKnob{Values: []string{""}}
	}
	return s.Knobs[i]
}

func (s *Sweep) sameRest(at, won []int, x, y int) bool {
	for i := range at {
		if i != x && i != y && at[i] != won[i] {
			return false
		}
	}
	return true
}

// leading returns the two knobs that matter most; y is -1 if there is one. The one with more values is x.
func (s *Sweep) leading() (x, y int) {
	order := make([]int, len(s.Knobs))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		if s.effect(a) > s.effect(b) {
			return -1
		}
		if s.effect(a) < s.effect(b) {
			return 1
		}
		return 0
	})
	if len(order) == 1 {
		return order[0], -1
	}
	x, y = order[0], order[1]
	if len(s.Knobs[y].Values) > len(s.Knobs[x].Values) {
		x, y = y, x
	}
	return x, y
}

// effect is by how much the best regret differs between the values of a knob; -1 for a knob with one value.
func (s *Sweep) effect(knob int) float64 {
	if len(s.Knobs[knob].Values) < 2 {
		return -1
	}
	best := make([]float64, len(s.Knobs[knob].Values))
	for i := range best {
		best[i] = math.Inf(1)
	}
	for p, v := range s.Regret {
		if at := s.indices(p)[knob]; v < best[at] {
			best[at] = v
		}
	}
	low, high := math.Inf(1), 0.0
	for _, v := range best {
		if known(v) {
			low, high = math.Min(low, v), math.Max(high, v)
		}
	}
	return math.Max(0, high-low)
}

// values are the known regrets of both panels.
func (r *Regrets) values() []float64 {
	var out []float64
	for _, grid := range [][][]float64{r.Slice, r.Best} {
		for _, row := range grid {
			for _, v := range row {
				if known(v) {
					out = append(out, v)
				}
			}
		}
	}
	return out
}

// most is where the colours end: the largest regret, or half of the objective if that is less. More is told by number.
func (r *Regrets) most() float64 {
	high := 0.0
	for _, v := range r.values() {
		high = math.Max(high, v)
	}
	for _, top := range []float64{0.02, 0.05, 0.1, 0.2} {
		if high <= top {
			return top
		}
	}
	return 0.5
}

// CSV writes a row a cell of each panel.
func (r *Regrets) CSV(w io.Writer) error {
	out := csv.NewWriter(w)
	out.Write([]string{"panel", r.X.Name, r.Y.Name, "regret", "winner", "default"}) // the writer keeps the first error
	for _, p := range r.panels() {
		for k, row := range p.grid {
			for i, v := range row {
				out.Write([]string{p.name, r.X.Values[i], r.Y.Values[k], csvFloat(v), fmt.Sprint(r.isWinner(i, k)), fmt.Sprint(p.marks && r.isDefault(i, k))})
			}
		}
	}
	out.Flush()
	return out.Error()
}

// regretPanel is one of the two ways to look at a sweep.
type regretPanel struct {
	name, heading string
	grid          [][]float64
	marks         bool // it shows the defaults
}

func (r *Regrets) panels() []regretPanel {
	rest := "the winner's other knobs: " + r.Rest
	if r.Rest == "" {
		rest = "there are no other knobs"
	}
	return []regretPanel{{"slice", rest, r.Slice, r.InSlice}, {"best", "the other knobs as is best for each cell", r.Best, true}}
}

func (r *Regrets) isWinner(x, y int) bool  { return x == r.WinnerX && y == r.WinnerY }
func (r *Regrets) isDefault(x, y int) bool { return x == r.DefaultX && y == r.DefaultY }
