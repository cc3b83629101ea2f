package sim

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// The radix sort orders as the library does, whatever the signs and magnitudes.
func TestSortFloats(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		some := rapid.SliceOfN(rapid.Float64(), 1, 40).Draw(t, "some")
		scale := rapid.SampledFrom([]float64{1e-12, 1, 1e200}).Draw(t, "scale")
		x := make([]float64, 1<<digit+rapid.IntRange(-1, 300).Draw(t, "more"))
		for i := range x {
			x[i] = some[i%len(some)]/float64(i+1) + scale*float64(i*7919%1009)
		}
		want := slices.Clone(x)
		slices.Sort(want)
		if sortFloats(x); !slices.Equal(x, want) {
			t.Fatal("not the order of slices.Sort")
		}
	})
}

func BenchmarkSortFloats(b *testing.B) {
	from := make([]float64, 12000)
	for i := range from {
		from[i] = unit(1, uint64(i), keyStream) * 30
	}
	x := make([]float64, len(from))
	for name, sort := range map[string]func([]float64){"radix": sortFloats, "slices": slices.Sort[[]float64]} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				copy(x, from)
				sort(x)
			}
		})
	}
}
