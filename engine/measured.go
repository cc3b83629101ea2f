package engine

import "slices"

// Class is what the model's layers are made of: dense, experts, or latent attention.
func (m Model) Class() string {
	switch {
	case m.latent():
		return "latent attention"
	case m.moe() > 0:
		return "experts"
	}
	return "dense"
}

// measured are the GPUs on which models of a class were measured to fit the physical cost model.
var measured = map[string][]string{
	"dense":   {"H100", "A100-80GB", "L40S"},
	"experts": {"H100", "A100-80GB"},
}

// Measured is true if the cost model was fitted to models of m's class on g.
func Measured(m Model, g GPU) bool { return slices.Contains(measured[m.Class()], g.Name) }
