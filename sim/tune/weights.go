package tune

import (
	"github.com/seed-2cee110a/triage/policies"
)

// Weights returns the recommended point as a weights file for a live router; ok is false for a policy that has none. The
// value in it is the mean objective over the traces, the regret the worst.
func (s *Study) Weights(tool string) (w policies.WeightsFile, ok bool) {
	if s.Recommended < 0 {
		return w, false
	}
	score, ok := s.Space.Spec(s.Recommended).New().(*policies.Score)
	if !ok {
		return w, false
	}
	w.Config = score.Config()
	w.Chain, w.BlockTokens = policies.ChainV1, s.Facts[0].Config.PrefixBlock() // what a live router is to hash, block by block
	cells := s.Points[s.Recommended]
	p := policies.Provenance{Tool: tool, Objective: s.Objective.Text, Points: s.Done, Seed: s.Facts[0].Config.Seed, Bounds: s.Space.bounds()}
	for t, c := range cells {
		p.Traces = append(p.Traces, s.Facts[t].Trace.Digest)
		p.Value += c.Value / float64(len(cells))
	}
	p.Regret, _ = s.Regrets(cells)
	w.Provenance = p
	return w, true
}

// bounds are the smallest and the largest number of each axis, or the first and the last word.
func (s *Space) bounds() []policies.Bound {
	var out []policies.Bound
	for _, a := range s.Axes {
		low, high := 0, len(a.Values)-1
		for i, x := range a.Numbers {
			if x < a.Numbers[low] {
				low = i
			}
			if x > a.Numbers[high] {
				high = i
			}
		}
		out = append(out, policies.Bound{Knob: a.Knob, Min: a.Values[low], Max: a.Values[high]})
	}
	return out
}
