package engine

import (
	"testing"

	"pgregory.net/rapid"
)

// A scaled model keeps the promise of every cost model: a step of decoding sequences alone is exactly what Decode says.
func TestScaledStepIsWhatDecodeSays(t *testing.T) {
	m, err := LookupModel("Qwen/Qwen3-32B")
	if err != nil {
		t.Fatal(err)
	}
	g, err := LookupGPU("H100")
	if err != nil {
		t.Fatal(err)
	}
	physical, err := NewPhysical(m, g, 2, 8192)
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		s := Scaled(physical, float64(rapid.IntRange(1e4, 1e8).Draw(t, "millionths"))/1e6)
		b := Batch{Decode: rapid.IntRange(1, 1024).Draw(t, "decode"), KVTokens: rapid.Int64Range(0, 1<<40).Draw(t, "kv")}
		base, slope := s.Decode(b.Decode)
		if got, want := s.Step(b), base+slope*Time(b.KVTokens); got != want {
			t.Errorf("%+v takes %d, want %d", b, got, want)
		}
	})
}

// By hand: 1.05 of 1 ms is 1.05 ms, and of 3 ps, 3.15, is 3 ps to the nearest. A hundred times a day does not overflow.
func TestScaledTimes(t *testing.T) {
	s := scaled{Unit{}, 1_050_000}
	if got, want := s.times(Millisecond), Millisecond/100*105; got != want {
		t.Errorf("1.05 of 1 ms is %d ps, want %d", got, want)
	}
	if got := s.times(3); got != 3 {
		t.Errorf("1.05 of 3 ps is %d, want 3", got)
	}
	day := 24 * 3600 * Second
	if got := (scaled{Unit{}, 100_000_000}).times(day / 2); got != 50*day {
		t.Errorf("100 times half a day is %d, want %d", got, 50*day)
	}
}
