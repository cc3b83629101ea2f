package policies_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/seed-2cee110a/triage/policies"
	"github.com/seed-2cee110a/triage/policies/policytest"
)

// router is what the simulator does with a policy and a book, on named replicas.
type router struct {
	policy   policies.Policy
	book     *policies.Book
	view     policies.View
	reported []time.Duration // when the signals of each replica were taken
}

func newRouter(policy policies.Policy, replicas []policies.Replica) *router {
	r := &router{policy: policy, book: policies.NewBook(len(replicas)), reported: slices.Repeat([]time.Duration{-1}, len(replicas))}
	r.view = policies.View{Replicas: slices.Clone(replicas), Local: r.book.Local, InUse: r.book.InUse, Idle: r.book.Idle, Hits: make([]policies.Hit, len(replicas))}
	return r
}

func (r *router) pick(now time.Duration, q *policies.Request) policies.Decision {
	r.view.Now = now
	if b, ok := r.policy.(policies.Believer); ok {
		b.Believe(q, &r.view)
	}
	var d policies.Decision
	r.policy.Pick(q, &r.view, &d)
	return d
}

func (r *router) dispatch(now time.Duration, q *policies.Request, d *policies.Decision) policies.Ticket {
	r.view.Now = now
	ticket := r.book.Dispatched(now, q, d)
	if o, ok := r.policy.(policies.Observer); ok {
		o.Dispatched(q, &r.view, d)
	}
	return ticket
}

func (r *router) firstToken(now time.Duration, q *policies.Request, ticket *policies.Ticket) {
	r.book.FirstToken(now, ticket)
	if o, ok := r.policy.(policies.Observer); ok {
		o.FirstToken(now, q, ticket.Replica)
	}
}

func (r *router) done(now time.Duration, q *policies.Request, ticket *policies.Ticket) {
	r.book.Done(now, ticket)
	if o, ok := r.policy.(policies.Observer); ok {
		o.Completed(now, q, ticket.Replica)
	}
}

// report files what is newer than what is known; SampledAt is -1 before the first.
func (r *router) report(i int, s policies.Signals, transit time.Duration) {
	if last := &r.reported[i]; s.SampledAt > *last {
		*last, r.view.Replicas[i].Signals = s.SampledAt, s
		r.book.Sampled(i, s.SampledAt, s.SampledAt-transit)
	}
}

// dispatched is a request in flight in both a router and a pool.
type dispatched struct {
	request *policies.Request
	ticket  policies.Ticket
	lease   policies.Lease
	life    *life
}

func drawSignals(t *rapid.T, now time.Duration) policies.Signals {
	return policies.Signals{
		Have:    policies.Field(rapid.Uint16Range(0, 31).Draw(t, "have")),
		Waiting: rapid.Int32Range(0, 9).Draw(t, "waiting"), Running: rapid.Int32Range(0, 9).Draw(t, "running"),
		KVUsed: rapid.Float64Range(0, 1).Draw(t, "used"), KVTokens: rapid.Int64Range(0, 40_000).Draw(t, "kv"),
		BlockSize: 16, SampledAt: now, ReceivedAt: now,
		MaxAdapters: rapid.Int32Range(0, 2).Draw(t, "slots"), Resident: rapid.Bool().Draw(t, "resident"),
	}
}

func named(n int) []policies.Replica {
	var list []policies.Replica
	for i := range n {
		name := fmt.Sprintf("r%d", i)
		list = append(list, policies.Replica{Name: name, Salt: policies.Salt(name), Model: policies.ID(1 + i%2), Caps: 3})
	}
	return list
}

