package reports

import (
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func labels(ticks []tick) string {
	var out []string
	for _, t := range ticks {
		if t.label != "" {
			out = append(out, t.label)
		}
	}
	return strings.Join(out, " ")
}

func TestTicks(t *testing.T) {
	for _, c := range []struct {
		name  string
		scale scale
		n     int
		want  string
	}{
		{"two decades have 1, 2 and 5", scale{0.04, 6, true}, 9, "0.05 0.1 0.2 0.5 1 2 5"},
		{"many have every one", scale{0.9e-3, 2e4, true}, 9, "0.001 0.01 0.1 1 10 100 1000 10k"},
		{"linear from 0", scale{0, 1, false}, 5, "0 0.2 0.4 0.6 0.8 1"},
		{"linear with thousands", scale{0, 45000, false}, 5, "0 10k 20k 30k 40k"},
		{"linear around 0 has no -0", scale{-1, 1, false}, 2, "-1 0 1"},
	} {
		if got := labels(c.scale.ticks(c.n)); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// Whatever the values, a scale can be drawn: every value has a place from 0 to 1, in order, and there are ticks, but few.
func TestScaleLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOf(rapid.OneOf(rapid.Float64Range(-10, 1e6), rapid.Float64Range(1e-12, 1e-3),
			rapid.SampledFrom([]float64{0, math.NaN(), math.Inf(1), math.Inf(-1), 1, 1}))).Draw(t, "values")
		s := logarithmic(values...)
		if rapid.Bool().Draw(t, "linear") {
			s = linear(math.Min(first(s.min, 0), 0), s.max)
		}
		ticks := s.ticks(9)
		if len(labels(ticks)) == 0 || len(ticks) > 120 {
			t.Fatalf("%d ticks on %+v", len(ticks), s)
		}
		for _, a := range values {
			if at := s.at(a); !(at >= 0 && at <= 1) {
				t.Fatalf("%v is at %v on %+v", a, at, s)
			}
			for _, b := range values {
				if a < b && s.at(a) > s.at(b) {
					t.Fatalf("%v is above %v on %+v", a, b, s)
				}
			}
		}
	})
}

func TestViridis(t *testing.T) {
	if len(viridis) != 6*256 {
		t.Fatalf("%d digits, want 6 of each of 256 colours", len(viridis))
	}
	for share, want := range map[float64]uint32{0: 0x440154, 1: 0xfde725, -3: 0x440154, 7: 0xfde725} {
		if got := sequence(share); got != rgb(want) {
			t.Errorf("%v is %v, want %06x", share, got, want)
		}
	}
	last := -1.0
	for i := range 256 { // what makes it a sequence: brighter all the way, to within rounding
		c := sequence((float64(i) + 0.5) / 256)
		bright := 0.299*float64(c.R) + 0.587*float64(c.G) + 0.114*float64(c.B)
		if bright < last-0.5 {
			t.Fatalf("colour %d is darker than the one before", i)
		}
		last = bright
	}
	sequence(math.NaN()) // does not panic
}

func TestCategoriesAreApart(t *testing.T) {
	seen := map[string]bool{}
	for i := range categories {
		k := string(rune(len(categoryDash(i))))
		for _, d := range categoryDash(i) {
			k += " " + trim(float64(d), 1)
		}
		if seen[k] {
			t.Errorf("dash %d is used twice: colour alone tells two policies apart", i)
		}
		seen[k] = true
	}
}
