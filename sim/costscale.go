package sim

import (
	"fmt"
	"math"

	"github.com/seed-2cee110a/triage/engine"
)

// Bounds of Config.CostScale.
const (
	leastScale = 0.01
	mostScale  = 100
)

// scaled is a cost model whose steps take num/den times as long: what a slower or faster replica does to the same
// traffic, and a slowdown planted to see that a gate notices it.
type scaled struct {
	engine.CostModel
	num engine.Time // of millionths
}

const scaleDen = 1e6

var _ engine.CostModel = scaled{}

// scale wraps the cost model if steps are to take longer or shorter.
func (hw *hardware) scale() {
	if hw.cfg.CostScale == 0 {
		hw.cfg.CostScale = 1
	}
	if hw.cfg.CostScale == 1 {
		return
	}
	hw.cost = scaled{hw.cost, engine.Time(math.Round(hw.cfg.CostScale * scaleDen))}
	hw.note.Note = fmt.Sprintf("steps take %v times as long: ", hw.cfg.CostScale) + hw.note.Note
}

// Step scales a step of decoding sequences alone by its parts, so that it is exactly what Decode says.
func (s scaled) Step(b engine.Batch) engine.Time {
	if b.PrefillTokens > 0 {
		return s.times(s.CostModel.Step(b))
	}
	base, slope := s.Decode(b.Decode)
	return base + slope*engine.Time(b.KVTokens)
}

func (s scaled) Decode(n int) (base, slope engine.Time) {
	base, slope = s.CostModel.Decode(n)
	return s.times(base), s.times(slope)
}

// times rounds to the nearest picosecond, without overflow for times of days.
func (s scaled) times(t engine.Time) engine.Time {
	return t/scaleDen*s.num + (t%scaleDen*s.num+scaleDen/2)/scaleDen
}
