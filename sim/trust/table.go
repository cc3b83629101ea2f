package trust

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"sync"
)

// SchemaName names the layout of the table.
const SchemaName = "triage/trust/v1"

// Table is the errors of simulated latencies against measured ones.
type Table struct {
	Schema string  `json:"schema"`
	Data   string  `json:"data"`  // digest of the measurements, see fidelity.Digest
	Files  int     `json:"files"` // of the measurements
	Seed   uint64  `json:"seed"`  // of arrivals that were not measured
	Cost   string  `json:"cost"`  // digest of the cost model's step times, see CostDigest
	Rows   []Group `json:"rows"`
	Totals []Group `json:"totals"` // over rows that have the fields of Of in common
}

// Group is the errors of stage means of measured servers that have something in common. An empty field of its name is
// not among that.
type Group struct {
	Of         []string `json:"of,omitempty"` // of a total: the fields that its rows have in common
	Regime     string   `json:"regime"`
	GPU        string   `json:"gpu,omitempty"`
	Class      string   `json:"class,omitempty"` // of the model: dense, experts, ...
	Model      string   `json:"model,omitempty"`
	Weights    string   `json:"weights,omitempty"`
	TP         int      `json:"tp,omitempty"`
	Calibrated bool     `json:"calibrated"` // step times were fitted to models of this class on this GPU; of a total: in all its rows
	Stages     int      `json:"stages"`
	Prompt     Span     `json:"prompt_tokens"`
	Output     Span     `json:"output_tokens"`
	PerS       Range    `json:"rate_per_s,omitzero"` // none at constant concurrency
	InFlight   Span     `json:"in_flight"`           // by stage, the most requests at once
	TTFT       Errors   `json:"ttft,omitzero"`
	TPOT       Errors   `json:"tpot,omitzero"`
	E2E        Errors   `json:"e2e,omitzero"`
	Served     Errors   `json:"served_per_s,omitzero"` // under overload, where means of latencies say little
}

// Span is a range of whole numbers, both ends included.
type Span [2]int

// Range is a range of numbers, both ends included.
type Range [2]float64

// Errors is a set of errors relative to what was measured: mean and median of their absolutes, and the mean with its
// sign, below 0 for too fast. All are 0 over none.
type Errors struct {
	N      int     `json:"n"`
	Mean   float64 `json:"mean"`
	Median float64 `json:"median"`
	Bias   float64 `json:"bias"`
}

// metrics are the errors of a group, in the order of Errors fields.
func (g *Group) metrics() []*Errors { return []*Errors{&g.TTFT, &g.TPOT, &g.E2E, &g.Served} }

// Write writes the table with a line a group, so that a change shows what changed.
func (t *Table) Write(w io.Writer) error {
	var b bytes.Buffer
	head := *t
	head.Rows, head.Totals = nil, nil
	text, err := json.Marshal(head)
	if err != nil {
		return err
	}
	lead, _, _ := bytes.Cut(text, []byte(`,"rows":`))
	b.Write(lead)
	for _, part := range []struct {
		name   string
		groups []Group
	}{{"rows", t.Rows}, {"totals", t.Totals}} {
		fmt.Fprintf(&b, ",\n%q:[", part.name)
		for i, g := range part.groups {
			line, err := json.Marshal(g)
			if err != nil {
				return err
			}
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString("\n  ")
			b.Write(line)
		}
		b.WriteByte(']')
	}
	b.WriteString("}\n")
	_, err = w.Write(b.Bytes())
	return err
}

//go:generate make -C ../.. fidelity-table

//go:embed errors.json
var embedded []byte

// Embedded returns the table of the calibration that this program has. It is shared and must not be changed.
var Embedded = sync.OnceValue(func() *Table {
	t, err := read(embedded)
	if err != nil {
		panic("trust: errors.json: " + err.Error())
	}
	return t
})

func read(data []byte) (*Table, error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	t := &Table{}
	if err := d.Decode(t); err != nil {
		return nil, err
	}
	if t.Schema != SchemaName {
		return nil, fmt.Errorf("schema is %q, want %q", t.Schema, SchemaName)
	}
	return t, nil
}
