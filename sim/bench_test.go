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

// BenchmarkEngines plays a job to the engine and to a slower one in one process, policy score, and says how many times
// longer the other takes. The bars are 8 for the engine with every step formed alone, on the whole trace, and 100 for the
// naive reference, on its first 1,000 requests. Both must give the same outcomes as the engine.
func BenchmarkEngines(b *testing.B) {
	tr := conversation(b)
	for _, c := range []struct {
		name  string
		limit int
		other func(*Stage) *Stage
	}{{"single-step", 0, singleStep}, {"reference", 1000, referenced}} {
		b.Run(c.name, func(b *testing.B) {
			cfg := clusterC()
			cfg.Limit = c.limit
			st, err := Prepare(cfg, tr)
			if err != nil {
				b.Fatal(err)
			}
			other := c.other(st)
			var fast, slow time.Duration
			const often = 10 // the short one more often, against noise
			for b.Loop() {
				d, got := timed(b, other)
				slow += d
				for range often {
					d, want := timed(b, st)
					fast += d
					sameOutcomes(b, want, got)
				}
			}
			b.ReportMetric(slow.Seconds()*often/fast.Seconds(), "times")
		})
	}
}

func timed(b *testing.B, s *Stage) (time.Duration, *Result) {
	b.Helper()
	start := time.Now()
	r, err := s.Run(b.Context(), spec(b, "score"), nil)
	if err != nil {
		b.Fatal(err)
	}
	return time.Since(start), r
}

func sameOutcomes(t testing.TB, want, got *Result) {
	t.Helper()
	for i := range want.Outcomes {
		if want.Outcomes[i] != got.Outcomes[i] {
			t.Fatalf("row %d: %+v, want %+v", i, got.Outcomes[i], want.Outcomes[i])
		}
	}
}
