package reports

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-2cee110a/triage/policies"
	"github.com/seed-2cee110a/triage/sim"
	"github.com/seed-2cee110a/triage/traces"
)

// Each diagnosis has a trace and a cluster that trigger it and a pair near them that does not.
func TestDiagnoses(t *testing.T) {
	cluster := func(change ...func(*sim.Config)) sim.Config {
		cfg := sim.Default()
		for _, f := range change {
			f(&cfg)
		}
		return cfg
	}
	replicas := func(n int) func(*sim.Config) { return func(c *sim.Config) { c.Replicas = n } }
	kv := func(n int64) func(*sim.Config) { return func(c *sim.Config) { c.KVTokens = n } }
	scraped := func(c *sim.Config) { c.Signals.Scrape = 30 * time.Second }
	faster, slower := func(c *sim.Config) { c.Speed = 2 }, func(c *sim.Config) { c.Speed = 0.85 }
	lighter := func(c *sim.Config) { c.Speed = 0.7 }
	near := madeUp(t, "near-capacity", 2000, nil)
	hot, small, crowd := hotPrefix(t), bigAndSmall(t, 400), crowdOf(t, 12)
	chat := madeUp(t, "chat", 1500, func(p *traces.Params) {
		p.Tenants, p.Skew, p.Rate, p.Turns = 8, 1.5, 8, 1
		p.System = traces.Length{Median: 12000, Min: 12000, Max: 12000}
		p.Burst = traces.Burst{Factor: 2, On: 5 * time.Second, Off: 15 * time.Second}
	})
	for _, test := range []struct {
		name    string
		id      string
		cfg     sim.Config
		tr      *traces.Trace
		policy  string
		perfect bool
		want    []string // in the text of the policy's finding; nil: the rule must be silent
		numbers string   // of the evidence
	}{
		{"old signals hold requests back", "picker-or-stale", cluster(scraped), near, "score", false,
			[]string{"requests queue at the gateway", "while engines look idle", "the signals are stale (", "fit=off"}, "signal_age_p95_s"},
		{"fresh signals do not", "picker-or-stale", cluster(), near, "score", false, nil, ""},
		{"a picker that waits for the one replica with the prefix", "picker-or-stale", cluster(replicas(4), kv(60_000)), crowd,
			"score:aff=100,q=0,load=0,fit=hold", false, []string{"the signals are live, so the picker or a limit is wrong", "fit=spill"}, "idle_replicas_mean"},
		{"a picker that does not wait", "picker-or-stale", cluster(replicas(4), kv(60_000)), crowd, "score:aff=100,q=0,load=0", false, nil, ""},

		{"twice the load is too much", "capacity", cluster(faster), near, "score", false,
			[]string{"the engines are pegged (busy", "refusals rise, 0 -> ", "deadline", "capacity or shedding"}, "busy_ratio"},
		{"less than half of it is not", "capacity", cluster(slower), near, "score", false, nil, ""},
		{"what is held back by old signals is not a matter of capacity", "capacity", cluster(scraped, lighter), near, "score", false, nil, ""},

		{"long prompts in front of short ones", "tenant-starved", cluster(replicas(4)), small, "least-request", false,
			[]string{"tenant small is starved", "without load, while tenant big has >99 % of all tokens"}, "unloaded_ttft_p90_s"},
		{"long prompts with room beside", "tenant-starved", cluster(replicas(16)), small, "least-request", false, nil, ""},
		{"nobody dominates", "tenant-starved", cluster(faster), near, "score", false, nil, ""},

		{"affinity keeps a tenant on one replica", "hot-replica", cluster(replicas(4)), chat, "score", false,
			[]string{"is hot", "requests in flight on average against", "it holds a prefix of 11,968 tokens that 100 % of its", "(tenant t1)"}, "prefix_tokens"},
		{"owners share it", "hot-replica", cluster(replicas(4)), chat, "score:prefix=bucket,k=2", false, nil, ""},

		{"copies are evicted between bursts", "warm-another", cluster(replicas(4), kv(50_000)), hot, "score:prefix=bucket,k=1,bound=1.25", false,
			[]string{"cold routes are rare but expensive", "share a prefix of 30,000 tokens (tenant hot)", "(score:bound=1.25,prefix=bucket,k=2 replayed) the mean TTFT moves", "(-"}, "saving"},
		{"copies stay", "warm-another", cluster(replicas(4)), hot, "score:prefix=bucket,k=1,bound=1.25", false, nil, ""},

		{"an index twice the size of the cache", "belief-off", cluster(), near, "score:capacity=0,aff=1", false, []string{"it believed that", "it believes in what was evicted"}, "believed_hit_ratio"},
		{"the truth", "belief-off", cluster(), near, "score:prefix=oracle,aff=1", false, nil, ""},

		{"old signals beside live ones", "signals-cost", cluster(scraped), near, "score:fit=off,norm=absolute,sent=off", true,
			[]string{"with perfect signals (live, one router) its mean TTFT is", "the signals cost"}, "cost"},
		{"nobody asked", "signals-cost", cluster(scraped), near, "score:fit=off,norm=absolute,sent=off", false, nil, ""},
		{"live signals cost nothing", "signals-cost", cluster(), near, "score:fit=off,norm=absolute,sent=off", true, nil, ""},
	} {
		t.Run(test.id+"/"+test.name, func(t *testing.T) {
			c := diagnose(t, test.cfg, test.tr, test.perfect, slices.Compact([]string{"round-robin", test.policy})...)
			var got *Finding
			for i := range c.Findings {
				if f := &c.Findings[i]; f.ID == test.id && f.Policy == test.policy {
					got = f
				}
			}
			if test.want == nil {
				if got != nil {
					t.Errorf("got %q, want silence", got.Text)
				}
				return
			}
			if got == nil {
				t.Fatalf("silence, want a finding; there are %+v", c.Findings)
			}
			for _, text := range test.want {
				if !strings.Contains(got.Text, text) {
					t.Errorf("got %q, want %q in it", got.Text, text)
				}
			}
			if _, ok := got.Evidence.Numbers[test.numbers]; !ok {
				t.Errorf("the evidence has %v, want %s", slices.Sorted(maps.Keys(got.Evidence.Numbers)), test.numbers)
			}
			validated(t, c)
		})
	}
}

