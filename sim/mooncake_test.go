package sim

import (
	"os"
	"testing"

	"github.com/seed-2cee110a/triage/policies"
	"github.com/seed-2cee110a/triage/traces"
)

const mooncake = "../../shared/traces/mooncake/conversation_trace.jsonl.gz"

// conversation loads the Mooncake conversation trace, which lies beside the checkout.
func conversation(t testing.TB) *traces.Trace {
	t.Helper()
	if _, err := os.Stat(mooncake); err != nil {
		t.Skip("no shared traces beside the checkout")
	}
	tr, err := traces.Open(mooncake, traces.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// clusterC is eight replicas of Qwen3-32B on two H100s each.
func clusterC() Config {
	cfg := Default()
	cfg.KVTokens = 307328
	return cfg
}

func spec(t testing.TB, text string) policies.Spec {
	t.Helper()
	s, err := policies.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func testLook(t *testing.T) {
	tr := conversation(t)
	for _, p := range []string{"round-robin", "score", "score:prefix=oracle", "score:prefix=bucket", "score:fit=off", "least-request", "score:norm=absolute"} {
		r, err := Run(clusterC(), spec(t, p), tr)
		if err != nil {
			t.Fatal(err)
		}
		s := r.Summary()
		t.Logf("%-30s mean %.3f p50 %.3f p90 %.3f hit %.4f believed %.4f imb %.3f rej %d held %d pre %d tpot %.4f", p, s.TTFT.Mean, s.TTFT.P50, s.TTFT.P90, s.HitRatio, s.Believed, s.Imbalance, s.Rejected, s.Held, s.Preemptions, s.TPOT.Mean)
	}
}

func BenchmarkReplay(b *testing.B) {
	tr := conversation(b)
	for _, p := range []string{"round-robin", "score"} {
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