func newPool(t testing.TB, policy policies.Policy, c policies.PoolConfig, replicas []policies.Replica) *policies.Pool {
	t.Helper()
	p, err := policies.NewPoolOf(policy, c)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range replicas {
		if err := p.Join(r); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

func must0(t *rapid.T, err error) {
	if err != nil {
		t.Fatal(err)
	}
}

// A pool decides as the simulator's router does on the same calls, to the bit.
func TestPoolIsTheRouter(t *testing.T) {
	for _, text := range []string{"score", "score:prefix=bucket", "score:norm=absolute,stale=5ns,tokens=1,n=100", "score:ttl=9ns,fit=off", "round-robin", "least-request", "random"} {
		t.Run(text, func(t *testing.T) {
			spec := parse(t, text)
			rapid.Check(t, func(rt *rapid.T) {
				replicas := named(rapid.IntRange(1, 4).Draw(rt, "replicas"))
				transit := time.Duration(rapid.IntRange(0, 2).Draw(rt, "transit"))
				r := newRouter(spec.New(), replicas)
				p := newPool(t, spec.New(), policies.PoolConfig{Transit: transit, HalfLife: math.MaxInt64}, replicas)
				var flights []*dispatched
				var now time.Duration
				for range rapid.IntRange(1, 60).Draw(rt, "operations") {
					now += time.Duration(rapid.IntRange(0, 3).Draw(rt, "pause"))
					operate(rt, r, p, &flights, now, transit)
				}
			})
		})
	}
}

func operate(t *rapid.T, r *router, p *policies.Pool, flights *[]*dispatched, now, transit time.Duration) {
	at := 0
	if n := len(*flights); n > 0 {
		at = rapid.IntRange(0, n-1).Draw(t, "flight")
	}
	switch op := rapid.IntRange(0, 7).Draw(t, "operation"); {
	case op == 0:
		i, s := rapid.IntRange(0, len(r.view.Replicas)-1).Draw(t, "replica"), drawSignals(t, now-min(now, time.Duration(rapid.IntRange(0, 4).Draw(t, "delay"))))
		r.report(i, s, transit)
		must0(t, p.Report(r.view.Replicas[i].Name, s))
		adapters := make([]policies.ID, rapid.IntRange(0, 2).Draw(t, "adapters"))
		for k := range adapters {
			adapters[k] = policies.ID(rapid.Int32Range(1, 3).Draw(t, "told"))
		}
		r.view.Replicas[i].Adapters = adapters
		must0(t, p.ReportAdapters(r.view.Replicas[i].Name, adapters))
	case op == 1 && len(*flights) > 0:
		f := (*flights)[at]
		r.firstToken(now, f.request, &f.ticket)
		f.lease.FirstToken(now)
	case op <= 3 && len(*flights) > 0:
		f := (*flights)[at]
		r.done(now, f.request, &f.ticket)
		if op == 2 {
			f.lease.Done(now)
		} else {
			f.lease.Fail(now)
		}
		*flights = slices.Delete(*flights, at, at+1)
	default:
		q := policytest.DrawRequest(t)
		want := r.pick(now, &q)
		lease, got := p.Route(&q, now)
		if diff := cmp.Diff(want, got, cmpopts.EquateNaNs()); diff != "" {
			t.Fatalf("decisions differ (-router +pool):\n%s", diff)
		}
		if want.Action == policies.Dispatch {
			*flights = append(*flights, &dispatched{request: &q, ticket: r.dispatch(now, &q, &want), lease: lease})
		}
	}
	noFeedback := cmpopts.IgnoreFields(policies.Local{}, "TTFT", "TPOT")
	if diff := cmp.Diff(r.view.Local, p.Snapshot().Local, noFeedback); diff != "" {
		t.Fatalf("books differ (-router +pool):\n%s", diff)
	}
}

// life is what happened on one replica since it joined.
type life struct {
	replica policies.Replica
	events  []func(r *router, at int)
}

// Whoever left is forgotten: the pool decides as a router does that never knew him, with what happened on the others.
func TestPoolForgetsWhoLeft(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		spec := parse(t, rapid.SampledFrom([]string{"score", "score:prefix=bucket", "least-request"}).Draw(rt, "policy"))
		p := newPool(t, spec.New(), policies.PoolConfig{HalfLife: math.MaxInt64}, nil)
		lives := map[string]*life{}
		var order []string // of all that happened: whose event
		var flights []*dispatched
		var now time.Duration
		for range rapid.IntRange(1, 60).Draw(rt, "operations") {
			now++
			name := fmt.Sprintf("r%d", rapid.IntRange(0, 4).Draw(rt, "replica"))
			l := lives[name]
			switch op := rapid.IntRange(0, 7).Draw(rt, "operation"); {
			case op <= 1 && l == nil:
				rep := policies.Replica{Name: name, Salt: policies.Salt(name), Model: policies.ID(rapid.Int32Range(1, 2).Draw(rt, "model")), Caps: 3}
				rep.Signals = policies.Signals{Have: policies.HasKVTokens, KVTokens: 500}
				must0(rt, p.Join(rep))
				lives[name] = &life{replica: rep}
			case op == 2 && l != nil:
				must0(rt, p.Leave(name))
				delete(lives, name)
				order = slices.DeleteFunc(order, func(s string) bool { return s == name })
			case op == 3 && len(flights) > 0:
				at := rapid.IntRange(0, len(flights)-1).Draw(rt, "flight")
				flights[at].lease.FirstToken(now)
				flights[at].lease.Done(now)
				endOf(lives, &order, flights[at], now)
				flights = slices.Delete(flights, at, at+1)
			default:
				if f := routeBoth(rt, spec, p, lives, &order, now); f != nil {
					flights = append(flights, f)
				}
			}
		}
	})
}

