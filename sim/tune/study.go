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

	Best        []int // by trace: the point with the lowest objective, among those replayed on every trace
	Recommended int   // -1 if no point is replayed on every trace
	Plateau     []int // points whose worst regret is within Noise of the recommended one's
	Edges       []Edge
}

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
		s.enter(p)
	}
	for _, cells := range s.Baselines {
		s.Interrupted = s.Interrupted || !done(cells)
	}
	if s.Done > 0 {
		s.recommend()
		s.Edges = edges(s)
	}
	return s
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
		if !done(cells) {
			continue
		}
		worst, mean := s.Regrets(cells)
		same := worst == least && mean == leastMean
		if s.Recommended < 0 || worst < least || worst == least && mean < leastMean || same && s.nearer(p, s.Recommended) {
			s.Recommended, least, leastMean = p, worst, mean
		}
	}
	for p, cells := range s.Points {
		if worst, _ := s.Regrets(cells); done(cells) && worst <= least+Noise {
			s.Plateau = append(s.Plateau, p)
		}
	}
}

// Regret is that of a cell of a trace; a baseline's is below 0 if it beats every point.
func (s *Study) Regret(c Cell, trace int) float64 {
	return Regret(c.Value, s.Points[s.Best[trace]][trace].Value)
}

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
