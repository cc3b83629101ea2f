package sim

import (
	"fmt"

	"github.com/seed-2cee110a/triage/engine"
)

// Bounds of Config.CostScale.
const (
	leastScale = 0.01
	mostScale  = 100
)

// scale wraps the cost model if steps are to take longer or shorter.
func (hw *hardware) scale() {
	if hw.cfg.CostScale == 0 {
		hw.cfg.CostScale = 1
	}
	if hw.cfg.CostScale == 1 {
		return
	}
	hw.cost = engine.Scaled(hw.cost, hw.cfg.CostScale)
	hw.note.Note = fmt.Sprintf("steps take %v times as long: ", hw.cfg.CostScale) + hw.note.Note
}
