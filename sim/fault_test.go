package sim

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/seed-2cee110a/triage/engine"
	"github.com/seed-2cee110a/triage/policies"
	"github.com/seed-2cee110a/triage/traces"
)

// mishaps draws faults that fit the cluster, and whether sessions are closed.
func mishaps(t *rapid.T, cfg *Config, tr *traces.Trace) {
	if tr.Previous() != nil {
		cfg.Sessions = rapid.SampledFrom([]Sessions{"", Open, Closed}).Draw(t, "sessions")
	}
	if cfg.Sessions == Closed {
		cfg.Think = rapid.SampledFrom([]time.Duration{time.Nanosecond, 2 * time.Millisecond}).Draw(t, "think")
	}
	cfg.OnCrash = rapid.SampledFrom([]OnCrash{"", Resend, GiveUp}).Draw(t, "on crash")
	cfg.Detect = rapid.SampledFrom([]time.Duration{0, 0, 3 * time.Millisecond, time.Second}).Draw(t, "detect")
	for i := range cfg.Replicas {
		var at time.Duration
		pass := func() time.Duration {
			at += rapid.SampledFrom([]time.Duration{0, 300 * time.Microsecond, time.Millisecond, 5 * time.Millisecond, 20 * time.Millisecond}).Draw(t, "after")
			return at
		}
		add := func(do FaultKind, factor float64) {
			cfg.Faults = append(cfg.Faults, Fault{At: pass(), Replica: fmt.Sprintf("r%d", i), Do: do, Factor: factor})
		}
		if rapid.IntRange(0, 3).Draw(t, "joins") == 0 {
			add(Join, 0)
		}
		dead := false
		for range rapid.IntRange(0, 5).Draw(t, "faults") {
			switch rapid.IntRange(0, 4).Draw(t, "fault") {
			case 0:
				add(Cordon, 0)
			case 1:
				add(Uncordon, 0)
			case 2:
				add(Slow, rapid.SampledFrom([]float64{1, 0.5, 3}).Draw(t, "factor"))
			default:
				add(choose(dead, Restart, Crash), 0)
				dead = !dead
			}
		}
	}
}

// playOut runs a stage to its end and returns the run before it is taken apart.
func playOut(t *rapid.T, s *Stage, policy string) *run {
	p, err := policies.Parse(policy)
	if err != nil {
		t.Fatal(err)
	}
	r, err := s.start(p)
	if err != nil {
		t.Fatal(err)
	}
	for r.now = r.instant(); r.now != engine.Never; r.now = r.instant() {
		r.everything()
	}
	return r
}

// Whatever happens to replicas: every request has one outcome, nothing is left anywhere, in the engines or in the
// router's book, and every crash accounts for what it cut off.
func TestLawsOfARunWithFaults(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cfg, tr := anyCase(t)
		mishaps(t, &cfg, tr)
		s, err := Prepare(cfg, tr)
		if err != nil {
			t.Fatal(err)
		}
		r := playOut(t, s, anyPolicy(t))
		for i, e := range r.engines {
			if l := e.Load(r.result.End + engine.Second); l != (engine.Load{}) {
				t.Errorf("replica %d is left with %+v", i, l)
			}
			for _, w := range r.routers {
				if l := w.book.Local[i]; l.InFlight != 0 || l.UncachedPrefill != 0 || l.HeldTokens != 0 || l.SentTokens != 0 {
					t.Errorf("replica %d: the book is left with %+v", i, l)
				}
			}
		}
		if r.holding() || len(r.landed) != len(r.flights) {
			t.Errorf("requests are left at the gateway: %v; %d of %d flights landed", r.holding(), len(r.landed), len(r.flights))
		}
		res := r.finish()
		checkLaws(t, res)
		checkCrashes(t, res)
		checkFates(t, res)
		checkTurns(t, s, res)
	})
}

// checkCrashes holds the reports of crashes against the outcomes.
func checkCrashes(t tester, r *Result) {
	t.Helper()
	cut, ended := 0, 0
	for _, c := range r.Crashes {
		if c.InFlight != c.Resent+c.Failed {
			t.Errorf("a crash does not add up: %+v", c)
		}
		cut += c.InFlight + c.Bounced
	}
	for i := range r.Outcomes {
		o := &r.Outcomes[i]
		ended += int(o.Retries)
		if o.Reason == Crashed {
			ended++
		}
		if o.Retries > 1 || o.Retries > 0 && r.Config.OnCrash == GiveUp {
			t.Errorf("row %d was sent again %d times", i, o.Retries)
		}
	}
	if cut != ended {
		t.Errorf("crashes cut off %d requests, outcomes know of %d", cut, ended)
	}
}

