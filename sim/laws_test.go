package sim

import (
	"context"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/seed-2cee110a/triage/engine"
	"github.com/seed-2cee110a/triage/policies"
	"github.com/seed-2cee110a/triage/traces"
)

type tester interface {
	Helper()
	Errorf(string, ...any)
}

// checkLaws checks what must hold after every run.
func checkLaws(t tester, r *Result) {
	t.Helper()
	if len(r.Outcomes) != r.Config.Limit {
		t.Errorf("%d outcomes of %d requests", len(r.Outcomes), r.Config.Limit)
	}
	served := make([]int, len(r.Replicas))
	for i := range r.Outcomes {
		o := &r.Outcomes[i]
		if int(o.Row) != i {
			t.Errorf("outcome %d is of row %d", i, o.Row)
		}
		switch o.Status {
		case Completed:
			served[o.Replica]++
			if !(o.Arrived <= o.Dispatched && o.Dispatched <= o.Scheduled && o.Scheduled < o.First && o.First <= o.Finished) {
				t.Errorf("row %d: times out of order: %+v", i, *o)
			}
			block := r.BlockSize(o.Replica)
			if o.Retries > 0 { // the hit is that of the replica from which the first token came
				block = 1
			}
			if o.Hit < 0 || o.Hit >= r.Trace.Prompt[i] || int(o.Hit)%block != 0 {
				t.Errorf("row %d: hit %d of %d tokens", i, o.Hit, r.Trace.Prompt[i])
			}
			if !o.Held && o.Retries == 0 && o.Dispatched != o.Arrived {
				t.Errorf("row %d waited at the gateway and is not marked held", i)
			}
		case Rejected:
			if o.Reason == None || o.Finished < o.Arrived {
				t.Errorf("row %d: rejected with %+v", i, *o)
			}
			if sent := o.Retries > 0 || o.Reason == Crashed; !sent && (o.Replica >= 0 || o.First >= 0) || o.First > o.Finished {
				t.Errorf("row %d: rejected, and was served: %+v", i, *o)
			}
		}
	}
	for i, rep := range r.Replicas {
		if rep.Requests != served[i] {
			t.Errorf("replica %s served %d, outcomes say %d", rep.Name, rep.Requests, served[i])
		}
	}
	s := r.Summary()
	if s.Completed+s.Rejected != s.Requests || s.Completed > 0 && !(s.Imbalance >= 1 && s.HitRatio >= 0 && s.HitRatio < 1) {
		t.Errorf("summary contradicts itself: %+v", s)
	}
}

// anyPolicy draws a policy with knobs that matter.
func anyPolicy(t *rapid.T) string {
	return rapid.SampledFrom([]string{"round-robin", "random", "least-request", "score", "score:fit=off", "score:prefix=oracle",
		"score:prefix=bucket,n=16,k=1", "score:norm=absolute,sent=off", "score:stale=2ms,stale_as=full", "score:ttl=5ms"}).Draw(t, "policy")
}

