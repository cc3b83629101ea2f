package sim

import (
	"time"

	"github.com/seed-2cee110a/triage/engine"
	"github.com/seed-2cee110a/triage/policies"
	"github.com/seed-2cee110a/triage/traces"
)

// router is what a live router would be: a policy, its book, and what the replicas told it.
type router struct {
	policy   policies.Policy
	observer policies.Observer // nil if the policy has no memory
	finisher policies.Finisher // nil if it learns nothing from outputs
	believer policies.Believer // nil if it has no belief
	mover    policies.Mover    // nil if its memory does not know replicas by their places
	truth    bool              // the policy wants the truth in Hits
	book     *policies.Book
	view     policies.View
	request  policies.Request
	decision policies.Decision
	queue    *policies.HoldQueue
	sampled  engine.Time // instant of the last live signals
	filed    []int       // by replica: how often it had been asked when what is on file here was said
	limits   limits
}

// limits are how much a router may have in flight on a replica; 0 is no limit.
type limits struct {
	requests int32
	tokens   int64
}

func (s *Stage) newRouter(spec policies.Spec) *router {
	replicas := s.replicas
	r := &router{policy: spec.New(), book: policies.NewBook(len(replicas)), queue: s.newQueue(), sampled: -1,
		filed: make([]int, len(replicas)), limits: limits{s.cfg.Gateway.InFlight, s.cfg.Gateway.InFlightTokens}}
	r.observer, _ = r.policy.(policies.Observer)
	r.finisher, _ = r.policy.(policies.Finisher)
	r.believer, _ = r.policy.(policies.Believer)
	r.mover, _ = r.policy.(policies.Mover)
	if u, ok := r.policy.(policies.TruthUser); ok {
		r.truth = u.WantsTruth()
	}
	if u, ok := r.policy.(policies.FeedbackUser); ok {
		if half, wanted := u.Feedback(); wanted {
			r.book.Measure(half)
		}
	}
	r.view = policies.View{
		Routers:  s.routers(),
		Replicas: append([]policies.Replica(nil), replicas...),
		Local:    r.book.Local,
		Idle:     r.book.Idle, InUse: r.book.InUse,
		Hits: make([]policies.Hit, len(replicas)),
	}
	return r
}

// believes says whether the policy looks at prefixes at all.
func (r *router) believes() bool { return r.believer != nil || r.truth }

// pick asks the policy about the request.
func (r *router) pick(now engine.Time) *policies.Decision {
	r.view.Now = now.Duration()
	if r.limits != (limits{}) {
		r.fill()
	}
	r.book.Tune(r.view.Now, r.view.Replicas)
	if r.believer != nil {
		r.believer.Believe(&r.request, &r.view)
	}
	r.policy.Pick(&r.request, &r.view, &r.decision)
	return &r.decision
}

// fill marks the replicas that have as much in flight as they may.
func (r *router) fill() {
	for i := range r.view.Replicas {
		l := &r.view.Local[i]
		r.view.Replicas[i].Full = r.limits.requests > 0 && l.InFlight >= r.limits.requests || r.limits.tokens > 0 && l.HeldTokens >= r.limits.tokens
	}
}

// reported is what a replica reports if nothing is said.
const reported = policies.HasWaiting | policies.HasRunning | policies.HasKVUsed | policies.HasKVTokens

// signal files a replica's report; what is not reported stays 0. Dispatches that were on their way to the engine then are
// not in it.
func (r *router) signal(p *report, c *engine.Config, fields policies.Field) {
	s, l := policies.Signals{Have: reported, BlockSize: int32(c.BlockSize), SampledAt: p.taken.Duration(), ReceivedAt: p.due.Duration()}, &p.load
	if fields != 0 {
		s.Have &= fields
	}
	if s.Have&policies.HasWaiting != 0 {
		s.Waiting = l.Waiting
	}
	if s.Have&policies.HasRunning != 0 {
		s.Running = l.Running
	}
	if s.Have&policies.HasKVUsed != 0 {
		s.KVUsed = float64(l.HeldBlocks) / float64(c.KVBlocks)
		s.KVTokens = int64(c.KVBlocks) * int64(c.BlockSize)
	}
	r.view.Replicas[p.replica].Signals = s
	r.book.Sampled(p.replica, p.taken.Duration(), (p.taken - c.OverheadBefore).Duration())
}

