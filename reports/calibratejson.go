package reports

import (
	_ "embed"
	"encoding/json"
	"io"
)

// CalibrateSchemaName names the layout of the JSON of a calibration.
const CalibrateSchemaName = "triage/calibrate/v1"

//go:embed schema/calibrate-v1.schema.json
var calibrateSchema []byte

// CalibrateSchema returns the JSON Schema of the JSON report of a calibration.
func CalibrateSchema() []byte { return append([]byte(nil), calibrateSchema...) }

type calibrateJSON struct {
	Schema       string            `json:"schema"`
	Log          logFactsJSON      `json:"log"`
	Kind         string            `json:"kind"`
	For          *forJSON          `json:"for,omitempty"`
	Fitted       int               `json:"fitted"`
	HeldOut      int               `json:"held_out"`
	Level        float64           `json:"level"`
	Intervals    string            `json:"intervals_from"`
	Coefficients []coefficientJSON `json:"coefficients"`
	Errors       []heldMeanJSON    `json:"errors"`
	Doubts       []string          `json:"doubts"`
}

type logFactsJSON struct {
	Name   string `json:"name"`
	SHA256 string `json:"sha256"`
	What   string `json:"what"`
	N      int    `json:"n"`
}

type forJSON struct {
	Model string `json:"model"`
	GPU   string `json:"gpu"`
	TP    int    `json:"tp"`
}

type coefficientJSON struct {
	Name  string `json:"name"`
	Unit  string `json:"unit"`
	Value number `json:"value"`
	Low   number `json:"low"`
	High  number `json:"high"`
	Kept  string `json:"kept"`
}

type heldMeanJSON struct {
	heldOutJSON
	Measured  number `json:"measured_s"`
	Simulated number `json:"simulated_s"`
}

// CalibrateJSON writes the calibration as one document.
func CalibrateJSON(w io.Writer, c *Calibrated) error {
	k := c.File.Calibration
	doc := calibrateJSON{Schema: CalibrateSchemaName, Log: logFactsJSON{c.Log.Name, c.Log.SHA256, k.What, k.N}, Kind: c.File.Kind, Fitted: c.Fitted, HeldOut: c.Held,
		Level: k.Level, Intervals: k.How, Coefficients: []coefficientJSON{}, Errors: []heldMeanJSON{}, Doubts: append([]string{}, c.doubts()...)}
	if f := c.Settings.For; f != nil {
		doc.For = &forJSON{f.Model, f.GPU, f.TP}
	}
	for _, x := range c.Coefficients {
		doc.Coefficients = append(doc.Coefficients, coefficientJSON{x.Name, x.Unit, number(x.Value), number(x.Low), number(x.High), x.Kept})
	}
	for i, e := range heldOutOf(c.Errors) {
		doc.Errors = append(doc.Errors, heldMeanJSON{e, number(c.Means[i].Measured), number(c.Means[i].Simulated)})
	}
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(doc)
}
