package policies

import (
	"math"
	"time"
)

// Score is the explicit scorer: hard filters first, then the highest
//
//	aff*affinity - q*queue - kv*pressure - lora*miss - load*load - tokens*tokens - ttft*ttft - tpot*tpot
//
// Ties go to the replica with the fewest requests in flight, then to the smallest hash of request and replica.
type Score struct {
	config ScoreConfig
	active []summand // terms that can differ from 0, in order
	wants  Field     // signals that the configuration looks at
	belief belief

	// Scratch of one Pick.
	c     candidate
	limit int32 // most prompt tokens that may count as hit

	// The last need computed in this Pick, and for what: most candidates share it, and a division is slow.
	need                int64
	needHeld, needBlock int32
}

// summand is an active term with its signed weight.
type summand struct {
	term   Term
	weight float64
	value  func(*candidate) float64
}

var (
	_ Policy    = (*Score)(nil)
	_ Observer  = (*Score)(nil)
	_ Believer  = (*Score)(nil)
	_ TruthUser = (*Score)(nil)
)

// NewScore returns a scorer with an empty memory. It panics if c.Check does not pass.
func NewScore(c ScoreConfig) *Score {
	if err := c.Check(); err != nil {
		panic("policies: " + err.Error())
	}
	s := &Score{config: c, belief: newBelief(&c)}
	s.c.config = &s.config
	for t := range NumTerms {
		if s.matters(t) {
			s.active = append(s.active, summand{t, terms[t].sign * *c.Weights.Of(t), terms[t].value})
		}
	}
	if c.Fit != FitOff || c.Weights.KVPressure > 0 {
		s.wants |= hasKV
	}
	if c.Norm == NormAbsolute && c.Weights.Queue > 0 {
		s.wants |= HasWaiting
	}
	return s
}

// matters tells whether a term can be other than 0: with fit=spill no candidate is under KV pressure.
func (s *Score) matters(t Term) bool {
	return *s.config.Weights.Of(t) != 0 && (t != KVPressure || s.config.Fit == FitOff)
}

// Pick chooses the candidate with the highest score.
func (s *Score) Pick(r *Request, v *View, d *Decision) {
	*d = undecided()
	s.begin(r, v)
	top := emptyPodium()
	var first, second float64 // scores of the podium
	for i := range v.Replicas {
		if reason := s.consider(v, i); reason != passed {
			d.Rejected[reason]++
			continue
		}
		x := s.sum()
		switch {
		case top.first < 0 || x > first || x == first && lighter(r, v, i, top.first):
			top.first, top.second, first, second = i, top.first, x, first
		case top.second < 0 || x > second || x == second && lighter(r, v, i, top.second):
			top.second, second = i, x
		}
	}
	if !d.settle(top) {
		return
	}
	s.consider(v, top.first)
	s.explain(d)
	if top.second >= 0 {
		d.Margin = first - second
	}
}

// begin sets what holds for the whole Pick.
func (s *Score) begin(r *Request, v *View) {
	s.c.request, s.needHeld = r, -1
	s.c.prompt = float64(max(1, r.PromptTokens))
	s.c.whole = int64(r.PromptTokens) + int64(output(r))
	s.limit = hitLimit(r, s.config.PrefixTokens)
	if s.config.Weights.TTFT != 0 || s.config.Weights.TPOT != 0 {
		s.means(v)
	}
}

// means takes the mean TTFT and TPOT over the candidates that have one.
func (s *Score) means(v *View) {
	var ttft, tpot mean
	for i := range v.Replicas {
		if s.consider(v, i) == passed {
			ttft.add(v.Local[i].TTFT)
			tpot.add(v.Local[i].TPOT)
		}
	}
	s.c.ttft, s.c.tpot = ttft.value(), tpot.value()
}

// sum is the score of the current candidate: its terms added in order.
func (s *Score) sum() float64 {
	var sum float64
	for i := range s.active {
		a := &s.active[i]
		sum += float64(a.weight * a.value(&s.c))
	}
	return sum
}

// explain writes the current candidate, the winner, into the decision.
func (s *Score) explain(d *Decision) {
	d.Score = 0
	for _, a := range s.active {
		if x := a.value(&s.c); x != 0 {
			d.Terms[a.term] = float64(a.weight * x)
		}
		d.Score += d.Terms[a.term]
	}
	d.Hit = s.c.hit
	d.Charge = s.c.request.PromptTokens - s.c.hit
	d.Need = s.c.need
	d.Affinity = affinity(&s.c)
}

// Believe fills v.Hits with what the replicas are believed to have cached; with PrefixOracle it leaves them to the
// caller. It only reads the scorer's memory.
func (s *Score) Believe(r *Request, v *View) { s.belief.believe(r, v) }

// Dispatched remembers what the replica is now going to have.
func (s *Score) Dispatched(r *Request, v *View, d *Decision) { s.belief.dispatched(r, v, d.Replica) }

// FirstToken does nothing: the charge is in the Book.
func (s *Score) FirstToken(time.Duration, *Request, int) {}

// Completed remembers that the request no longer holds its prefix.
func (s *Score) Completed(_ time.Duration, r *Request, replica int) { s.belief.completed(r, replica) }

// Forget tells that a replica lost its cache, as after a restart.
func (s *Score) Forget(replica int) { s.belief.forget(replica) }

// WantsTruth tells whether the caller is to fill v.Hits with the truth.
func (s *Score) WantsTruth() bool { return s.config.Prefix == PrefixOracle }

// mean is a running mean of positive numbers.
type mean struct {
	sum float64
	n   int
}

func (m *mean) add(x float64) {
	if x > 0 && !math.IsInf(x, 1) {
		m.sum += x
		m.n++
	}
}

func (m *mean) value() float64 {
	if m.n == 0 {
		return 0
	}
	return m.sum / float64(m.n)
}