// checkFates replays the faults for each request that was sent once: it must have gone to a replica that was there and
// taking work, and that lived until its last token.
func checkFates(t tester, r *Result) {
	t.Helper()
	faults := slices.Clone(r.Config.Faults)
	slices.SortStableFunc(faults, func(a, b Fault) int { return int(a.At - b.At) })
	for i := range r.Outcomes {
		o := &r.Outcomes[i]
		if o.Status != Completed || o.Retries > 0 {
			continue
		}
		there := !slices.ContainsFunc(faults, func(f Fault) bool { return f.Do == Join && f.Replica == r.name(o.Replica) })
		cordoned := false
		for _, f := range faults {
			at := engine.FromDuration(f.At)
			if f.Replica != r.name(o.Replica) || at >= o.Finished {
				continue
			}
			if at > o.Dispatched {
				if f.Do == Crash {
					t.Errorf("row %d outlived the crash of its replica at %v: %+v", i, f.At, *o)
				}
				continue
			}
			switch f.Do {
			case Join, Restart:
				there = true
			case Crash:
				there = false
			case Cordon, Uncordon:
				cordoned = f.Do == Cordon
			}
		}
		if !there || cordoned {
			t.Errorf("row %d was sent to a replica that was dead or cordoned: %+v", i, *o)
		}
	}
}

// checkTurns holds the arrivals against what they were to be: as logged, or think time after the end of the turn before.
func checkTurns(t tester, s *Stage, r *Result) {
	t.Helper()
	before := s.trace.Previous()
	for i := range r.Outcomes {
		want := s.arrivals[i]
		if s.cfg.Sessions == Closed && before[i] >= 0 {
			think := s.trace.ThinkNs(i)
			if think == traces.Unknown {
				think = int64(s.cfg.Think)
			}
			want = r.Outcomes[before[i]].Finished + engine.Time(think)*engine.Nanosecond
		}
		if got := r.Outcomes[i].Arrived; got != want {
			t.Errorf("row %d arrives at %v, want %v", i, got, want)
		}
	}
}

// Replaying the arrivals that closed sessions led to with open ones is the same run.
func TestOpenEqualsClosedAtTheSameArrivals(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cfg, tr := anyCase(t)
		if tr.Previous() == nil {
			t.Skip("no sessions")
		}
		cfg.Sessions, cfg.Think, cfg.ReuseOutput = Closed, time.Millisecond, ReuseOff
		cfg.Routers = Routers{} // which of several gets a request depends on its row
		closed := mustRun(t, cfg, "round-robin", tr)
		b := traces.NewBuilder(traces.Meta{BlockSize: 16, BlockTail: traces.TailCeil})
		for o := range closed.Joined() {
			o.Record.Line = o.Row + 1
			if err := b.Add(o.Record); err != nil {
				t.Fatal(err)
			}
		}
		again, err := b.Build()
		if err != nil {
			t.Fatal(err)
		}
		cfg.Sessions, cfg.Think = Open, 0
		open := mustRun(t, cfg, "round-robin", again)
		for i := range open.Outcomes {
			got, want := open.Outcomes[i], closed.Outcomes[again.Line[i]-1]
			got.Row = want.Row
			if got != want {
				t.Fatalf("open %+v, closed %+v", got, want)
			}
		}
	})
}