// anyCase draws a small cluster and a trace that presses on it.
func anyCase(t *rapid.T) (Config, *traces.Trace) {
	cfg := small()
	cfg.Replicas = rapid.IntRange(1, 4).Draw(t, "replicas")
	cfg.BlocksOverride = rapid.IntRange(4, 40).Draw(t, "blocks")
	cfg.Engine.MaxNumSeqs = rapid.IntRange(1, 6).Draw(t, "seqs")
	cfg.Engine.MaxNumBatchedTokens = rapid.IntRange(8, 128).Draw(t, "budget")
	cfg.Engine.AsyncScheduling = rapid.Bool().Draw(t, "async")
	cfg.Engine.MaxModelLen = rapid.SampledFrom([]int{0, 0, 300}).Draw(t, "max len")
	overhead := rapid.SampledFrom([]engine.Time{0, 0, engine.Millisecond / 2, 3 * engine.Millisecond})
	cfg.Engine.OverheadBefore, cfg.Engine.OverheadAfter = overhead.Draw(t, "before"), overhead.Draw(t, "after")
	cfg.Gateway.MaxQueue = rapid.IntRange(0, 3).Draw(t, "gateway queue")
	cfg.Gateway.Deadline = rapid.SampledFrom([]time.Duration{0, 3 * time.Millisecond, time.Second}).Draw(t, "deadline")
	cfg.Signals = rapid.SampledFrom([]Signals{{}, {}, {Scrape: 2 * time.Millisecond}, {Scrape: 7 * time.Millisecond},
		{Scrape: 3 * time.Millisecond, Delay: 2 * time.Millisecond, Phase: Together}, {Scrape: 2 * time.Millisecond, Delay: 5 * time.Millisecond},
		{Push: time.Microsecond}, {Push: 4 * time.Millisecond, Fields: policies.HasWaiting}}).Draw(t, "signals")
	cfg.Routers = Routers{N: rapid.IntRange(0, 3).Draw(t, "routers"), By: rapid.SampledFrom(Splits).Draw(t, "split")}
	if rapid.Bool().Draw(t, "gateway") {
		cfg.Gateway.EDF = rapid.Bool().Draw(t, "edf")
		cfg.Gateway.Turn = rapid.SampledFrom([]int64{0, 64, 500}).Draw(t, "turn")
		cfg.Gateway.InFlight = rapid.Int32Range(0, 3).Draw(t, "in flight")
		cfg.Gateway.InFlightTokens = rapid.SampledFrom([]int64{0, 40, 200}).Draw(t, "tokens in flight")
		cfg.Gateway.MaxTokens = rapid.SampledFrom([]int64{0, 100}).Draw(t, "queue tokens")
		cfg.Gateway.Classes = rapid.SampledFrom([][]Class{nil, {{SLO: "fast", Priority: 1, Deadline: 2 * time.Millisecond}, {SLO: "*", Deadline: time.Second}}}).Draw(t, "classes")
		cfg.Gateway.Limits = rapid.SampledFrom([][]TenantLimit{nil, {{"a", policies.RateLimit{Rate: 1e4, Burst: 100}}}}).Draw(t, "limits")
	}
	return cfg, anyTrace(t)
}

// anyTrace draws requests in blocks of 16 tokens, many of which share prefixes.
func anyTrace(t *rapid.T) *traces.Trace {
	return anyTraceOf(t, func(r *traces.Record) {
		r.Session = rapid.SampledFrom([]string{"", "a", "b", "c"}).Draw(t, "session")
		r.ThinkNs = rapid.SampledFrom([]int64{traces.Unknown, 0, 500_000, 4_000_000}).Draw(t, "think")
	})
}

// anyTraceOf is anyTrace with more drawn for each record.
func anyTraceOf(t *rapid.T, more func(*traces.Record)) *traces.Trace {
	b := traces.NewBuilder(traces.Meta{BlockSize: 16, BlockTail: traces.TailCeil})
	n := rapid.IntRange(1, 40).Draw(t, "requests")
	var at, id int64
	var prompts [][]int64
	for i := range n {
		at += rapid.SampledFrom([]int64{0, 0, 500_000, 1_000_000, 3_000_000, 11_000_000}).Draw(t, "gap")
		var blocks []int64
		if len(prompts) > 0 && rapid.IntRange(0, 3).Draw(t, "shares") > 0 {
			p := rapid.SampledFrom(prompts).Draw(t, "with")
			blocks = append(blocks, p[:rapid.IntRange(0, len(p)).Draw(t, "up to")]...)
		}
		for range rapid.IntRange(0, 5).Draw(t, "fresh") {
			id++
			blocks = append(blocks, id)
		}
		prompts = append(prompts, blocks)
		r := traces.NewRecord()
		r.ArrivalNs, r.Line = at, int64(i+1)
		r.PromptTokens = int32(max(1, 16*len(blocks)))
		r.OutputTokens = rapid.SampledFrom([]int32{1, 2, 5, 17, 40}).Draw(t, "output")
		r.Tenant = rapid.SampledFrom([]string{"", "a", "b"}).Draw(t, "tenant")
		r.SLO = rapid.SampledFrom([]string{"", "", "fast"}).Draw(t, "slo")
		if len(blocks) > 0 {
			r.Blocks = blocks
		}
		more(&r)
		if err := b.Add(r); err != nil {
			t.Fatal(err)
		}
	}
	tr, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

func mustRun(t *rapid.T, cfg Config, policy string, tr *traces.Trace) *Result {
	p, err := policies.Parse(policy)
	if err != nil {
		t.Fatal(err)
	}
	r, err := Run(cfg, p, tr)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestLawsOfARun(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cfg, tr := anyCase(t)
		checkLaws(t, mustRun(t, cfg, anyPolicy(t), tr))
	})
}

