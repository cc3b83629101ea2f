package traces

import (
	"fmt"
	"strings"
	"time"
)

// Preset is a named set of Params.
type Preset struct {
	Name   string
	Doc    string // one line
	Params Params
}

// presets are made for eight replicas of a 32B model on two H100 each: some 12,000 prefill tokens per second and
// 300,000 tokens of KV a replica.
var presets = []Preset{
	{
		Name: "demo", Doc: "tenants with shared system prompts, sessions of several turns, bursts: 17 minutes",
		Params: Params{
			Seed: 1, Requests: 4500, Rate: 5.2, Burst: Burst{Factor: 2, On: 40 * time.Second, Off: 80 * time.Second},
			Tenants: 24, Skew: 0.8, System: Length{Median: 7000, Sigma: 0.5, Min: 1500, Max: 16000},
			Document: Length{Median: 2500, Sigma: 0.8, Min: 100, Max: 12000},
			User:     Length{Median: 120, Sigma: 0.8, Min: 8, Max: 2000},
			Output:   Length{Median: 130, Sigma: 0.6, Min: 4, Max: 800},
			Turns:    4, MaxTurns: 16, MaxPrompt: 32000,
			Think:     Length{Median: 15000, Sigma: 0.7, Min: 2000, Max: 120000},
			BlockSize: 128, BlockTail: TailFloor,
		},
	},
	{
		Name: "chat", Doc: "mixed tenants, short system prompts, sessions of several turns",
		Params: Params{
			Seed: 1, Requests: 20000, Rate: 24, Burst: Burst{Factor: 1.5, On: 60 * time.Second, Off: 120 * time.Second},
			Tenants: 40, Skew: 1, System: Length{Median: 900, Sigma: 0.7, Min: 150, Max: 4000},
			User:   Length{Median: 70, Sigma: 1, Min: 4, Max: 4000},
			Output: Length{Median: 220, Sigma: 0.7, Min: 4, Max: 2000},
			Turns:  4, MaxTurns: 30, MaxPrompt: 32000,
			Think:     Length{Median: 25000, Sigma: 0.8, Min: 2000, Max: 300000},
			BlockSize: 64, BlockTail: TailFloor,
		},
	},
	{
		Name: "rag", Doc: "long private documents, few questions on each",
		Params: Params{
			Seed: 1, Requests: 5000, Rate: 5, Burst: Burst{Factor: 1.5, On: 60 * time.Second, Off: 120 * time.Second},
			Tenants: 12, Skew: 0.8, System: Length{Median: 600, Sigma: 0.5, Min: 150, Max: 2000},
			Document: Length{Median: 7000, Sigma: 0.7, Min: 1000, Max: 60000},
			User:     Length{Median: 50, Sigma: 0.7, Min: 4, Max: 500},
			Output:   Length{Median: 180, Sigma: 0.6, Min: 4, Max: 1000},
			Turns:    2, MaxTurns: 8, MaxPrompt: 64000,
			Think:     Length{Median: 20000, Sigma: 0.7, Min: 2000, Max: 120000},
			BlockSize: 64, BlockTail: TailFloor,
		},
	},
	{
		Name: "agents", Doc: "long sessions that grow by tool results, few tool sets",
		Params: Params{
			Seed: 1, Requests: 6000, Rate: 2.5, Burst: Burst{Factor: 1.5, On: 2 * time.Minute, Off: 4 * time.Minute},
			Tenants: 6, Skew: 0.8, System: Length{Median: 11000, Sigma: 0.3, Min: 6000, Max: 20000},
			Document: Length{Median: 1500, Sigma: 0.8, Min: 100, Max: 20000},
			User:     Length{Median: 600, Sigma: 1.1, Min: 20, Max: 16000},
			Output:   Length{Median: 150, Sigma: 0.8, Min: 8, Max: 2000},
			Turns:    25, MaxTurns: 80, MaxPrompt: 120000,
			Think:     Length{Median: 8000, Sigma: 0.8, Min: 1000, Max: 120000},
			BlockSize: 64, BlockTail: TailFloor,
		},
	},
	{
		Name: "near-capacity", Doc: "long shared system prompts that together almost fill the cluster's KV cache",
		Params: Params{
			Seed: 1, Requests: 5000, Rate: 6.7, Burst: Burst{Factor: 2, On: 30 * time.Second, Off: 60 * time.Second},
			Tenants: 140, Skew: 0.4, System: Length{Median: 17500, Sigma: 0.25, Min: 8000, Max: 24000},
			User:   Length{Median: 250, Sigma: 0.5, Min: 32, Max: 1500},
			Output: Length{Median: 400, Sigma: 0.5, Min: 4, Max: 1500},
			Turns:  1, BlockSize: 64, BlockTail: TailFloor,
		},
	},
}

// Presets returns the presets.
func Presets() []Preset { return presets }

// PresetByName finds a preset.
func PresetByName(name string) (Preset, error) {
	var names []string
	for _, p := range presets {
		if p.Name == name {
			return p, nil
		}
		names = append(names, p.Name)
	}
	return Preset{}, fmt.Errorf("unknown preset %q (have %s%s)", name, strings.Join(names, ", "), didYouMean(name, names))
}
