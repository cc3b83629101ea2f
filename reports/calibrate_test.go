package reports

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/seed-2cee110a/triage/sim"
	"github.com/seed-2cee110a/triage/sim/calibrate"
)

// handCalibrated is a fit of factors: one far from 1, one kept.
func handCalibrated() *Calibrated {
	nan := math.NaN()
	return &Calibrated{
		Flags: "--model m --gpu H100", Saved: "cost.yaml",
		Result: &calibrate.Result{
			Log:      &calibrate.Log{Name: "log.csv", SHA256: strings.Repeat("ab", 32), Requests: make([]calibrate.Request, 1200), Notes: []string{"3 requests failed"}},
			Settings: calibrate.Settings{For: &sim.CostFor{Model: "m", GPU: "H100", TP: 2}},
			Fitted:   590, Held: 600,
			Coefficients: []calibrate.Coefficient{
				{Name: "step", Value: 2.5, Low: 2.25, High: 2.75},
				{Name: "kv", Value: 1, Low: nan, High: nan, Kept: "registry", Needs: "long contexts"},
				{Name: "before_ms", Unit: "ms", Value: 8, Low: nan, High: nan, Kept: "setting"},
			},
			Errors: []sim.HeldOut{{Metric: "TTFT", Mean: 0.3, Median: 0.2, MeanError: -0.25}},
			Means:  []calibrate.Mean{{Metric: "TTFT", Measured: 0.4, Simulated: 0.3}},
			File: &sim.CostFile{Kind: "physical", Calibration: &sim.Calibration{What: "requests", N: 1200, Level: 0.95, How: "somehow",
				Fitting: "squares"}},
		},
	}
}

func TestCalibrateText(t *testing.T) {
	var b strings.Builder
	if err := CalibrateText(&b, handCalibrated()); err != nil {
		t.Fatal(err)
	}
	got := strings.Join(strings.Fields(b.String()), " ")
	for _, want := range []string{
		"log log.csv: 1,200 requests, sha256:abababababab",
		"replica m on 2 x H100",
		"fit physical, on 590 requests; 600 held out; squares",
		"step 2.50 2.25 2.75",
		"kv 1.00 - - kept at the registry's",
		"TTFT 400 300 -25.0 % 30.0 % 20.0 %",
		"* 3 requests failed",
		"* kv is kept: to fit it the log needs long contexts",
		"* step is 2.50 times what the registry says",
		"* mean TTFT is predicted with an error of -25.0 %",
		"triage replay TRACE --model m --gpu H100 --cost cost.yaml",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, &b)
		}
	}
	for line := range strings.SplitSeq(b.String(), "\n") {
		if len(line) > Width {
			t.Errorf("line of %d columns, want at most %d: %s", len(line), Width, line)
		}
	}
}

func TestCalibrateJSONFollowsItsSchema(t *testing.T) {
	schema, err := jsonschema.UnmarshalJSON(bytes.NewReader(CalibrateSchema()))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("calibrate.json", schema); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("calibrate.json")
	if err != nil {
		t.Fatal(err)
	}
	bare := handCalibrated()
	bare.Settings.For, bare.Coefficients, bare.Errors, bare.Means = nil, nil, nil, nil
	for name, x := range map[string]*Calibrated{"sample": handCalibrated(), "bare": bare} {
		var b bytes.Buffer
		if err := CalibrateJSON(&b, x); err != nil {
			t.Fatal(err)
		}
		doc, err := jsonschema.UnmarshalJSON(&b)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Validate(doc); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	var b bytes.Buffer
	if err := CalibrateJSON(&b, handCalibrated()); err != nil {
		t.Fatal(err)
	}
	for _, change := range [][2]string{{`"of_mean"`, `"of_men"`}, {`"registry"`, `"registered"`}, {CalibrateSchemaName, "triage/calibrate/v2"}} {
		doc, err := jsonschema.UnmarshalJSON(strings.NewReader(strings.Replace(b.String(), change[0], change[1], 1)))
		if err != nil {
			t.Fatal(err)
		}
		if s.Validate(doc) == nil {
			t.Errorf("the schema accepts %s for %s", change[1], change[0])
		}
	}
}