// sameRun compares two runs, NaN being equal to NaN.
func sameRun(a, b *Result) string {
	return cmp.Diff([]any{a.Outcomes, a.Decided, a.Replicas, a.Signals, a.End, a.Crashes, a.Warnings},
		[]any{b.Outcomes, b.Decided, b.Replicas, b.Signals, b.End, b.Crashes, b.Warnings},
		cmpopts.EquateNaNs())
}

func TestRunsAreRepeatableOnAnyNumberOfWorkers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cfg, tr := anyCase(t)
		var specs []policies.Spec
		for range rapid.IntRange(1, 4).Draw(t, "runs") {
			p, err := policies.Parse(anyPolicy(t))
			if err != nil {
				t.Fatal(err)
			}
			specs = append(specs, p)
		}
		one, err := RunAll(context.Background(), cfg, specs, tr, 1, nil)
		if err != nil {
			t.Fatal(err)
		}
		many, err := RunAll(context.Background(), cfg, specs, tr, 4, nil)
		if err != nil {
			t.Fatal(err)
		}
		for i := range specs {
			if diff := sameRun(one[i], many[i]); diff != "" {
				t.Fatalf("%s with 1 and 4 workers:\n%s", specs[i].Text, diff)
			}
		}
	})
}

// sameOnStages wants a run of any policy to come out the same on the stage and on what each of others makes of it.
func sameOnStages(t *rapid.T, cfg Config, tr *traces.Trace, others ...func(*Stage) *Stage) {
	p, err := policies.Parse(anyPolicy(t))
	if err != nil {
		t.Fatal(err)
	}
	st, err := Prepare(cfg, tr)
	if err != nil {
		t.Fatal(err)
	}
	want, err := st.Run(context.Background(), p, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, other := range others {
		got, err := other(st).Run(context.Background(), p, nil)
		if err != nil {
			t.Fatal(err)
		}
		if diff := sameRun(want, got); diff != "" {
			t.Fatalf("%s (-stage +other %d):\n%s", p.Text, i, diff)
		}
	}
}

func TestNeitherJumpsNorMemoryOfEarlierRunsChangeAnything(t *testing.T) {
	again := func(s *Stage) *Stage { return s }
	rapid.Check(t, func(t *rapid.T) {
		cfg, tr := anyCase(t)
		mishaps(t, &cfg, tr)
		sameOnStages(t, cfg, tr, again, singleStep)
	})
}

// Shifting all arrivals by whole scrape intervals shifts all times, whatever the policy.
func TestShiftingArrivalsShiftsEverything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cfg, tr := anyCase(t)
		policy := anyPolicy(t)
		shift := int64(210 * time.Millisecond) // a multiple of every interval drawn
		if cfg.Signals.Scrape > 0 {            // before the first report the router knows nothing
			tr = shifted(tr, shift)
		}
		a, b := mustRun(t, cfg, policy, tr), mustRun(t, cfg, policy, shifted(tr, shift))
		for i := range a.Outcomes {
			o := &a.Outcomes[i]
			for _, x := range []*engine.Time{&o.Arrived, &o.Dispatched, &o.Scheduled, &o.First, &o.Finished} {
				if *x >= 0 {
					*x += engine.Time(shift) * engine.Nanosecond
				}
			}
		}
		if diff := cmp.Diff(a.Outcomes, b.Outcomes); diff != "" {
			t.Fatalf("%s (-shifted run +run of the shifted trace):\n%s", policy, diff)
		}
	})
}