// routeBoth routes a request in the pool and in a router made anew from the lives.
func routeBoth(t *rapid.T, spec policies.Spec, p *policies.Pool, lives map[string]*life, order *[]string, now time.Duration) *dispatched {
	var replicas []policies.Replica
	for i := range 5 {
		if l := lives[fmt.Sprintf("r%d", i)]; l != nil {
			replicas = append(replicas, l.replica)
		}
	}
	r := newRouter(spec.New(), replicas)
	next := map[string]int{}
	for _, name := range *order {
		at := slices.IndexFunc(replicas, func(x policies.Replica) bool { return x.Name == name })
		lives[name].events[next[name]](r, at)
		next[name]++
	}
	q := policytest.DrawRequest(t)
	q.BlockTokens = 16 // what one replica was sent last says where a block may be cut on all
	want, view := r.pick(now, &q), p.Snapshot()
	lease, got := p.Route(&q, now)
	if want.Action != got.Action || want.Action == policies.Dispatch && replicas[want.Replica].Name != lease.Replica ||
		!same(want.Score, got.Score) || want.Hit != got.Hit || want.Rejected != got.Rejected {
		t.Fatalf("router: %+v\npool: %+v to %q\nview %+v", want, got, lease.Replica, view)
	}
	if got.Action != policies.Dispatch {
		return nil
	}
	l := lives[lease.Replica]
	f := &dispatched{request: &q, lease: lease, life: l}
	l.events = append(l.events, func(r *router, at int) {
		d := got
		d.Replica = at
		f.ticket = r.dispatch(now, &q, &d)
	})
	*order = append(*order, lease.Replica)
	return f
}

// endOf books the end of a request in the life of its replica, unless that left.
func endOf(lives map[string]*life, order *[]string, f *dispatched, now time.Duration) {
	l := lives[f.lease.Replica]
	if l == nil || l != f.life {
		return
	}
	l.events = append(l.events, func(r *router, at int) {
		f.ticket.Replica = at
		r.firstToken(now, f.request, &f.ticket)
		r.done(now, f.request, &f.ticket)
	})
	*order = append(*order, f.lease.Replica)
}

func same(a, b float64) bool { return a == b || math.IsNaN(a) && math.IsNaN(b) }

// The laws of the scorer hold for what a pool routes.
func TestPoolLaws(t *testing.T) {
	policytest.RunScore(t, func(c policies.ScoreConfig) policies.Policy { return pooled{policies.NewScore(c)} })
}

// pooled is a policy whose Pick goes through a pool.
type pooled struct{ policies.Policy }

func (p pooled) Pick(r *policies.Request, v *policies.View, d *policies.Decision) {
	_, *d = policies.PoolOn(p.Policy, v).Route(r, v.Now)
}

