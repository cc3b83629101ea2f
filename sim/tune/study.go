package tune

import (
	"math"

	"github.com/seed-2cee110a/triage/sim"
	"github.com/seed-2cee110a/triage/traces"
)

// Noise is the regret below which two replays are one answer: about what a small shift of arrivals does.
const Noise = 0.02

// Study is a search that has ended, whole or interrupted.
type Study struct {
	Problem
	Facts       []Facts  // by trace
	Points      [][]Cell // by point and trace
	Baselines   [][]Cell // by baseline and trace
	Interrupted bool     // some point is not replayed on every trace

	Class   []int // by point: the first point with the same decisions, -1 if it is not replayed on every trace
	Classes int   // how many there are
	Done    int   // points that are replayed on every trace

	Valueless []int   // points replayed on every trace whose objective is not finite on one
	Refusing  []int   // points, in order, that refuse too much to be recommended, see RefusalSlack
	Excess    float64 // share of requests that even the point that refuses least refuses above the lowest share of all

	Best        []int // by trace: the point with the lowest objective, among those that compete
	Recommended int   // -1 if no point competes
	Plateau     []int // points whose worst regret is within Noise of the recommended one's
	Edges       []Edge

	competes []bool // by point
}

// Competes says whether a point may be recommended: it is replayed on every trace, has a value on each and does not refuse
// too much.
func (s *Study) Competes(point int) bool { return s.competes[point] }

// Competitors is how many points compete.
func (s *Study) Competitors() int { return s.Done - len(s.Valueless) - len(s.Refusing) }

// Facts is what a trace was replayed on. It is empty for a trace that was not replayed at all.
type Facts struct {
	Trace    *traces.Trace
	Config   sim.Config
	Cost     sim.CostNote
	Warnings []string
}

// Regret is how much worse a value is than the best, see the package comment.
func Regret(value, best float64) float64 {
	if best == 0 {
		return value
	}
	return (value - best) / math.Abs(best)
}

// conclude fills in what follows from the cells.
func conclude(s *Study) *Study {
	s.Class, s.Classes = classes(s.Points)
	s.Recommended = -1
	for p, cells := range s.Points {
		if !done(cells) {
			s.Interrupted = true
			continue
		}
		s.Done++
		if !valued(cells) {
			s.Valueless = append(s.Valueless, p)
		}
	}
	for _, cells := range s.Baselines {
		s.Interrupted = s.Interrupted || !done(cells)
	}
	s.refusals()
	s.enterAll()
	if s.Best != nil {
		s.recommend()
		s.Edges = edges(s)
	}
	return s
}

// enterAll finds the points that compete and the best of them.
func (s *Study) enterAll() {
	s.competes = make([]bool, len(s.Points))
	for p, cells := range s.Points {
		s.competes[p] = valued(cells)
	}
	for _, p := range s.Refusing {
		s.competes[p] = false
	}
	for p := range s.Points {
		if s.competes[p] {
			s.enter(p)
		}
	}
}

// enter lets a point compete for the best on each trace.
func (s *Study) enter(p int) {
	if s.Best == nil {
		s.Best = make([]int, len(s.Cases))
		for t := range s.Best {
			s.Best[t] = p
		}
	}
	for t, c := range s.Points[p] {
		if best := s.Points[s.Best[t]][t].Value; c.Value < best || c.Value == best && s.nearer(p, s.Best[t]) {
			s.Best[t] = p
		}
	}
}

// nearer says whether a point changes fewer knobs of the base policy than another.
func (s *Study) nearer(p, other int) bool { return s.Space.changes(p) < s.Space.changes(other) }

// recommend picks the point with the smallest worst regret, then the smallest mean, then the fewest changes, then the lowest
// index.
func (s *Study) recommend() {
	var least, leastMean float64
	for p, cells := range s.Points {
		if !s.competes[p] {
			continue
		}
		worst, mean := s.Regrets(cells)
		same := worst == least && mean == leastMean
		if s.Recommended < 0 || worst < least || worst == least && mean < leastMean || same && s.nearer(p, s.Recommended) {
			s.Recommended, least, leastMean = p, worst, mean
		}
	}
	for p, cells := range s.Points {
		if !s.competes[p] {
			continue
		}
		if worst, _ := s.Regrets(cells); worst <= least+Noise {
			s.Plateau = append(s.Plateau, p)
		}
	}
}

// Regret is that of a cell of a trace; it is below 0 for a baseline, or a point that does not compete, that beats every one
// that does.
func (s *Study) Regret(c Cell, trace int) float64 {
	return Regret(c.Value, s.BestValue(trace))
}

// BestValue is the lowest objective of the points that compete, on a trace.
func (s *Study) BestValue(trace int) float64 { return s.Points[s.Best[trace]][trace].Value }

// Regrets returns the worst and the mean regret over the traces of a point or a baseline.
func (s *Study) Regrets(cells []Cell) (worst, mean float64) {
	worst = math.Inf(-1)
	for t, c := range cells {
		r := s.Regret(c, t)
		worst = max(worst, r)
		mean += r
	}
	return worst, mean / float64(len(cells))
}

// Gain is the change of the objective from one cell to another relative to the first: -0.4 is 40 % less.
func Gain(from, to Cell) float64 { return Regret(to.Value, from.Value) }