// Leaving out reports that nobody looks at changes nothing.
func TestSkippedScrapesChangeNothing(t *testing.T) {
	every := func(s *Stage) *Stage {
		c := *s
		c.everyScrape = true
		return &c
	}
	rapid.Check(t, func(t *rapid.T) {
		cfg, tr := anyCase(t)
		cfg.Signals.Push = 0
		cfg.Signals.Scrape = rapid.SampledFrom([]time.Duration{time.Millisecond, 2 * time.Millisecond, 7 * time.Millisecond}).Draw(t, "interval")
		mishaps(t, &cfg, tr)
		sameOnStages(t, cfg, tr, every)
	})
}

func shifted(tr *traces.Trace, by int64) *traces.Trace {
	c := *tr
	c.ArrivalNs = make([]int64, tr.Len())
	for i, ns := range tr.ArrivalNs {
		c.ArrivalNs[i] = ns + by
	}
	return &c
}

// A run does not know the future: requests added at the end change nothing that finished before them.
func TestLaterRequestsChangeNothingBefore(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cfg, tr := anyCase(t)
		policy := anyPolicy(t)
		all := mustRun(t, cfg, policy, tr)
		cfg.Limit = rapid.IntRange(1, tr.Len()).Draw(t, "limit")
		some := mustRun(t, cfg, policy, tr)
		after := engine.Never
		if cfg.Limit < tr.Len() {
			after = all.Outcomes[cfg.Limit].Arrived
		}
		for i := range some.Outcomes {
			if a, b := all.Outcomes[i], some.Outcomes[i]; a.Finished < after && a != b {
				t.Fatalf("row %d with and without later requests:\n%+v\n%+v", i, a, b)
			}
		}
	})
}

// The terms of a decision sum to its score, and the score is the winner's.
func TestTermsSumToTheScore(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cfg, tr := anyCase(t)
		r := mustRun(t, cfg, "score", tr)
		for i, d := range r.Decided {
			sum := 0.0
			for _, x := range d.Terms {
				sum += x
			}
			if r.Outcomes[i].Replica >= 0 && sum != d.Score {
				t.Fatalf("row %d: terms %v sum to %v, score %v", i, d.Terms, sum, d.Score)
			}
			if r.Outcomes[i].Replica < 0 && !math.IsNaN(d.Score) && r.Outcomes[i].Held == false {
				t.Fatalf("row %d was never dispatched and has score %v", i, d.Score)
			}
		}
	})
}

// What a Time cannot hold is an error, not a wrapped number.
func TestTooLongARun(t *testing.T) {
	b := traces.NewBuilder(traces.Meta{})
	for i := range 3 {
		r := traces.NewRecord()
		r.Line, r.PromptTokens, r.OutputTokens = int64(i+1), 100_000_000, 2
		if err := b.Add(r); err != nil {
			t.Fatal(err)
		}
	}
	tr, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	cfg := Default()
	cfg.Replicas, cfg.GPU, cfg.KVTokens, cfg.Engine.MaxNumBatchedTokens = 1, "L4", 1e9, 1<<20
	_, err = Run(cfg, spec(t, "round-robin"), tr)
	if err == nil || !strings.Contains(err.Error(), "after 53 days 3 of 3 requests are not finished") {
		t.Errorf("error %v, want one that names the days", err)
	}
}
