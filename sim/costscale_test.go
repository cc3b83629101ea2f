package sim

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/seed-2cee110a/triage/engine"
)

// A scaled model keeps the promise of every cost model: a step of decoding sequences alone is exactly what Decode says.
func TestScaledStepIsWhatDecodeSays(t *testing.T) {
	m, err := engine.LookupModel("Qwen/Qwen3-32B")
	if err != nil {
		t.Fatal(err)
	}
	g, err := engine.LookupGPU("H100")
	if err != nil {
		t.Fatal(err)
	}
	physical, err := engine.NewPhysical(m, g, 2, 8192)
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		s := scaled{physical, engine.Time(rapid.IntRange(1e4, 1e8).Draw(t, "millionths"))}
		b := engine.Batch{Decode: rapid.IntRange(1, 1024).Draw(t, "decode"), KVTokens: rapid.Int64Range(0, 1<<40).Draw(t, "kv")}
		base, slope := s.Decode(b.Decode)
		if got, want := s.Step(b), base+slope*engine.Time(b.KVTokens); got != want {
			t.Errorf("%+v takes %d, want %d", b, got, want)
		}
	})
}

// By hand: 1.05 of 1 ms is 1.05 ms, and of 3 ps, 3.15, is 3 ps to the nearest. A hundred times a day does not overflow.
func TestScaledTimes(t *testing.T) {
	s := scaled{engine.Unit{}, 1_050_000}
	if got, want := s.times(engine.Millisecond), engine.Millisecond/100*105; got != want {
		t.Errorf("1.05 of 1 ms is %d ps, want %d", got, want)
	}
	if got := s.times(3); got != 3 {
		t.Errorf("1.05 of 3 ps is %d, want 3", got)
	}
	day := 24 * 3600 * engine.Second
	if got := (scaled{engine.Unit{}, 100_000_000}).times(day / 2); got != 50*day {
		t.Errorf("100 times half a day is %d, want %d", got, 50*day)
	}
}

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