// again files a report that says what the last one said.
func (r *router) again(i int, now engine.Time, c *engine.Config) {
	s := &r.view.Replicas[i].Signals
	s.SampledAt, s.ReceivedAt = now.Duration(), now.Duration()
	r.book.Sampled(i, now.Duration(), (now - c.OverheadBefore).Duration())
}

// release takes a request that left its replica out of the router's memory.
func (r *router) release(now engine.Time, f *flight) {
	r.book.Done(now.Duration(), &f.ticket)
	if r.observer != nil {
		r.observer.Completed(now.Duration(), &f.request, f.ticket.Replica)
	}
}

// request fills in what a router may know of a request, and sequence is its work on a replica. Nothing else is made of
// a trace's row: this is the place to look for leaks of the future.
func (s *Stage) request(q *policies.Request, row int32, arrived engine.Time) {
	t := s.trace
	*q = policies.Request{
		Key:          hash(s.cfg.Seed, uint64(row), keyStream),
		Adapter:      policies.ID(t.Adapter[row]),
		Tenant:       policies.ID(t.Tenant[row]),
		Template:     s.template(t.PrefixKey[row]),
		Session:      uint64(t.Session[row]),
		PromptTokens: t.Prompt[row],
		EstOutput:    max(0, t.MaxTokens[row]),
		MaxOutput:    max(0, t.MaxTokens[row]),
		Blocks:       s.blocks(q.Blocks[:0], t.Leaf[row]),
		BlockTokens:  int32(s.cut),
		Arrived:      arrived.Duration(),
		Deadline:     arrived.Duration() + s.cfg.Gateway.Deadline,
	}
	if s.asks != nil {
		q.Model, q.Needs = s.asks[row].model, s.asks[row].needs
	}
}

// template is the name of the declared prompt template, hashed; 0 without.
func (s *Stage) template(name int32) uint64 {
	if name == 0 {
		return 0
	}
	return policies.Salt(s.trace.Strings[name])
}

// sequence is the row's work on a replica. An unknown output length is read as one token.
func (s *Stage) sequence(row, id int32) engine.Sequence {
	t := s.trace
	leaf, reuse := s.path(row)
	return engine.Sequence{ID: id, Leaf: leaf, Prompt: t.Prompt[row], Output: max(1, t.Output[row]), Adapter: t.Adapter[row], Reuse: reuse}
}

// blocks appends the nodes of a leaf's path, root first. A router sees blocks of a fixed size; a node is a run of them that
// is always walked whole, and where it ends depends on later requests too. Policies must therefore look at hashes and
// token counts only, never at the number of blocks; a test holds them to it.
func (s *Stage) blocks(buf []policies.Block, leaf int32) []policies.Block {
	if leaf == traces.Unknown {
		return buf
	}
	f := &s.trace.Forest
	for n := leaf; n >= 0; n = f.Parent[n] {
		start := int32(0)
		if p := f.Parent[n]; p >= 0 {
			start = f.End[p]
		}
		buf = append(buf, policies.Block{Hash: f.Hash[n], Tokens: f.End[n] - start})
	}
	for i, j := 0, len(buf)-1; i < j; i, j = i+1, j-1 {
		buf[i], buf[j] = buf[j], buf[i]
	}
	return buf
}

// age returns how old a replica's numbers are.
func (r *router) age(i int, now engine.Time) time.Duration {
	return now.Duration() - r.view.Replicas[i].Signals.SampledAt
}
