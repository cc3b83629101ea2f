package traces

import (
	"container/heap"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sort"
	"strconv"
	"time"
)

// Params describe made-up traffic: tenants, each with a system prompt that all its sessions share; sessions of
// several turns, in which a prompt is the prompt before, its answer and new text; bursts. The same Params make the
// same trace.
type Params struct {
	Seed     uint64  // of every random choice
	Requests int     // requests to make, at least 1
	Rate     float64 // mean requests per second, once sessions have built up to their usual number
	Burst    Burst   // the zero Burst is plain Poisson traffic

	Tenants int     // at least 1
	Skew    float64 // Zipf exponent of the tenants' popularity; 0 makes them equal
	System  Length  // tokens of a tenant's system prompt, shared by all its sessions

	Document Length // tokens of private text that a session starts with; the zero Length is none
	User     Length // tokens of new text in a turn
	Output   Length // tokens of an answer

	Turns     float64 // mean turns of a session (geometric), at least 1
	MaxTurns  int     // a session ends after this many turns; 0 is no limit
	MaxPrompt int     // a session ends before its prompt is longer, and a first prompt is cut to it; 0 is no limit
	Think     Length  // milliseconds from a request to the next turn of its session, answer time included

	Model     string    // written into every record; "" is none
	BlockSize int       // tokens behind one block id
	BlockTail BlockTail // whether a last, partly filled block has an id: TailCeil or TailFloor
}

// Length is a log-normal distribution, cut at both ends and rounded down to whole numbers.
type Length struct {
	Median   float64
	Sigma    float64 // of the logarithm; 0 makes every value the median
	Min, Max int     // values beyond are moved to the bound
}

// Burst switches the arrivals of new sessions between a high and a low rate, the mean unchanged.
type Burst struct {
	Factor  float64       // high rate over mean rate; 0 or 1 is no burst
	On, Off time.Duration // mean time of high and of low rate, exponentially distributed
}

// Check says what is wrong with p, by field.
func (p Params) Check() error {
	for _, f := range []struct {
		name      string
		v, lo, hi float64
	}{
		{"Requests", float64(p.Requests), 1, math.MaxInt32},
		{"Rate", p.Rate, 1e-6, 1e6},
		{"Tenants", float64(p.Tenants), 1, 1e6},
		{"Skew", p.Skew, 0, 10},
		{"Turns", p.Turns, 1, 1e6},
		{"MaxTurns", float64(p.MaxTurns), 0, 1e6},
		{"MaxPrompt", float64(p.MaxPrompt), 0, maxTokens},
		{"BlockSize", float64(p.BlockSize), 1, 1 << 20},
	} {
		if !(f.v >= f.lo && f.v <= f.hi) {
			return fmt.Errorf("%s is %v, want %v to %v", f.name, f.v, f.lo, f.hi)
		}
	}
	if p.BlockTail != TailCeil && p.BlockTail != TailFloor {
		return fmt.Errorf("BlockTail is %q, want %q or %q", p.BlockTail, TailCeil, TailFloor)
	}
	for _, l := range []struct {
		name string
		Length
		least int
	}{
		{"System", p.System, 0}, {"Document", p.Document, 0}, {"User", p.User, 1}, {"Output", p.Output, 1},
		{"Think", p.Think, 0},
	} {
		if err := l.check(l.name, l.least); err != nil {
			return err
		}
	}
	return p.Burst.check()
}

func (l Length) check(name string, least int) error {
	switch {
	case l.Min < least || l.Min > maxTokens:
		return fmt.Errorf("%s.Min is %d, want %d to %d", name, l.Min, least, maxTokens)
	case l.Max < l.Min || l.Max > maxTokens:
		return fmt.Errorf("%s.Max is %d, want %d to %d", name, l.Max, l.Min, maxTokens)
	case !(l.Median >= 0 && l.Median <= maxTokens):
		return fmt.Errorf("%s.Median is %v, want 0 to %d", name, l.Median, maxTokens)
	case !(l.Sigma >= 0 && l.Sigma <= 10):
		return fmt.Errorf("%s.Sigma is %v, want 0 to 10", name, l.Sigma)
	}
	return nil
}

func (b Burst) none() bool { return b.Factor == 0 || b.Factor == 1 }

