package reports

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"io"
	"strconv"

	"github.com/seed-2cee110a/triage/sim/tune"
)

// TuneSchemaName names the layout of the JSON report of a search.
const TuneSchemaName = "triage/tune/v1"

//go:embed schema/tune-v1.schema.json
var tuneSchema []byte

// TuneSchema returns the JSON Schema of the JSON report of a search.
func TuneSchema() []byte { return append([]byte(nil), tuneSchema...) }

// TuningJSON writes the result as one document, as JSON does a comparison.
func TuningJSON(w io.Writer, t *Tuning) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(tuningDocument(t))
}

type tuneJSON struct {
	Schema      string      `json:"schema"`
	Status      string      `json:"status"`
	Traces      []traceJSON `json:"traces"`
	Cluster     clusterJSON `json:"cluster"`
	Signals     string      `json:"signals"`
	Cost        costJSON    `json:"cost"`
	Trust       *trustJSON  `json:"trust,omitempty"`
	Policy      string      `json:"policy"`
	Objective   string      `json:"objective"`
	Grid        []axisJSON  `json:"grid"`
	Points      int         `json:"points"`
	Done        int         `json:"done"`
	Classes     int         `json:"classes"`
	Refusing    int         `json:"refusing"`
	Valueless   int         `json:"valueless"`
	Recommended tunedJSON   `json:"recommended"`
	Best        []bestJSON  `json:"best"`
	Baselines   []tunedJSON `json:"baselines"`
	Plateau     plateauJSON `json:"plateau"`
	Edges       []edgeJSON  `json:"edges"`
	Findings    []string    `json:"findings"`
	Warnings    []string    `json:"warnings"`
}

type axisJSON struct {
	Knob   string   `json:"knob"`
	Values []string `json:"values"`
}

// tunedJSON is a point or a baseline, whose point and class are null.
type tunedJSON struct {
	Policy string     `json:"policy"`
	Point  *int       `json:"point"`
	Class  *int       `json:"class"`
	Regret regretJSON `json:"regret"`
	Traces []cellJSON `json:"traces"`
}

type regretJSON struct {
	Worst number `json:"worst"`
	Mean  number `json:"mean"`
}

type cellJSON struct {
	Trace     string      `json:"trace"`
	Objective number      `json:"objective"`
	Regret    number      `json:"regret"`
	Metrics   metricsJSON `json:"metrics"`
}

type bestJSON struct {
	Trace string    `json:"trace"`
	Row   tunedJSON `json:"row"`
}

type plateauJSON struct {
	Slack   number `json:"slack"`
	Size    int    `json:"size"`
	Classes int    `json:"classes"`
	Points  []int  `json:"points"`
}

type edgeJSON struct {
	Knob  string `json:"knob"`
	Value string `json:"value"`
	Side  string `json:"side"`
}

// metricsJSON is an object in the order of tune.MetricNames.
type metricsJSON tune.Metrics

func (m metricsJSON) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	for i, name := range tune.MetricNames() {
		value, err := number(m[i]).MarshalJSON()
		if err != nil {
			return nil, err
		}
		b.WriteString(either(i == 0, "{", ",") + strconv.Quote(name) + ":")
		b.Write(value)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

func either(cond bool, yes, no string) string {
	if cond {
		return yes
	}
	return no
}

func tuningDocument(t *Tuning) tuneJSON {
	s, h := t.Study, t.headers[0]
	d := tuneJSON{
		Schema: TuneSchemaName, Status: tuningStatus(s),
		Cluster: cluster(h.Config), Signals: h.Config.Signals.String(), Cost: costOf(h.Cost), Trust: trustOut(h.Trust),
		Policy: s.Space.Base.Text, Objective: s.Objective.Text, Points: s.Space.Len(), Done: s.Done, Classes: s.Classes,
		Refusing: len(s.Refusing), Valueless: len(s.Valueless),
		Recommended: t.tuned(t.recommended()), Best: []bestJSON{}, Baselines: []tunedJSON{}, Edges: []edgeJSON{},
		Plateau:  plateauJSON{tune.Noise, len(s.Plateau), t.plateauClasses(), append([]int{}, s.Plateau...)},
		Findings: tuningFindings(t), Warnings: append([]string{}, tuningWarnings(t)...),
	}
	for _, c := range t.headers {
		d.Traces = append(d.Traces, document(c).Trace)
	}
	for _, a := range s.Space.Axes {
		d.Grid = append(d.Grid, axisJSON{a.Knob, a.Values})
	}
	for trace, p := range s.Best {
		d.Best = append(d.Best, bestJSON{s.Cases[trace].Name, t.tuned(tuned{point: p, cells: s.Points[p]})})
	}
	for _, b := range t.baselines() {
		d.Baselines = append(d.Baselines, t.tuned(b))
	}
	for _, e := range s.Edges {
		d.Edges = append(d.Edges, edgeJSON{e.Knob, e.Value, either(e.Upper, "upper", "lower")})
	}
	return d
}

func tuningStatus(s *tune.Study) string { return either(s.Interrupted, "interrupted", "complete") }

// tuned lays a row out. A point is named by its policy, a baseline by its label.
func (t *Tuning) tuned(r tuned) tunedJSON {
	s := t.Study
	out := tunedJSON{Policy: r.label}
	if r.point >= 0 {
		out.Policy, out.Point, out.Class = s.Space.Spec(r.point).Text, &r.point, &s.Class[r.point]
	}
	worst, mean := s.Regrets(r.cells)
	out.Regret = regretJSON{number(worst), number(mean)}
	for trace, c := range r.cells {
		m := metricsJSON(c.Metrics)
		out.Traces = append(out.Traces, cellJSON{s.Cases[trace].Name, number(c.Value), number(s.Regret(c, trace)), m})
	}
	return out
}
