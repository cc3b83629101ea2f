package sim

import (
	"time"

	"github.com/seed-2cee110a/triage/engine"
)

// Config is a cluster of equal replicas, the gateway in front of it, and how a trace is played to it.
type Config struct {
	Replicas  int     // replicas in the cluster
	Model     string  // registry name; with a ModelConfig what to call that
	GPU       string  // registry name
	TP        int     // GPUs of a replica
	KVTokens  int64   // KV capacity of a replica in tokens; 0 derives it from GPU memory
	GPUUtil   float64 // vLLM's gpu_memory_utilization, used when the capacity is derived, 0..1
	Cost      string  // cost model: "physical" or "unit", or the name of CostFile
	CostScale float64 // every step takes this many times as long; 0 is 1

	ModelConfig *ModelConfig // a model of a file instead of the registry's; nil: none
	CostFile    *CostFile    // a cost model of a file instead of the registry's; nil: none

	// Engine settings. Zero BlocksOverride, MaxNumSeqs and MaxNumBatchedTokens take the default for the GPU.
	Engine         engine.Config
	BlocksOverride int // vLLM's num_gpu_blocks_override; 0 is none

	Signals Signals
	Gateway Gateway
	Speed   float64 // arrivals come this many times faster; 1 as logged
	Ties    Ties    // what to do with equal arrivals
	Limit   int     // replay only the first requests; 0 is all
	Seed    uint64  // of every random choice

	Decisions bool // keep score and terms of every decision in the result
}

// ModelConfig is a model that was read from a config.json.
type ModelConfig struct {
	File       string // as given
	Model      engine.Model
	Registered string // known model of the same shape, "" if there is none
}

// LookupModel returns the model that the replicas serve: the file's under the name Model, or the registry's.
func (c Config) LookupModel() (engine.Model, error) {
	if c.ModelConfig == nil {
		return engine.LookupModel(c.Model)
	}
	m := c.ModelConfig.Model
	if c.Model != "" {
		m.Name = c.Model
	}
	return m, nil
}

// Signals says how the replicas' numbers reach the router.
type Signals struct {
	Scrape time.Duration // interval; 0 is live: the numbers of this very instant
}

// Gateway is the queue in front of the router.
type Gateway struct {
	MaxQueue int           // requests held at most; more are shed with 429. 0 is no limit
	Deadline time.Duration // longest hold; then 503
}

// Ties says what to do with requests that arrive at the same instant.
type Ties string

const (
	Keep   Ties = "keep"   // play them at that instant, in the order of the trace
	Spread Ties = "spread" // spread them over the time to the next distinct arrival, order kept, keyed by the seed
)

// Default returns eight H100 replicas of Qwen3-32B on two GPUs each, live signals, and a gateway that holds a
// request for 30 s.
func Default() Config {
	cfg := Config{
		Replicas:  8,
		Model:     "Qwen/Qwen3-32B",
		GPU:       "H100",
		TP:        2,
		GPUUtil:   0.9,
		Cost:      "physical",
		CostScale: 1,
		Engine:    engine.Default(),
		Gateway:   Gateway{Deadline: 30 * time.Second},
		Speed:     1,
		Ties:      Keep,
		Seed:      1,
	}
	cfg.Engine.MaxNumSeqs, cfg.Engine.MaxNumBatchedTokens = 0, 0
	return cfg
}
