package reports

import (
	"errors"
	"math"
	"regexp"
	"slices"

	"github.com/seed-2cee110a/triage/sim/tune"
)

// Tuning is what every report of a search prints.
type Tuning struct {
	Study   *tune.Study
	Command string   // repeats the search
	Replays []string // by trace: repeats a replay when policies are appended, such as "triage replay conv.jsonl --tp 4"
	Width   int      // columns that text for a terminal may take; 0 is 80

	headers []*Comparison // by trace: what the header of a replay would say
}

// NewTuning digests a study. At least one point must be replayed on every trace.
func NewTuning(s *tune.Study, command string, replays []string) (*Tuning, error) {
	if s.Recommended < 0 {
		return nil, errors.New("no point is replayed on every trace: there is nothing to report")
	}
	t := &Tuning{Study: s, Command: command, Replays: replays}
	for _, f := range s.Facts {
		c := &Comparison{Trace: traceFacts(f.Trace), Config: f.Config, Cost: f.Cost}
		c.Signals.Mean = math.NaN() // it differs from point to point
		t.headers = append(t.headers, c)
	}
	t.headers[0].Trust = trustOfSearch(s.Facts)
	return t, nil
}

// tuned is a row of the result: a point or a baseline.
type tuned struct {
	label string
	point int // -1 for a baseline
	cells []tune.Cell
}

// rows are the recommended point, the best of each trace where that is another point, and the baselines that were replayed
// on every trace.
func (t *Tuning) rows() []tuned {
	s := t.Study
	out := []tuned{t.recommended()}
	for trace, p := range s.Best {
		if p != s.Recommended && len(s.Cases) > 1 {
			out = append(out, tuned{"best on " + s.Cases[trace].Name, p, s.Points[p]})
		}
	}
	return append(out, t.baselines()...)
}

func (t *Tuning) recommended() tuned {
	return tuned{"recommended", t.Study.Recommended, t.Study.Points[t.Study.Recommended]}
}

func (t *Tuning) baselines() []tuned {
	var out []tuned
	for b, cells := range t.Study.Baselines {
		if !slices.ContainsFunc(cells, func(c tune.Cell) bool { return !c.Done }) {
			out = append(out, tuned{t.Study.Problem.Baselines[b].Label, -1, cells})
		}
	}
	return out
}

// spec is the recommended policy as -p takes it.
func (t *Tuning) spec() string { return t.Study.Space.Spec(t.Study.Recommended).Text }

// plateauClasses is how many different ways to decide are on the plateau.
func (t *Tuning) plateauClasses() int {
	seen := map[int]bool{}
	for _, p := range t.Study.Plateau {
		seen[t.Study.Class[p]] = true
	}
	return len(seen)
}

// columns is how wide text for a terminal may be.
func (t *Tuning) columns() int {
	if t.Width > 0 {
		return t.Width
	}
	return Width
}

// inSeconds are the objectives that are plainly a time.
var inSeconds = regexp.MustCompile(`^(ttft|tpot|e2e|gateway_wait)\.[a-z0-9]+$`)

// unit is how to print the objective.
func (t *Tuning) unit() unit {
	if !inSeconds.MatchString(t.Study.Objective.Text) {
		return unit{"", 1}
	}
	var values []float64
	for _, r := range t.rows() {
		for _, c := range r.cells {
			values = append(values, c.Value)
		}
	}
	return unitFor(values...)
}
