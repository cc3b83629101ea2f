package traces

import (
	"container/heap"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"
)

// Generate makes a trace.
func Generate(p Params) (*Trace, error) {
	if err := p.Check(); err != nil {
		return nil, err
	}
	g := newGenerator(p)
	b := NewBuilder(Meta{
		SourceFormat: "generated", T0UnixNs: Unknown, TimeUnitSource: "ns", TimeResolution: int64(time.Microsecond),
		BlockSize: int32(p.BlockSize), BlockTail: p.BlockTail, IdentityScope: "global", IdentityKind: "chain",
	})
	b.Grow(min(p.Requests, 1<<20)) // more is made room for once it is there
	for n := range p.Requests {
		r := g.next()
		r.Line = int64(n + 1)
		if err := b.Add(r); err != nil {
			return nil, fmt.Errorf("request %d: %w", n+1, err)
		}
	}
	t, err := b.Build()
	if err != nil {
		return nil, err
	}
	t.Name = "generated"
	return t, nil
}

// generator makes requests in order of time: open sessions wait in a heap for their next turn.
type generator struct {
	p       Params
	tenants []tenant
	popular []float64 // cumulated popularity
	open    sessions
	starts  arrivals
	started int   // sessions
	blocks  int64 // ids given out
	path    []int64

	choice, document, user, output, turns, think *rand.Rand // a stream a purpose
}

// tenant is a system prompt: its length and the ids of its full blocks.
type tenant struct {
	name   string
	tokens int
	blocks []int64
}

// session is an open session and its next turn.
type session struct {
	at     int64 // ns, of the next turn
	number int   // ties are served in order of start
	tenant *tenant
	name   string
	turn   int32
	think  int64 // ns, before the next turn; Unknown before the first
	prompt int   // tokens of the next prompt
	own    []int64
}

func newGenerator(p Params) *generator {
	g := &generator{
		p:        p,
		choice:   stream(p.Seed, "tenant"),
		document: stream(p.Seed, "document"),
		user:     stream(p.Seed, "user"),
		output:   stream(p.Seed, "output"),
		turns:    stream(p.Seed, "turns"),
		think:    stream(p.Seed, "think"),
		starts:   newArrivals(p),
	}
	system := stream(p.Seed, "system")
	for i := range p.Tenants {
		t := tenant{name: fmt.Sprintf("t%0*d", len(strconv.Itoa(p.Tenants)), i+1), tokens: p.System.draw(system)}
		t.blocks = g.fresh(nil, t.tokens/p.BlockSize)
		g.tenants = append(g.tenants, t)
	}
	g.popular = zipf(p.Tenants, p.Skew)
	g.start()
	return g
}

// fresh appends n new block ids.
func (g *generator) fresh(ids []int64, n int) []int64 {
	for range n {
		ids = append(ids, g.blocks)
		g.blocks++
	}
	return ids
}

// start opens the next new session.
func (g *generator) start() {
	tenant := &g.tenants[rank(g.popular, uniform(g.choice))]
	s := &session{at: g.starts.next(), number: g.started, tenant: tenant, think: Unknown}
	g.started++
	s.prompt = s.tenant.tokens + g.p.User.draw(g.user)
	if g.p.Document.Max > 0 {
		s.prompt += g.p.Document.draw(g.document)
	}
	if g.p.MaxPrompt > 0 {
		s.prompt = min(s.prompt, g.p.MaxPrompt)
	}
	if g.p.Turns > 1 {
		s.name = "s" + strconv.Itoa(s.number+1)
	}
	heap.Push(&g.open, s)
}

// next returns the earliest request. Its blocks are valid until the next call.
func (g *generator) next() Record {
	s := g.open[0]
	if s.turn == 0 {
		g.start() // a later one: starts are in order
	}
	r := NewRecord()
	r.ArrivalNs, r.Model, r.Tenant = s.at, g.p.Model, s.tenant.name
	r.PromptTokens, r.OutputTokens = int32(s.prompt), int32(g.p.Output.draw(g.output))
	r.Blocks = g.identity(s)
	if s.name != "" {
		r.Session, r.Turn, r.ThinkNs = s.name, s.turn, s.think
	}
	if g.goOn(s, int(r.OutputTokens)) {
		heap.Fix(&g.open, 0)
	} else {
		heap.Pop(&g.open)
	}
	return r
}

// identity returns the ids of the prompt: full blocks of the system prompt are the tenant's, others the session's. A
// partial block has an id of its own, as later text will fill it.
func (g *generator) identity(s *session) []int64 {
	full := s.prompt / g.p.BlockSize
	shared := min(full, len(s.tenant.blocks))
	s.own = g.fresh(s.own, full-shared-len(s.own))
	g.path = append(append(g.path[:0], s.tenant.blocks[:shared]...), s.own...)
	if g.p.BlockTail == TailCeil && s.prompt%g.p.BlockSize != 0 {
		g.path = g.fresh(g.path, 1)
	}
	return g.path
}

// goOn prepares a session's next turn and reports whether there is one.
func (g *generator) goOn(s *session, answer int) bool {
	s.turn++
	s.prompt += answer + g.p.User.draw(g.user)
	s.think = int64(g.p.Think.draw(g.think)) * int64(time.Millisecond)
	s.at += s.think
	if g.p.MaxTurns > 0 && int(s.turn) >= g.p.MaxTurns || g.p.MaxPrompt > 0 && s.prompt > g.p.MaxPrompt || s.prompt > maxTokens {
		return false
	}
	return uniform(g.turns) >= 1/g.p.Turns
}

// sessions is a heap by time, then by start.
type sessions []*session

func (s sessions) Len() int { return len(s) }

func (s sessions) Less(i, j int) bool {
	return s[i].at < s[j].at || s[i].at == s[j].at && s[i].number < s[j].number
}

func (s sessions) Swap(i, j int) { s[i], s[j] = s[j], s[i] }

func (s *sessions) Push(x any) { *s = append(*s, x.(*session)) }

func (s *sessions) Pop() any {
	last := len(*s) - 1
	x := (*s)[last]
	*s = slices.Delete(*s, last, last+1)
	return x
}