func TestPoolRefuses(t *testing.T) {
	p := newPool(t, &policies.RoundRobin{}, policies.PoolConfig{}, named(1))
	oracle := policies.DefaultScore()
	oracle.Prefix = policies.PrefixOracle
	_, err := policies.NewPool(policies.WeightsFile{Config: oracle}, policies.PoolConfig{})
	_, errOf := policies.NewPoolOf(policies.NewScore(oracle), policies.PoolConfig{})
	_, negative := policies.NewPoolOf(&policies.RoundRobin{}, policies.PoolConfig{Transit: -1})
	_, half := policies.NewPoolOf(&policies.RoundRobin{}, policies.PoolConfig{HalfLife: -1})
	bad := policies.WeightsFile{Config: policies.DefaultScore()}
	bad.Config.Margin = 2
	for _, tc := range []struct {
		err  error
		want string
	}{
		{err, `pool: prefix.kind is "oracle", the truth that only a simulator has; want "index", "bucket" or "events"`},
		{errOf, "pool: the policy wants the truth about the replicas' caches"},
		{negative, "pool: transit is -1ns, want at least 0s"},
		{half, "pool: half-life is -1ns, want at least 0s"},
		{p.Swap(bad), `pool: score: margin is "2", want 0..1`},
		{p.SwapPolicy(policies.NewScore(oracle)), "only a simulator"},
		{p.Join(policies.Replica{}), "pool: the replica has no name"},
		{p.Join(policies.Replica{Name: "r0"}), `pool: replica "r0" is there already, want it to leave before it joins again`},
		{p.Join(policies.Replica{Name: "x", Signals: policies.Signals{KVUsed: 2}}), `pool: replica "x": KV used is 2, want 0..1`},
		{p.Leave("r1"), `pool: unknown replica "r1"`},
		{p.Cordon("r1", true), `pool: unknown replica "r1"`},
		{p.Report("r1", policies.Signals{}), `pool: unknown replica "r1"`},
		{p.ReportAdapters("r1", nil), `pool: unknown replica "r1"`},
		{p.Report("r0", policies.Signals{KVUsed: math.NaN()}), `pool: replica "r0": KV used is NaN, want 0..1`},
		{p.Report("r0", policies.Signals{Waiting: -1}), "waiting -1 and running 0, want at least 0"},
		{p.Report("r0", policies.Signals{KVTokens: -1}), "KV tokens -1 and block size 0, want at least 0"},
	} {
		if tc.err == nil || !strings.Contains(tc.err.Error(), tc.want) {
			t.Errorf("error %v, want %s", tc.err, tc.want)
		}
	}
	if p.Weights() != "" {
		t.Errorf("round robin has the weights %q", p.Weights())
	}
}

// What comes late, twice, or for nobody does nothing; a replica that comes back starts with an empty book.
func TestLeaseIsOver(t *testing.T) {
	p := newPool(t, policies.NewScore(policies.DefaultScore()), policies.PoolConfig{}, named(1))
	q := policies.Request{PromptTokens: 100}
	old, _ := p.Route(&q, 1)
	if err := p.Leave("r0"); err != nil {
		t.Fatal(err)
	}
	nobody, d := p.Route(&q, 2)
	if d.Action != policies.Fail || nobody.Replica != "" {
		t.Errorf("an empty pool: %v to %q, want a failure", d.Action, nobody.Replica)
	}
	if err := p.Join(named(1)[0]); err != nil {
		t.Fatal(err)
	}
	first, _ := p.Route(&q, 3)
	for _, l := range []policies.Lease{old, nobody} {
		l.FirstToken(4)
		l.Output(7)
		l.Done(4)
		l.Fail(4)
	}
	first.FirstToken(5)
	first.FirstToken(6)
	if l := p.Snapshot().Local[0]; l.InFlight != 1 || l.UncachedPrefill != 0 || l.HeldTokens != 100 {
		t.Errorf("after the events of a former life: %+v, want one request of 100 tokens after its first token", l)
	}
	first.Done(7)
	second, _ := p.Route(&q, 8) // its flight is that of the first
	first.Done(9)
	first.Fail(9)
	if l := p.Snapshot().Local[0]; l.InFlight != 1 || l.UncachedPrefill != 100 {
		t.Errorf("after the end of a former lease: %+v, want one request that waits", l)
	}
	second.Fail(10)
	if l := p.Snapshot().Local[0]; l.InFlight != 0 || l.UncachedPrefill != 0 || l.HeldTokens != 0 {
		t.Errorf("at the end: %+v, want nothing booked", l)
	}
}

