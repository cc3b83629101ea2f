package sim

import (
	"math/rand/v2"
	"testing"

	"github.com/seed-2cee110a/triage/policies"
	"github.com/seed-2cee110a/triage/traces"
)

// What users of other routers reported, as small made-up traces. Each test shows the symptom with the settings that we
// blame, and that it is gone with the remedy. Issues are named as in llm-d/llm-d-router, kubernetes-sigs/gateway-api-
// inference-extension (GIE), sgl-project/sglang and so on. The figures in comments are printed by
//
//	go test ./sim -run 'TestThread|TestOverload' -v

// call is a request of a made-up trace.
type call struct {
	at              float64 // seconds
	prompt, output  int     // tokens; as many are asked for by max_tokens
	common          int     // tokens that all prompts begin with
	group           int64   // requests of a group begin alike,
	shared          int     // with so many tokens, the common ones included
	tenant, session string
}

// threadBlock is the tokens behind a block id of made-up traces.
const threadBlock = 16

// made makes a trace.
func made(t *testing.T, calls []call) *traces.Trace {
	t.Helper()
	b := traces.NewBuilder(traces.Meta{BlockSize: threadBlock, BlockTail: traces.TailFloor, T0UnixNs: traces.Unknown,
		IdentityScope: "global", IdentityKind: "chain"})
	for i, c := range calls {
		r := traces.NewRecord()
		r.ArrivalNs, r.Line = int64(c.at*1e9), int64(i+1)
		r.PromptTokens, r.OutputTokens, r.MaxTokens = int32(c.prompt), int32(c.output), int32(c.output)
		r.Tenant, r.Session, r.Blocks = c.tenant, c.session, c.blocks(i)
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

// blocks returns the ids of a prompt's blocks: those of all, of the group, and its own.
func (c call) blocks(row int) []int64 {
	ids := make([]int64, 0, c.prompt/threadBlock)
	for k := range int64(c.prompt / threadBlock) {
		switch end := int(k+1) * threadBlock; {
		case end <= c.common:
			ids = append(ids, k)
		case end <= c.shared:
			ids = append(ids, (c.group+1)<<32|k)
		default:
			ids = append(ids, 1<<62|int64(row)<<32|k)
		}
	}
	return ids
}

// poisson returns n instants, so many a second on average.
func poisson(seed uint64, n int, rate float64) []float64 {
	r := rand.New(rand.NewPCG(seed, 1))
	at, now := make([]float64, n), 0.0
	for i := range at {
		now += r.ExpFloat64() / rate
		at[i] = now
	}
	return at
}

// steady makes n requests that differ in their arrival only and share nothing.
func steady(seed uint64, n int, rate float64, prompt, output int) []call {
	var calls []call
	for _, at := range poisson(seed, n, rate) {
		calls = append(calls, call{at: at, prompt: prompt, output: output})
	}
	return calls
}

// with is the cluster of eight replicas with settings changed.
func with(set ...func(*Config)) Config {
	cfg := clusterC()
	for _, f := range set {
		f(&cfg)
	}
	return cfg
}

// signalled sets how signals come, as ParseSignals reads it.
func signalled(text string) func(*Config) {
	return func(c *Config) {
		var err error
		if c.Signals, err = ParseSignals(text); err != nil {
			panic(err)
		}
	}
}

// routed sets how many routers there are, as ParseRouters reads it.
func routed(text string) func(*Config) {
	return func(c *Config) {
		var err error
		if c.Routers, err = ParseRouters(text); err != nil {
			panic(err)
		}
	}
}

// played replays a trace and logs the figures.
func played(t *testing.T, what string, cfg Config, policy string, tr *traces.Trace) (*Result, Summary) {
	t.Helper()
	r, err := Run(cfg, spec(t, policy), tr)
	if err != nil {
		t.Fatal(err)
	}
	return r, logged(t, what, r)
}

func logged(t *testing.T, what string, r *Result) Summary {
	t.Helper()
	checkLaws(t, r)
	s := r.Summary()
	t.Logf("%-26s TTFT mean %.3f s, p90 %.3f s, p99 %.2f s; hit %.3f; imbalance %.2f, top share %.3f; %d rejected, %d preempted",
		what, s.TTFT.Mean, s.TTFT.P90, s.TTFT.P99, s.HitRatio, s.Imbalance, topShare(r), s.Rejected, s.Preemptions)
	return s
}

// naive is a policy that is not in the catalog: what somebody else's router does.
type naive func(r *policies.Request, v *policies.View) int

func (n naive) Pick(r *policies.Request, v *policies.View, d *policies.Decision) {
	*d = policies.Decision{Replica: n(r, v), RunnerUp: -1, Charge: r.PromptTokens, Need: int64(r.PromptTokens)}
}

// lowest returns the first replica with the least value, of those that take requests.
func lowest(v *policies.View, value func(i int) float64) int {
	best := -1
	for i := range v.Replicas {
		if !v.Replicas[i].Cordoned && (best < 0 || value(i) < value(best)) {
			best = i
		}
	}
	return best
}

// playedBy is played for a policy that is not in the catalog.
func playedBy(t *testing.T, what string, cfg Config, p naive, tr *traces.Trace) (*Result, Summary) {
	t.Helper()
	s, err := Prepare(cfg, tr)
	if err != nil {
		t.Fatal(err)
	}
	r, err := s.start(spec(t, "least-request"))
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range r.routers {
		w.policy = p
	}
	res, err := r.play(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return res, logged(t, what, res)
}

// topShare is the share of the completed requests that the most used replica served.
func topShare(r *Result) float64 {
	most, all := 0, 0
	for _, rep := range r.Replicas {
		most, all = max(most, rep.Requests), all+rep.Requests
	}
	return float64(most) / float64(all)
}

// of returns the TTFTs of a tenant's completed requests, and how many requests it has.
func of(r *Result, tenant string) (Quantiles, int) {
	var ttft []float64
	n := 0
	for i := range r.Outcomes {
		if r.Trace.Strings[r.Trace.Tenant[i]] != tenant {
			continue
		}
		n++
		if o := &r.Outcomes[i]; o.Status == Completed {
			ttft = append(ttft, (o.First - o.Arrived).Seconds())
		}
	}
	return quantiles(ttft), n
}
