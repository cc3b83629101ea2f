package policies

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// The percentile is that of a sorted list by nearest rank, or up to an eighth above it.
func TestQuantileAgainstNaive(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var q quantile
		var all []int32
		most := rapid.SampledFrom([]int32{3, 100, 10_000, math.MaxInt32}).Draw(t, "most")
		for range rapid.IntRange(1, 300).Draw(t, "numbers") {
			x := rapid.Int32Range(0, most).Draw(t, "x")
			q.add(x)
			all = append(all, x)
			sorted := slices.Sorted(slices.Values(all))
			want := int64(sorted[int(math.Ceil(0.75*float64(len(sorted))))-1])
			if got := int64(q.value()); got < want || got > want+want/8 {
				t.Fatalf("percentile %d of %v, want %d..%d", got, sorted, want, want+want/8)
			}
		}
	})
}

// The buckets lie side by side, and a number is in the one that ends at or above it.
func TestBuckets(t *testing.T) {
	for b := range int32(quantileBuckets) {
		end := bucketEnd(b)
		if bucketOf(end) != b || end < math.MaxInt32 && bucketOf(end+1) != b+1 {
			t.Errorf("bucket %d ends at %d, which is in %d, and the next in %d", b, end, bucketOf(end), bucketOf(end+1))
		}
	}
	if bucketEnd(quantileBuckets-1) != math.MaxInt32 {
		t.Errorf("the last bucket ends at %d", bucketEnd(quantileBuckets-1))
	}
}

// Old numbers fade: 20,000 of 1000 tokens are outweighed by the 12,000 of 10 that come after them. Without fading they would
// be the percentile still.
func TestQuantileFades(t *testing.T) {
	var fading, kept quantile
	for i := range 32_000 {
		x := int32(1000)
		if i >= 20_000 {
			x = 10
		}
		fading.add(x)
		fading.age()
		kept.add(x)
	}
	if got, without := fading.value(), kept.value(); got != 10 || without < 1000 {
		t.Errorf("percentile %d of what was mostly 10 lately, want 10; %d without fading, want at least 1000", got, without)
	}
}

// The order of numbers between two calls of age does not matter.
func TestQuantileOrder(t *testing.T) {
	var a, b quantile
	for k := range int32(9) {
		for i := range int32(1000) {
			a.add(i * k)
			b.add((999 - i) * k)
		}
		a.age()
		b.age()
	}
	if a != b {
		t.Errorf("%+v and %+v differ", a.value(), b.value())
	}
}

// A tenant's output does not show in another's, with few tenants and many, nor before the first one finished.
func TestOutputsByTenant(t *testing.T) {
	var o outputs
	for _, tenant := range []ID{0, 7, manyTenants, -1} {
		if got := o.p75(tenant); got != 0 {
			t.Errorf("tenant %d is expected to have %d before its first, want 0", tenant, got)
		}
		o.add(tenant, 8+int32(tenant&7))
	}
	for tenant, want := range map[ID]int32{0: 8, 7: 15, manyTenants: 8, -1: 15, 1: 0} {
		if got := o.p75(tenant); got != want {
			t.Errorf("tenant %d is expected to have %d, want %d", tenant, got, want)
		}
	}
}