func (b Burst) check() error {
	if b.none() {
		return nil
	}
	if b.On <= 0 || b.Off <= 0 {
		return fmt.Errorf("Burst.On is %v and Burst.Off %v, want more than 0", b.On, b.Off)
	}
	most := float64(b.On+b.Off) / float64(b.On)
	if !(b.Factor >= 1 && b.Factor <= most) {
		return fmt.Errorf("Burst.Factor is %v, want 1 to %.4g ((On + Off) / On: the low rate would be negative)", b.Factor, most)
	}
	return nil
}

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
	b.Grow(p.Requests)
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

// stream returns the random numbers for a purpose.
func stream(seed uint64, purpose string) *rand.Rand {
	return rand.New(rand.NewPCG(seed, hashString(0, purpose)))
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
	system, sum := stream(p.Seed, "system"), 0.0
	for i := range p.Tenants {
		t := tenant{name: fmt.Sprintf("t%0*d", len(strconv.Itoa(p.Tenants)), i+1), tokens: p.System.draw(system)}
		t.blocks = g.fresh(nil, t.tokens/p.BlockSize)
		g.tenants = append(g.tenants, t)
		sum += math.Pow(float64(i+1), -p.Skew)
		g.popular = append(g.popular, sum)
	}
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
	x := uniform(g.choice) * g.popular[len(g.popular)-1]
	i := min(sort.SearchFloat64s(g.popular, x), len(g.tenants)-1)
	s := &session{at: g.starts.next(), number: g.started, tenant: &g.tenants[i], think: Unknown}
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

// draw returns a value.
func (l Length) draw(r *rand.Rand) int {
	v := l.Median
	if l.Sigma > 0 {
		v *= math.Exp(float64(l.Sigma * normal(r)))
	}
	return int(max(float64(l.Min), min(v, float64(l.Max))))
}

// uniform returns a number from 0 to below 1.
func uniform(r *rand.Rand) float64 { return float64(r.Uint64()>>11) / (1 << 53) }

// exponential returns a number with mean 1.
func exponential(r *rand.Rand) float64 { return -math.Log(1 - uniform(r)) }

// normal returns a standard normal number (Box and Muller).
func normal(r *rand.Rand) float64 {
	a, b := exponential(r), uniform(r)
	return math.Sqrt(2*a) * math.Cos(2*math.Pi*b)
}

// arrivals are the starts of sessions: a Poisson process whose rate switches between two values.
type arrivals struct {
	r        *rand.Rand
	now      float64 // seconds
	until    float64 // when the rate switches
	on       bool
	rate     [2]float64 // low, high, per second
	duration [2]float64 // mean, seconds
}

func newArrivals(p Params) arrivals {
	mean := p.Rate / expectedTurns(p)
	a := arrivals{r: stream(p.Seed, "arrivals"), rate: [2]float64{mean, mean}, until: math.Inf(1)}
	if p.Burst.none() {
		return a
	}
	on, off := p.Burst.On.Seconds(), p.Burst.Off.Seconds()
	a.rate = [2]float64{mean * (on + off - float64(p.Burst.Factor*on)) / off, mean * p.Burst.Factor}
	a.duration = [2]float64{off, on}
	a.until = off * exponential(a.r)
	return a
}

// expectedTurns is the mean of a geometric distribution, cut at MaxTurns. MaxPrompt may end sessions earlier.
func expectedTurns(p Params) float64 {
	if p.MaxTurns == 0 {
		return p.Turns
	}
	return p.Turns * (1 - math.Pow(1-1/p.Turns, float64(p.MaxTurns)))
}

// next returns the next start, ns in whole microseconds.
func (a *arrivals) next() int64 {
	for {
		state := 0
		if a.on {
			state = 1
		}
		at := math.Inf(1)
		if a.rate[state] > 0 {
			at = a.now + exponential(a.r)/a.rate[state]
		}
		if at <= a.until {
			a.now = at
			return int64(at*1e6) * 1000
		}
		a.now, a.on = a.until, !a.on
		a.until += a.duration[1-state] * exponential(a.r)
	}
}

// sessions is a heap by time, then by start.
type sessions []*session

func (s sessions) Len() int { return len(s) }
func (s sessions) Less(i, j int) bool {
	return s[i].at < s[j].at || s[i].at == s[j].at && s[i].number < s[j].number
}
func (s sessions) Swap(i, j int) { s[i], s[j] = s[j], s[i] }
func (s *sessions) Push(x any)   { *s = append(*s, x.(*session)) }
func (s *sessions) Pop() any {
	last := len(*s) - 1
	x := (*s)[last]
	*s = slices.Delete(*s, last, last+1)
	return x
}
