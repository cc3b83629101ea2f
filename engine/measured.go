package engine

import "slices"

// Class is what the model's layers have beside plain attention and a dense MLP, "dense" if nothing.
func (m Model) Class() string {
	switch {
	case m.latent():
		return "latent attention"
	case m.Window > 0 && m.moe() > 0:
		return "experts and sliding windows"
	case m.Window > 0:
		return "sliding windows"
	case m.moe() > 0:
		return "experts"
	}
	return "dense"
}

// measured are the GPUs on which models of a class were measured to fit the physical cost model.
var measured = map[string][]string{
	"dense":                       {"H100", "A100-80GB", "L40S"},
	"experts":                     {"H100", "A100-80GB"},
	"experts and sliding windows": {"H100"},
}

// Measured is true if the cost model was fitted to models of m's class on g.
func Measured(m Model, g GPU) bool { return slices.Contains(measured[m.Class()], g.Name) }
