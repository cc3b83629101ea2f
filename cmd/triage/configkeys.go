package main

import (
	"errors"
	"slices"
	"strconv"

	"github.com/spf13/pflag"

	"github.com/seed-2cee110a/triage/sim"
)

// key is a setting of a cluster file that is a flag, too: the flag reads its value and says what it is.
type key struct{ name, flag string }

// Keys by the sections that have them, in the order of the schema.
var (
	poolKeys = []key{
		{"model", "model"}, {"model_config", "model-config"}, {"gpu", "gpu"}, {"tp", "tp"},
		{"kv_tokens", "kv-tokens"}, {"num_gpu_blocks_override", "num-gpu-blocks-override"}, {"gpu_memory_utilization", "gpu-memory-utilization"},
		{"cost", "cost"}, {"cost_scale", "cost-scale"},
	}
	replicasKey = key{"replicas", "replicas"}
	engineKeys  = []key{
		{"block_size", "block-size"}, {"max_num_seqs", "max-num-seqs"}, {"max_num_batched_tokens", "max-num-batched-tokens"},
		{"long_prefill_token_threshold", "long-prefill-token-threshold"}, {"max_model_len", "max-model-len"},
		{"scheduler_reserve_full_isl", "scheduler-reserve-full-isl"}, {"enable_prefix_caching", "enable-prefix-caching"},
		{"async_scheduling", "async-scheduling"}, {"watermark", "watermark"},
		{"overhead_before", "overhead-before"}, {"overhead_after", "overhead-after"},
		{"max_loras", "max-loras"}, {"adapter_load_time", "adapter-load-time"}, {"mixed_adapters", "mixed-adapters"},
	}
	gatewayKeys = []key{
		{"deadline", "gateway-deadline"}, {"max_queue", "gateway-queue"}, {"max_tokens", "gateway-tokens"}, {"order", "gateway-order"},
		{"turn", "gateway-turn"}, {"max_inflight", "max-inflight"}, {"max_inflight_tokens", "max-inflight-tokens"},
	}
	topKeys = []key{{"default_model", "default-model"}, {"on_crash", "on-crash"}, {"detect", "detect"}, {"sessions", "sessions"}, {"think", "think"}}
)

// keysOfPools are those that a pool may have itself.
func keysOfPools() []key { return slices.Concat([]key{replicasKey}, poolKeys, engineKeys) }

// rivals are settings of which a pool has one: saying one of them drops what stands elsewhere for the other.
var rivals = map[string]string{
	"kv_tokens": "num_gpu_blocks_override", "num_gpu_blocks_override": "kv_tokens",
	"model": "model_config", "model_config": "model",
}

// fileFlags binds cfg to all flags that a cluster file has keys for. Some are no flags of any command.
func fileFlags(cfg *sim.Config) *pflag.FlagSet {
	f := pflag.NewFlagSet("cluster", pflag.ContinueOnError)
	bindCluster(f, cfg)
	add := func(v pflag.Value, name, usage string) {
		if f.Lookup(name) == nil {
			f.Var(v, name, usage)
		}
	}
	add(count[int]{&cfg.Engine.MaxLoRAs}, "max-loras", "LoRA adapters on the GPU at once, and in one step")
	add(engineTimeOf(&cfg.Engine.AdapterLoadTime), "adapter-load-time", "what loading an adapter adds to the step that needs it")
	add(number{&cfg.Engine.MixedAdapters}, "mixed-adapters", "a step that serves several adapters takes `X` times as long")
	add(path{&cfg.DefaultModel}, "default-model", "model that requests ask for which name none; without it they may go anywhere")
	add(choice[sim.OnCrash]{&cfg.OnCrash, []string{"retry", "fail"}}, "on-crash", "requests in flight on a replica that crashes: send them once more, or fail them")
	add(durationOf(&cfg.Detect), "detect", "the gateway goes on sending to a replica for so long after its crash")
	add(choice[sim.Sessions]{&cfg.Sessions, []string{"open", "closed"}}, "sessions", "later turns arrive as logged, or think time after the answer to the turn before")
	add(durationOf(&cfg.Think), "think", "closed sessions: think time where the trace does not say it")
	return f
}

// number is a flag for any number.
type number struct{ p *float64 }

func (n number) String() string { return strconv.FormatFloat(*n.p, 'g', -1, 64) }
func (n number) Type() string   { return "float" }

func (n number) Set(text string) error {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return errors.New("want a number")
	}
	*n.p = v
	return nil
}