// A replica that is down has a good reason to be idle.
func TestIdleForAReasonIsNoPickersFault(t *testing.T) {
	cfg := sim.Default()
	cfg.Replicas = 3
	tr := bigAndSmall(t, 400)
	cfg.Gateway.InFlight = 1
	cfg.Faults = []sim.Fault{{At: time.Second, Replica: "r0", Do: sim.Cordon}, {At: time.Second, Replica: "r1", Do: sim.Cordon}}
	c := diagnose(t, cfg, tr, false, "round-robin")
	if r := c.Runs[0]; r.Held < 50 {
		t.Fatalf("%d requests were held, want many", r.Held)
	}
	if got := textsOf(c, "picker-or-stale"); got != nil {
		t.Errorf("got %q, want silence", got)
	}
}

// The part is exact where every window loses the same part, and an interval holds it where they do not.
func TestSignalsPrice(t *testing.T) {
	var lost, gains []float64
	for i := range 400 {
		lost, gains = append(lost, float64(1+i%2)), append(gains, float64(4*(1+i%2)))
	}
	cuts := []int{0, 50, 100, 150, 200, 250, 300, 350, 400}
	p := partOf(lost, gains)
	if p.spread(lost, gains, cuts); p.mean != 0.25 || p.low != 0.25 || p.high != 0.25 || p.n != 8 {
		t.Errorf("a quarter everywhere: %+v", p)
	}
	for i := range 400 {
		lost[i] *= float64(1 + i/50%2)
	}
	p = partOf(lost, gains)
	if p.spread(lost, gains, cuts); p.doubt != "" || p.mean != 0.375 || !(0.25 < p.low && p.low < 0.375 && 0.375 < p.high && p.high < 0.5) {
		t.Errorf("between a quarter and a half: %+v", p)
	}
	if p = partOf(lost, gains); true {
		if p.spread(lost, gains, cuts[:5]); p.doubt == "" {
			t.Errorf("four windows give %+v, want no interval", p)
		}
	}
}

func TestWith(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"score", "score:prefix=bucket,k=3"},
		{"score:aff=5", "score:aff=5,prefix=bucket,k=3"},
		{"score:k=2,aff=5,prefix=bucket", "score:aff=5,prefix=bucket,k=3"},
	} {
		got := with(test.text, map[string]string{"prefix": "bucket", "k": "3"})
		if _, err := policies.Parse(got); err != nil || got != test.want {
			t.Errorf("%s becomes %s (%v), want %s", test.text, got, err, test.want)
		}
	}
}

// Windows add up: what arrived, what was refused, and the time that requests were held.
func TestCourseAddsUp(t *testing.T) {
	cfg := sim.Default()
	cfg.Speed = 2
	c := diagnose(t, cfg, madeUp(t, "near-capacity", 1000, nil), false, "score")
	r := &c.Runs[0]
	arrived, refused, held := 0, 0, 0.0
	for i := range r.course.all {
		s := &r.course.all[i]
		arrived, refused, held = arrived+s.arrived, refused+s.refused, held+s.held*r.course.size
		if s.busy < 0 || s.busy > float64(len(r.Replicas))*(1+1e-9) || s.queueing > r.course.size*(1+1e-9) {
			t.Errorf("window %d: %+v", i, s)
		}
	}
	want := r.GatewayWait.Mean * float64(r.Held)
	if arrived != r.Requests || refused != r.Rejected || refused == 0 || held < want*(1-1e-9) || held > want*(1+1e-9) {
		t.Errorf("%d arrived, %d refused, held for %v s; want %d, %d, %v s", arrived, refused, held, r.Requests, r.Rejected, want)
	}
}
