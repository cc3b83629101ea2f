package sim

import (
	"time"

	"github.com/seed-2cee110a/triage/engine"
)

// Config is a cluster of equal replicas or of several pools of them, the gateway in front of it, and how a trace is played
// to it.
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

	Pools        []Pool // replicas of several kinds; empty: one pool made of the fields above
	DefaultModel string // what requests that name no model ask for, with Pools; "" is any
	Needs        []Need // what requests need of a pool beyond its model

	Faults  []Fault       // what happens to replicas while the trace is played, in any order
	OnCrash OnCrash       // what the gateway does with requests that a crash has cut off; "" is Resend
	Detect  time.Duration // after a crash the gateway goes on sending to the replica for so long

	Sessions Sessions      // when later turns of a session arrive; "" is Open
	Think    time.Duration // closed sessions: from an answer to the next turn where the trace does not say; 0 is not given

	ReuseOutput   ReuseOutput   // which generated tokens later turns can hit; "" is ReuseKnown
	AdapterSignal AdapterSignal // which adapters replicas tell of; "" is AdaptersActive

	Signals Signals
	Routers Routers
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

// Fault is a change of a replica at an instant of the run.
type Fault struct {
	At      time.Duration // since the run began
	Replica string        // by name
	Do      FaultKind
	Factor  float64 // Slow: its steps take this many times as long as when healthy; 1 restores
}

// FaultKind is what a Fault does.
type FaultKind string

const (
	Cordon   FaultKind = "cordon"   // it gets no more requests; work in flight goes on
	Uncordon FaultKind = "uncordon" // it gets requests again
	Crash    FaultKind = "crash"    // cache and work in flight are lost
	Restart  FaultKind = "restart"  // it is back after a crash, cold
	Mute     FaultKind = "mute"     // it reports nothing any more
	Unmute   FaultKind = "unmute"   // it reports again
	Slow     FaultKind = "slow"     // its steps take Factor times as long
	Join     FaultKind = "join"     // it does not exist before, and is cold then
)

// FaultKinds are the kinds in the order of their declaration.
var FaultKinds = []FaultKind{Cordon, Uncordon, Crash, Restart, Mute, Unmute, Slow, Join}

// OnCrash says what the gateway does with requests in flight on a replica that crashes.
type OnCrash string

const (
	Resend OnCrash = "retry" // send them once more, elsewhere or there
	GiveUp OnCrash = "fail"  // fail them
)

// Sessions says when the later turns of a session arrive.
type Sessions string

const (
	Open   Sessions = "open"   // as logged, whatever became of the turns before
	Closed Sessions = "closed" // think time after the answer to the turn before
)

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
	cfg.Sessions, cfg.ReuseOutput, cfg.AdapterSignal = Open, ReuseKnown, AdaptersActive
	cfg.Engine.MaxNumSeqs, cfg.Engine.MaxNumBatchedTokens = 0, 0
	cfg.Engine.MaxLoRAs, cfg.Engine.AdapterLoadTime = 8, engine.Second/2
	return cfg
}
