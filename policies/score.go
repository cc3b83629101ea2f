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

	outputs *outputs // nil if the expected output is not learnt
	apart   bool     // the work of other routers may count
	bounded bool     // owners of a prefix have a bounded load

	// Scratch of one Pick. The candidates are the replicas that passed the filters; scores lies parallel to them, and so
	// does each active term's column of values.
	pick       pick
	candidates []candidate
	scores     []float64
	values     [NumTerms][]float64
}

// summand is an active term with its signed weight.
type summand struct {
	term   Term
	weight float64
	value  func(*pick, []candidate, []float64)
}

var (
	_ Policy    = (*Score)(nil)
	_ Observer  = (*Score)(nil)
	_ Believer  = (*Score)(nil)
	_ TruthUser = (*Score)(nil)
	_ Finisher  = (*Score)(nil)

	_ FeedbackUser = (*Score)(nil)
)

// NewScore returns a scorer with an empty memory. It panics if c.Check does not pass.
func NewScore(c ScoreConfig) *Score {
	if err := c.Check(); err != nil {
		panic("policies: " + err.Error())
	}
	s := &Score{config: c, belief: newBelief(&c.BeliefConfig)}
	s.pick.config = &s.config
	for t := range NumTerms {
		if s.matters(t) {
			s.active = append(s.active, summand{t, terms[t].sign * *c.Weights.Of(t), terms[t].value})
		}
	}
	if c.Fit != FitOff || c.Weights.KVPressure > 0 {
		s.wants |= hasKV
	}
	if c.Weights.Queue > 0 && (c.Norm.ofWaiting() || c.Others == OthersOn) {
		s.wants |= HasWaiting
	}
	if c.Output == OutputP75 {
		s.outputs = &outputs{}
	}
	s.apart = c.Others != OthersOff && c.Weights.Queue > 0 && !c.Norm.ofWaiting()
	s.bounded = c.Prefix == PrefixBucket && c.Bound > 0
	return s
}

// matters tells whether a term can be other than 0: with fit=spill no candidate is under KV pressure.
func (s *Score) matters(t Term) bool {
	return *s.config.Weights.Of(t) != 0 && (t != KVPressure || s.config.Fit == FitOff)
}

// Config returns the scorer's settings.
func (s *Score) Config() ScoreConfig { return s.config }

// Pick chooses the candidate with the highest score.
func (s *Score) Pick(r *Request, v *View, d *Decision) {
	*d = undecided()
	s.begin(r, v)
	s.filter(v, d)
	s.score()
	top := s.best(r, v)
	d.Output, d.BestHit = s.pick.output, s.pick.best
	if top.first >= 0 && s.config.Fit == FitHold && !s.candidates[top.first].fits {
		d.Rejected[NoRoom]++
		top = emptyPodium()
	}
	if top.first < 0 {
		d.settle(top)
		return
	}
	s.explain(top, d)
	first, second := top.first, top.second
	top.first = int(s.candidates[first].index)
	if second >= 0 {
		d.Margin = s.scores[first] - s.scores[second]
		top.second = int(s.candidates[second].index)
	}
	d.settle(top)
}

// begin works out what all candidates have in common.
func (s *Score) begin(r *Request, v *View) {
	s.pick.begin(r, s.expected(r))
	if s.apart && (v.Routers > 1 || s.config.Others == OthersOn) {
		s.pick.meet(v)
	}
	if s.bounded {
		s.pick.divide(v)
	}
}

// score fills in the scores: the terms of each candidate added in order. It goes term by term, since a call for every
// term of every candidate took twice the time.
func (s *Score) score() {
	scores := s.scores[:len(s.candidates)]
	clear(scores)
	for i := range s.active {
		a := &s.active[i]
		values := s.values[a.term][:len(scores)]
		a.value(&s.pick, s.candidates, values)
		for j, x := range values {
			scores[j] += float64(a.weight * x)
		}
	}
}

// best returns the best two candidates.
func (s *Score) best(r *Request, v *View) podium {
	top := emptyPodium()
	first, second := math.Inf(-1), math.Inf(-1)
	for j, x := range s.scores[:len(s.candidates)] {
		switch {
		case x < second: // most of them
		case top.first < 0 || x > first || x == first && s.lighter(r, v, j, top.first):
			top.first, top.second, first, second = j, top.first, x, first
		case top.second < 0 || x > second || x == second && s.lighter(r, v, j, top.second):
			top.second, second = j, x
		}
	}
	return top
}

func (s *Score) lighter(r *Request, v *View, i, j int) bool {
	return lighter(r, v, int(s.candidates[i].index), int(s.candidates[j].index))
}

// explain writes the winner into the decision.
func (s *Score) explain(top podium, d *Decision) {
	c := &s.candidates[top.first]
	for _, a := range s.active {
		if x := s.values[a.term][top.first]; x != 0 {
			d.Terms[a.term] = float64(a.weight * x)
		}
	}
	d.Score = s.scores[top.first]
	d.Hit, d.Need = c.hit, c.need
	d.Charge = s.pick.request.PromptTokens - c.hit
	d.Affinity = float64(c.hit) / s.pick.prompt
}

// Believe fills v.Hits with what the replicas are believed to have cached; with PrefixOracle it leaves them to the
// caller. It only reads the scorer's memory.
func (s *Score) Believe(r *Request, v *View) { s.belief.believe(r, v) }

// Dispatched remembers what the replica is now going to have.
func (s *Score) Dispatched(r *Request, v *View, d *Decision) {
	s.belief.dispatched(r, v, d.Replica)
	if s.outputs != nil {
		s.outputs.age(r.Tenant)
	}
}

// FirstToken does nothing: the charge is in the Book.
func (s *Score) FirstToken(time.Duration, *Request, int) {}

// Completed remembers that the request no longer holds its prefix.
func (s *Score) Completed(_ time.Duration, r *Request, replica int) { s.belief.completed(r, replica) }

// Finished learns how long the tenant's outputs are.
func (s *Score) Finished(_ time.Duration, r *Request, _ int, outputTokens int32) {
	if s.outputs != nil {
		s.outputs.add(r.Tenant, outputTokens)
	}
}

// Forget tells that a replica lost its cache, as after a restart.
func (s *Score) Forget(replica int) { s.belief.forget(replica) }

// Move tells that the replica at from is now at to, whose former replica left.
func (s *Score) Move(from, to int) {
	s.belief.forget(to)
	s.belief.move(from, to)
}

// keep takes over the belief of another scorer that believed by the same rules; false if it did not.
func (s *Score) keep(old *Score) bool {
	if !s.config.sameMemory(&old.config.BeliefConfig) {
		return false
	}
	if s.config.Prefix != PrefixBucket { // which is nothing but its settings
		s.belief = old.belief
	}
	if s.outputs != nil && old.outputs != nil {
		s.outputs = old.outputs
	}
	return true
}

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