// The numbers of a dead replica are its last ones, with their age.
func TestADeadReplicasSignalsGoStale(t *testing.T) {
	for _, signals := range []string{"live", "scrape=2ms"} {
		cfg := small()
		cfg.Signals, _ = ParseSignals(signals)
		cfg.Faults = []Fault{{At: 5 * time.Millisecond, Replica: "r0", Do: Crash}}
		tr := fromText(t, strings.Join([]string{
			`{"timestamp":0,"input_length":64,"output_length":30,"hash_ids":[1,2,3,4]}`,
			`{"timestamp":1,"input_length":64,"output_length":30,"hash_ids":[5,6,7,8]}`,
			`{"timestamp":9,"input_length":16,"output_length":2,"hash_ids":[9]}`}, "\n"))
		s, err := Prepare(cfg, tr)
		if err != nil {
			t.Fatal(err)
		}
		r, err := s.start(spec(t, "round-robin"))
		if err != nil {
			t.Fatal(err)
		}
		for r.now < 9*engine.Millisecond {
			r.now = r.instant()
			r.everything()
		}
		rep := &r.routers[0].view.Replicas[0]
		want := choose(cfg.Signals.Scrape == 0, 5*time.Millisecond, 4*time.Millisecond)
		if g := rep.Signals; g.SampledAt != want || g.Running != 1 || g.KVUsed == 0 || !rep.Cordoned {
			t.Errorf("%s: at 9 ms r0 is known by %+v, cordoned %v; want its numbers of %v", signals, g, rep.Cordoned, want)
		}
		if other := &r.routers[0].view.Replicas[1]; other.Signals.SampledAt < 7*time.Millisecond || other.Cordoned {
			t.Errorf("%s: at 9 ms r1 is known by %+v", signals, other)
		}
	}
}

// What the router believed cached is forgotten when it learns of the crash.
func TestBeliefEndsWithTheReplica(t *testing.T) {
	tr := fromText(t, strings.Join([]string{
		`{"timestamp":0,"input_length":64,"output_length":2,"hash_ids":[1,2,3,4]}`,
		`{"timestamp":20,"input_length":64,"output_length":2,"hash_ids":[1,2,3,4]}`}, "\n"))
	for _, detect := range []time.Duration{0, 2 * time.Millisecond, time.Hour} {
		cfg := small()
		cfg.Replicas, cfg.Detect = 1, detect
		affinity := func() float64 {
			r, err := Run(cfg, spec(t, "score"), tr)
			if err != nil {
				t.Fatal(err)
			}
			return r.Decided[1].Affinity
		}
		if a := affinity(); a == 0 {
			t.Error("without a crash nothing is believed cached")
		}
		cfg.Faults = []Fault{{At: 10 * time.Millisecond, Replica: "r0", Do: Crash}, {At: 15 * time.Millisecond, Replica: "r0", Do: Restart}}
		if a := affinity(); a != 0 {
			t.Errorf("detected after %v: affinity %v after the restart, want 0", detect, a)
		}
	}
}

func TestBadFaults(t *testing.T) {
	for _, c := range []struct {
		faults []Fault
		want   string
	}{
		{[]Fault{{Replica: "r9", Do: Crash}}, `faults name the replica "r9", want one of r0 to r1`},
		{[]Fault{{Replica: "r0", Do: "explode"}}, `faults[0]: do is "explode", want one of cordon, uncordon, crash, restart, mute, unmute, slow, join`},
		{[]Fault{{Replica: "r0", Do: Slow}}, "faults[0]: factor is 0, want 0.01 to 100; 1 restores"},
		{[]Fault{{Replica: "r0", Do: Crash, Factor: 2}}, "faults[0]: factor is given, but only slow has one, not crash"},
		{[]Fault{{Replica: "r0", Do: Crash, At: -1}}, "faults[0]: at is -1ns, want 0 to"},
		{[]Fault{{Replica: "r0", Do: Restart, At: time.Second}}, "faults: r0 restarts without a crash at 1s"},
		{[]Fault{{Replica: "r0", Do: Crash, At: 2}, {Replica: "r0", Do: Crash, At: 1}}, "faults: r0 crashes again before it restarts at 2ns"},
		{[]Fault{{Replica: "r0", Do: Join, At: 2}, {Replica: "r0", Do: Cordon, At: 1}}, "faults: r0 has a cordon before it joins at 1ns"},
		{[]Fault{{Replica: "r0", Do: Join, At: 2}, {Replica: "r0", Do: Join, At: 3}}, "faults: r0 joins twice at 3ns"},
	} {
		cfg := small()
		cfg.Faults = c.faults
		_, err := Prepare(cfg, fromText(t, `{"timestamp":0,"input_length":64,"output_length":2,"hash_ids":[1,2,3,4]}`))
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%v: error %v, want %s", c.faults, err, c.want)
		}
	}
}
