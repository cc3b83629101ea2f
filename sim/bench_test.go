package sim

import (
	"testing"
	"time"
)

// BenchmarkReplay plays an hour of production traffic (Mooncake conversation, 12,031 requests) to eight replicas with
// live signals. The bar is 2 us a request on one core. The profile is flat: half is the engine (forming steps, admission,
// eviction), a quarter the pick and the prefix index, the rest the loop.
func BenchmarkReplay(b *testing.B) {
	tr := conversation(b)
	for _, p := range []string{"round-robin", "score", "score:prefix=oracle"} {
		b.Run(p, func(b *testing.B) {
			st, err := Prepare(clusterC(), tr)
			if err != nil {
				b.Fatal(err)
			}
			sp := spec(b, p)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := st.Run(b.Context(), sp, nil); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(tr.Len()), "ns/request")
		})
	}
}

// BenchmarkEngines plays the same job, policy score, to three engines in one process: the engine, the engine with every
// step formed alone, and the naive reference. All three must give the same outcomes. The bars are 8 and 100.
func BenchmarkEngines(b *testing.B) {
	tr := conversation(b)
	st, err := Prepare(clusterC(), tr)
	if err != nil {
		b.Fatal(err)
	}
	single, naive := singleStep(st), referenced(st)
	sp := spec(b, "score")
	timed := func(s *Stage) (time.Duration, *Result) {
		start := time.Now()
		r, err := s.Run(b.Context(), sp, nil)
		if err != nil {
			b.Fatal(err)
		}
		return time.Since(start), r
	}
	var fast, steps, reference time.Duration
	for b.Loop() {
		d, want := timed(st)
		fast += d
		for range 9 { // the short one more often, against noise
			d, _ = timed(st)
			fast += d
		}
		d, got := timed(single)
		steps += d
		sameOutcomes(b, want, got)
		d, got = timed(naive)
		reference += d
		sameOutcomes(b, want, got)
	}
	one := fast.Seconds() / 10
	b.ReportMetric(steps.Seconds()/one, "x-single-step")
	b.ReportMetric(reference.Seconds()/one, "x-reference")
}

func sameOutcomes(t testing.TB, want, got *Result) {
	t.Helper()
	for i := range want.Outcomes {
		if want.Outcomes[i] != got.Outcomes[i] {
			t.Fatalf("row %d: %+v, want %+v", i, got.Outcomes[i], want.Outcomes[i])
		}
	}
}
