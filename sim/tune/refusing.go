package tune

import "math"

// RefusalSlack is by how much the share of requests that a point refuses may be above the lowest of any point or baseline on
// the same trace: one request in a thousand. The times of a point that refuses more are over an easier set.
const RefusalSlack = 0.001

// refusals fills in which points refuse too much to be recommended. If none refuses little enough, those remain that are
// within the slack of the one that refuses least.
func (s *Study) refusals() {
	if s.Objective.CountsRefusals() {
		return
	}
	lowest := s.lowestRefused()
	excess := make([]float64, len(s.Points))
	s.Excess = math.Inf(1)
	for p, cells := range s.Points {
		if valued(cells) {
			excess[p] = mostAbove(cells, lowest)
			s.Excess = min(s.Excess, excess[p])
		}
	}
	bound := RefusalSlack + 1e-9
	if s.Excess > bound {
		bound += s.Excess
	}
	for p, cells := range s.Points {
		if valued(cells) && excess[p] > bound {
			s.Refusing = append(s.Refusing, p)
		}
	}
}

// lowestRefused returns by trace the lowest share of requests that a point or a baseline refused.
func (s *Study) lowestRefused() []float64 {
	lowest := make([]float64, len(s.Cases))
	for t := range lowest {
		lowest[t] = math.Inf(1)
	}
	for _, rows := range [][][]Cell{s.Baselines, s.Points} {
		for _, cells := range rows {
			for t, c := range cells {
				if c.Done && c.Metrics[Rejected] < lowest[t] {
					lowest[t] = c.Metrics[Rejected]
				}
			}
		}
	}
	return lowest
}

// mostAbove is how far above the lowest share a row is on the trace where it refuses most.
func mostAbove(cells []Cell, lowest []float64) float64 {
	most := 0.0
	for t, c := range cells {
		if above := c.Metrics[Rejected] - lowest[t]; above > most {
			most = above
		}
	}
	return most
}
