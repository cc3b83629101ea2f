package sim

import "github.com/seed-2cee110a/triage/engine"

// Pool is a number of equal replicas. Its fields mean what those of the same name in Config mean.
type Pool struct {
	Name        string
	Replicas    int
	Model       string
	ModelConfig *ModelConfig
	GPU         string
	TP          int
	KVTokens    int64
	GPUUtil     float64
	Cost        string
	CostScale   float64

	Engine         engine.Config
	BlocksOverride int

	Serves []string // model names that requests may ask for; empty: the model's own
	Caps   []string // capabilities, at most 64 different ones in a cluster
}

// Need is a rule: requests that match all that is given need the capabilities.
type Need struct {
	Model, Tenant, SLO string // equal to the request's; "" is any
	MinPrompt          int    // prompt tokens at least
	Caps               []string
}
