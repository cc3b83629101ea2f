package reports

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"

	"github.com/parquet-go/parquet-go"

	"github.com/seed-2cee110a/triage/policies"
)

// NewSweep takes what the picture needs from a search.
func NewSweep(t *Tuning) *Sweep {
	s := &Sweep{Objective: t.Study.Objective.Text, Traces: len(t.Study.Cases), Winner: t.Study.Recommended}
	for _, a := range t.Study.Space.Axes {
		s.Knobs = append(s.Knobs, SweepKnob{a.Knob, a.Values})
	}
	for p, cells := range t.Study.Points {
		worst := math.NaN()
		if t.Study.Competes(p) {
			worst, _ = t.Study.Regrets(cells)
		}
		s.Regret = append(s.Regret, worst)
	}
	s.Default = s.point(t.Study.Space.Base)
	return s
}

// point returns the point with the values that the policy has, -1 if there is none.
func (s *Sweep) point(policy policies.Spec) int {
	point := 0
	for _, k := range s.Knobs {
		at := -1
		for i, v := range k.Values {
			if v == policy.Knob(k.Name) {
				at = i
			}
		}
		if at < 0 {
			return -1
		}
		point = point*len(k.Values) + at
	}
	return point
}

// TuningPlotFiles are the pictures of a search in those formats, each with its numbers as CSV; none without a format.
func TuningPlotFiles(s *Sweep, formats []string) []PlotFile {
	if len(formats) == 0 {
		return nil
	}
	r := s.Regrets()
	return Plot{regretDrawing(&r), r.CSV}.files("regret", formats)
}

// ReadTuningPlots reads the folder of a search, its result.json and sweep.parquet, and returns its pictures.
func ReadTuningPlots(dir string, formats []string) ([]PlotFile, error) {
	s, err := readSweep(filepath.Join(dir, "result.json"))
	if err != nil {
		return nil, err
	}
	name := filepath.Join(dir, "sweep.parquet")
	if err := s.fill(name); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return TuningPlotFiles(s, formats), nil
}

// readSweep reads the grid and the winner.
func readSweep(name string) (*Sweep, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	var result struct {
		Schema, Policy, Objective string
		Grid                      []struct {
			Knob   string
			Values []string
		}
		Points      int
		Recommended struct{ Point int }
		Traces      []struct{}
	}
	if err := json.Unmarshal(data, &result); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if result.Schema != TuneSchemaName {
		return nil, fmt.Errorf("%s: schema is %q, want %q", name, result.Schema, TuneSchemaName)
	}
	s := &Sweep{Objective: result.Objective, Traces: len(result.Traces), Winner: result.Recommended.Point}
	n := 1
	for _, g := range result.Grid {
		s.Knobs = append(s.Knobs, SweepKnob{g.Knob, g.Values})
		n *= max(len(g.Values), 1)
	}
	if n != result.Points || s.Winner < 0 || s.Winner >= n || len(s.Knobs) == 0 {
		return nil, fmt.Errorf("%s: %d points, winner %d, want %d points of the grid and the winner among them", name, result.Points, s.Winner, n)
	}
	policy, err := policies.Parse(result.Policy)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	s.Default = s.point(policy)
	s.Regret = make([]float64, n)
	return s, nil
}

// sweepRegret is what is needed of a row of sweep.parquet.
type sweepRegret struct {
	Point  *int64   `parquet:"point,optional"`
	Status *string  `parquet:"status,optional"`
	Regret *float64 `parquet:"regret,optional"`
}

// fill reads the worst regret of every point that competes.
func (s *Sweep) fill(name string) (err error) {
	for p := range s.Regret {
		s.Regret[p] = math.NaN()
	}
	defer func() { // the reader panics on some damaged files
		if r := recover(); r != nil {
			err = fmt.Errorf("damaged: %v", r)
		}
	}()
	rows, err := parquet.ReadFile[sweepRegret](name)
	if err != nil && err != io.EOF {
		return err
	}
	for _, row := range rows {
		if row.Point == nil || *row.Point < 0 || *row.Point >= int64(len(s.Regret)) {
			return fmt.Errorf("a row names no point of the %d in result.json", len(s.Regret))
		}
		if row.Status == nil || *row.Status != "full" || row.Regret == nil {
			continue
		}
		if v := &s.Regret[*row.Point]; !(*v >= *row.Regret) {
			*v = *row.Regret
		}
	}
	return nil
}