// Half-life 1 s. Two replicas of a model have one sample each, 4 s and 1 s: with one more of their mean, 2.5 s, they are
// at 3.25 and 1.75. A half-life later the samples weigh 1/2, so (2 + 2.5)/1.5 = 3 and (0.5 + 2.5)/1.5 = 2. One that was
// never measured is at the mean; after a long silence nothing is known.
func TestPoolFeedback(t *testing.T) {
	const s = time.Second
	p := newPool(t, &policies.RoundRobin{}, policies.PoolConfig{HalfLife: s}, nil)
	for _, name := range []string{"fast", "idle", "slow"} { // their turns come in this order
		if err := p.Join(policies.Replica{Name: name}); err != nil {
			t.Fatal(err)
		}
	}
	q := policies.Request{PromptTokens: 1}
	route := func(at time.Duration) policies.Lease {
		l, _ := p.Route(&q, at)
		return l
	}
	route(0).Fail(0)
	route(0).Fail(0)
	slow := route(0)
	fast := route(3 * s)
	slow.FirstToken(4 * s)
	fast.FirstToken(4 * s)
	for _, tc := range []struct {
		at         time.Duration
		ttft, tpot [3]float64
	}{
		{4 * s, [3]float64{1.75, 2.5, 3.25}, [3]float64{}},
		{5 * s, [3]float64{2, 2.5, 3}, [3]float64{}},
		{5*s + s/100, [3]float64{2, 2.5, 3}, [3]float64{}}, // worked out only 64 times a half-life
		{60 * s, [3]float64{}, [3]float64{}},
	} {
		route(tc.at).Done(tc.at)
		for i, l := range p.Snapshot().Local {
			if l.TTFT != tc.ttft[i] || l.TPOT != tc.tpot[i] {
				t.Errorf("at %v replica %d has TTFT %v and TPOT %v, want %v and %v", tc.at, i, l.TTFT, l.TPOT, tc.ttft[i], tc.tpot[i])
			}
		}
	}
	slow.Output(11)
	slow.Done(64 * s) // 10 tokens in 60 s: 6 s each
	fast.Output(1)    // no time between tokens
	fast.Done(64 * s)
	route(64 * s)
	for i, l := range p.Snapshot().Local {
		if l.TPOT != 6 {
			t.Errorf("replica %d has TPOT %v, want the only sample, 6 s", i, l.TPOT)
		}
	}
}

// New weights keep what is in flight, and the belief if they believe by the same rules.
func TestPoolSwap(t *testing.T) {
	w := tuned()
	p, err := policies.NewPool(w, policies.PoolConfig{})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range named(2) {
		r.Model = 1
		if err := p.Join(r); err != nil {
			t.Fatal(err)
		}
	}
	q := policies.Request{PromptTokens: 1000, Blocks: []policies.Block{{Hash: 1, Tokens: 999}}}
	lease, _ := p.Route(&q, 1)
	if p.Weights() != w.Sum() {
		t.Errorf("weights %s in force, want %s", p.Weights(), w.Sum())
	}
	other := tuned()
	other.Config.Weights.Affinity = 20
	if err := p.Swap(other); err != nil {
		t.Fatal(err)
	}
	second, d := p.Route(&q, 2)
	if p.Weights() != other.Sum() || d.Hit != 999 || d.Terms[policies.Affinity] != 20*0.999 {
		t.Errorf("under %s: hit %d, affinity %v, want the 999 tokens of before at the new weight", p.Weights(), d.Hit, d.Terms[policies.Affinity])
	}
	lease.Done(3)
	second.Done(3)
	for name, forget := range map[string]func(*policies.WeightsFile){
		"chain":        func(w *policies.WeightsFile) { w.Chain = "other/1" },
		"block size":   func(w *policies.WeightsFile) { w.BlockTokens = 16 },
		"time to live": func(w *policies.WeightsFile) { w.Config.TTL = time.Hour },
	} {
		if err := p.Swap(tuned()); err != nil {
			t.Fatal(err)
		}
		before, _ := p.Route(&q, 4)
		if _, d := p.Route(&q, 4); d.Hit != 999 {
			t.Errorf("before another %s: hit %d, want 999", name, d.Hit)
		}
		w := tuned()
		forget(&w)
		if err := p.Swap(w); err != nil {
			t.Fatal(err)
		}
		if _, d := p.Route(&q, 5); d.Hit != 0 {
			t.Errorf("with another %s: hit %d, want none", name, d.Hit)
		}
		before.Done(6)
	}
}

