package sim

import (
	"syscall"
	"testing"
	"time"

	"github.com/seed-2cee110a/triage/engine"
	"github.com/seed-2cee110a/triage/traces"
)

// BenchmarkReplay plays an hour of production traffic (Mooncake conversation, 12,031 requests) to eight replicas with
// live signals. The bar is 2 us of CPU time a request. The profile is flat: two fifths are the engine (forming steps,
// admission, eviction), a third the pick and the prefix index, the rest the loop. Memory that is not asked for anew in
// every run was worth a tenth.
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
			start := cpuTime()
			for b.Loop() {
				if _, err := st.Run(b.Context(), sp, nil); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64((cpuTime()-start).Nanoseconds())/float64(b.N)/float64(tr.Len()), "cpu-ns/request")
		})
	}
}

// BenchmarkLargeCluster plays made-up chat, 1,500 requests a second, to 64 replicas, policy score. What a request costs is
// mostly what is done for each of 64 replicas: a third the pick, a third looking at their signals, of which most are what
// they were. Asking only the replicas whose numbers can have changed took a third off.
func BenchmarkLargeCluster(b *testing.B) {
	tr, err := traces.Generate(traces.Params{Seed: 1, Requests: 100_000, Rate: 1500, Tenants: 500, Turns: 1, BlockSize: 64, BlockTail: traces.TailCeil,
		System: traces.Length{Median: 256, Min: 256, Max: 256}, User: traces.Length{Median: 256, Sigma: 0.5, Min: 32, Max: 2048},
		Output: traces.Length{Median: 128, Sigma: 0.5, Min: 8, Max: 1024}})
	if err != nil {
		b.Fatal(err)
	}
	cfg := clusterC()
	cfg.Replicas = 64
	st, err := Prepare(cfg, tr)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	start := cpuTime()
	for b.Loop() {
		if _, err := st.Run(b.Context(), spec(b, "score"), nil); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64((cpuTime()-start).Nanoseconds())/float64(b.N)/float64(tr.Len()), "cpu-ns/request")
}

// BenchmarkEngines plays the dispatches of that replay (policy score, live signals) to the engine and to a slower one in
// one process and says how many times longer the other takes: the whole trace to the engine with every step formed alone,
// its first 1,000 requests to the naive reference. Both must do exactly as the engine does. What the router costs is not
// in it; see BenchmarkReplays.
func BenchmarkEngines(b *testing.B) {
	eachEngine(b, func(b *testing.B, fast, slow *Stage) {
		want, err := fast.Run(b.Context(), spec(b, "score"), nil)
		if err != nil {
			b.Fatal(err)
		}
		compareTimes(b, func() { play(b, fast, want) }, func() { play(b, slow, want) })
	})
}

// BenchmarkReplays does the same with whole replays, the router included. The bars are 8 for single steps, which is
// reached by little (with some six sequences a replica a single step is cheap, and what router and loop cost for a request
// is in both), and 100 for the reference. A run of single steps goes from event to event; one with jumps from instant to
// instant at which a request is routed, which alone took it from 6 to 7.7.
func BenchmarkReplays(b *testing.B) {
	eachEngine(b, func(b *testing.B, fast, slow *Stage) {
		run := func(s *Stage) *Result {
			r, err := s.Run(b.Context(), spec(b, "score"), nil)
			if err != nil {
				b.Fatal(err)
			}
			return r
		}
		want := run(fast)
		compareTimes(b, func() { run(fast) }, func() { sameOutcomes(b, want, run(slow)) })
	})
}

func eachEngine(b *testing.B, f func(b *testing.B, fast, slow *Stage)) {
	tr := conversation(b)
	for _, c := range []struct {
		name  string
		limit int
		slow  func(*Stage) *Stage
	}{{"single-step", 0, singleStep}, {"reference", 1000, referenced}} {
		b.Run(c.name, func(b *testing.B) {
			cfg := clusterC()
			cfg.Limit = c.limit
			st, err := Prepare(cfg, tr)
			if err != nil {
				b.Fatal(err)
			}
			f(b, st, c.slow(st))
		})
	}
}

// compareTimes reports how many times longer slow takes: the shortest of its times over the shortest of fast's, which
// runs more often, since what else the machine does can only add. Times are the process's own CPU time.
func compareTimes(b *testing.B, fast, slow func()) {
	quick, long := time.Hour, time.Hour
	for b.Loop() {
		for range 10 {
			quick = min(quick, timed(fast))
		}
		long = min(long, timed(slow))
	}
	b.ReportMetric(quick.Seconds()*1000, "ms/fast")
	b.ReportMetric(long.Seconds()*1000, "ms/slow")
	b.ReportMetric(long.Seconds()/quick.Seconds(), "times")
}

func timed(f func()) time.Duration {
	start := cpuTime()
	f()
	return cpuTime() - start
}

func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// play gives each replica the dispatches of a run, without a router, and checks that it serves them as in that run.
func play(b *testing.B, s *Stage, want *Result) {
	b.Helper()
	rows := make([][]int32, len(want.Replicas))
	for i := range want.Outcomes {
		if o := &want.Outcomes[i]; o.Replica >= 0 {
			rows[o.Replica] = append(rows[o.Replica], o.Row)
		}
	}
	var events []engine.Event
	for i := range rows {
		e, err := s.build(i)
		if err != nil {
			b.Fatal(err)
		}
		events = events[:0]
		for _, row := range rows[i] {
			at := want.Outcomes[row].Dispatched
			e.Advance(at, &events)
			e.Submit(at, s.sequence(row, row))
		}
		for at := e.Next(); at != engine.Never; at = e.Next() {
			e.Advance(at, &events)
		}
		for _, v := range events {
			o := &want.Outcomes[v.Seq]
			if v.Kind == engine.FirstToken && (v.At != o.First || v.Hit != o.Hit) || v.Kind == engine.Finish && v.At != o.Finished {
				b.Fatalf("row %d: %+v, want %+v", v.Seq, v, *o)
			}
		}
	}
}

func sameOutcomes(t testing.TB, want, got *Result) {
	t.Helper()
	for i := range want.Outcomes {
		if want.Outcomes[i] != got.Outcomes[i] {
			t.Fatalf("row %d: %+v, want %+v", i, got.Outcomes[i], want.Outcomes[i])
		}
	}
}
