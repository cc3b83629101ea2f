package engine

import "math"

// scaled is a cost model whose steps take num/scaleDen times as long.
type scaled struct {
	CostModel
	num Time
}

const scaleDen = 1e6

var _ CostModel = scaled{}

// Scaled returns a cost model whose steps take factor times as long as those of c, to the nearest millionth. The factor
// must be more than 0, and no more than lets a step fit a Time.
func Scaled(c CostModel, factor float64) CostModel {
	if factor == 1 {
		return c
	}
	return scaled{c, Time(math.Round(factor * scaleDen))}
}

// Step scales a step of decoding sequences alone by its parts, so that it is exactly what Decode says.
func (s scaled) Step(b Batch) Time {
	if b.PrefillTokens > 0 {
		return s.times(s.CostModel.Step(b))
	}
	base, slope := s.Decode(b.Decode)
	return base + slope*Time(b.KVTokens)
}

func (s scaled) Decode(n int) (base, slope Time) {
	base, slope = s.CostModel.Decode(n)
	return s.times(base), s.times(slope)
}

// times rounds to the nearest picosecond, without overflow for times of days.
func (s scaled) times(t Time) Time {
	return t/scaleDen*s.num + (t%scaleDen*s.num+scaleDen/2)/scaleDen
}
