package calibrate

import (
	"context"
	"errors"
	"fmt"

	"github.com/seed-2cee110a/triage/engine"
	"github.com/seed-2cee110a/triage/sim"
)

// Settings say what to fit and on what replicas the log was measured.
type Settings struct {
	Engine    engine.Config // KVBlocks included
	BlockSize int           // tokens behind one hash id
	For       *sim.CostFor  // nil: nobody knows; then only linear can be fitted
	Model     engine.Model  // of For
	GPU       engine.GPU    // likewise
	Fit       string        // "physical" or "linear"; "table" for steps
	HoldOut   float64       // share of the log kept for the error, 0 up to 0.9
	Replicas  int           // 0: as many as the log names
	Fix       map[string]float64
	Tool      string
	Flags     []string // of the replica, for the record
}

// Result is a cost model fitted to a log.
type Result struct {
	Log          *Log
	Settings     Settings
	Coefficients []Coefficient
	Errors       []sim.HeldOut
	Fitted, Held int
	Means        []Mean // of the part that is held out
	File         *sim.CostFile
}

// Mean is the mean of a metric over the part that is held out, s.
type Mean struct {
	Metric              string
	Measured, Simulated float64
}

// leastRequests is how many a fit needs, and leastSteps likewise.
const (
	leastRequests = 60
	leastSteps    = 20
)

// Refusal is why a log does not determine a cost model.
type Refusal struct{ error }

func refuse(format string, args ...any) error { return Refusal{fmt.Errorf(format, args...)} }

// Run fits a cost model.
func Run(ctx context.Context, l *Log, s Settings) (*Result, error) {
	if !(s.HoldOut >= 0 && s.HoldOut <= 0.9) {
		return nil, fmt.Errorf("holdout is %v, want 0 to 0.9", s.HoldOut)
	}
	if err := s.believable(l); err != nil {
		return nil, err
	}
	if len(l.Steps) > 0 {
		return runSteps(l, s)
	}
	if s.Fit == "table" {
		return nil, errors.New("a table is made of measured steps, and the log has requests; want --fit linear or physical")
	}
	f, err := s.form(l)
	if err != nil {
		return nil, err
	}
	return runRequests(ctx, l, s, f)
}