// told is a policy with a memory that counts what it is told.
type told struct {
	policies.RoundRobin
	dispatched, first, completed int
}

func (p *told) Dispatched(r *policies.Request, v *policies.View, d *policies.Decision) {
	p.dispatched++
	p.RoundRobin.Dispatched(r, v, d)
}
func (p *told) FirstToken(time.Duration, *policies.Request, int) { p.first++ }
func (p *told) Completed(time.Duration, *policies.Request, int)  { p.completed++ }

// A policy is told of the requests that it dispatched, and not of those from before it was put in force.
func TestPoolTellsWhoDispatched(t *testing.T) {
	before, after := &told{}, &told{}
	p := newPool(t, before, policies.PoolConfig{}, named(1))
	lease := func() policies.Lease { l, _ := p.Route(&policies.Request{PromptTokens: 1}, 0); return l }
	ended, open := lease(), lease()
	ended.Done(1)
	if err := p.SwapPolicy(after); err != nil {
		t.Fatal(err)
	}
	own := lease()
	for _, l := range []policies.Lease{open, own} {
		l.FirstToken(2)
		l.Done(3)
	}
	for _, tc := range []struct {
		name                         string
		got                          *told
		dispatched, first, completed int
	}{{"before", before, 2, 0, 1}, {"after", after, 1, 1, 1}} {
		if tc.got.dispatched != tc.dispatched || tc.got.first != tc.first || tc.got.completed != tc.completed {
			t.Errorf("the policy %s the swap was told of %d dispatches, %d first tokens and %d ends, want %d, %d and %d", tc.name,
				tc.got.dispatched, tc.got.first, tc.got.completed, tc.dispatched, tc.first, tc.completed)
		}
	}
}

// A held request is told when something changes.
func TestPoolChanged(t *testing.T) {
	p := newPool(t, policies.NewScore(policies.DefaultScore()), policies.PoolConfig{}, named(1))
	q := policies.Request{PromptTokens: 100}
	lease, _ := p.Route(&q, 0)
	for name, act := range map[string]func() error{
		"a request ended": func() error { lease.Done(1); return nil },
		"a report":        func() error { return p.Report("r0", policies.Signals{SampledAt: 1}) },
		"a cordon":        func() error { return p.Cordon("r0", true) },
		"a replica":       func() error { return p.Join(policies.Replica{Name: "r1"}) },
		"weights":         func() error { return p.Swap(tuned()) },
	} {
		changed := p.Changed()
		select {
		case <-changed:
			t.Errorf("%s: told before it happened", name)
		default:
		}
		if err := act(); err != nil {
			t.Fatal(err)
		}
		select {
		case <-changed:
		default:
			t.Errorf("%s: nobody was told", name)
		}
	}
}

// A report that is not newer than the last one known changes nothing.
func TestPoolReportsInOrder(t *testing.T) {
	p := newPool(t, &policies.RoundRobin{}, policies.PoolConfig{}, named(1))
	for _, s := range []policies.Signals{{Waiting: 1, SampledAt: 5}, {Waiting: 2, SampledAt: 4}, {Waiting: 3, SampledAt: 5}} {
		if err := p.Report("r0", s); err != nil {
			t.Fatal(err)
		}
	}
	if got := p.Snapshot().Replicas[0].Signals.Waiting; got != 1 {
		t.Errorf("%d waiting, want the 1 of the newest report", got)
	}
}
