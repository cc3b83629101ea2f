package sim

import (
	"strings"
	"testing"

	"github.com/seed-2cee110a/triage/engine"
)

// Twice as long steps make a lone request twice as long, but for the server's time around them; and the note tells.
func TestCostScale(t *testing.T) {
	cfg := Default()
	cfg.Cost = "unit"
	hw, err := cfg.hardware()
	if err != nil {
		t.Fatal(err)
	}
	cfg.CostScale = 2
	twice, err := cfg.hardware()
	if err != nil {
		t.Fatal(err)
	}
	b := engine.Batch{PrefillSeqs: 1, PrefillTokens: 10, PrefillContext: 55}
	if one, two := hw.cost.Step(b), twice.cost.Step(b); two != 2*one {
		t.Errorf("a step takes %d at scale 2 and %d at 1", two, one)
	}
	if !strings.HasPrefix(twice.note.Note, "steps take 2 times as long: ") || strings.Contains(hw.note.Note, "times") {
		t.Errorf("notes %q and %q", twice.note.Note, hw.note.Note)
	}
	for _, bad := range []float64{-1, 0.001, 101, nan} {
		cfg.CostScale = bad
		if err := cfg.Check(); err == nil || !strings.HasPrefix(err.Error(), "cost-scale is ") {
			t.Errorf("cost scale %v: got %v", bad, err)
		}
	}
}
