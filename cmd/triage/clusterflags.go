package main

import (
	"github.com/spf13/pflag"

	"github.com/seed-2cee110a/triage/sim"
)

// bindCluster binds the flags that say what the trace is replayed on. Defaults are those already in cfg.
func bindCluster(f *pflag.FlagSet, cfg *sim.Config) {
	f.Var(count[int]{&cfg.Replicas}, "replicas", "replicas in the cluster")
	bindHardware(f, cfg)
	f.Var(costFlag{cfg, f}, "cost", "cost model: physical, a cost file such as triage calibrate writes, or unit, a test aid: every step takes 1 ms")
	f.Float64Var(&cfg.CostScale, "cost-scale", cfg.CostScale, "every step takes `X` times as long as the cost model says")
	f.Float64Var(&cfg.Speed, "speed", cfg.Speed, "play arrivals and think times `X` times as fast")
	f.Var(choice[sim.Ties]{&cfg.Ties, []string{"keep", "spread"}}, "ties", "equal arrivals: keep them, or spread them up to the next")
	f.Var(count[uint64]{&cfg.Seed}, "seed", "seed of every random choice")
	bindGateway(f, cfg)
	bindSessions(f, cfg)
	bindEngine(f, cfg)
	bindAdapters(f, cfg)
}

// bindHardware binds the flags that say what a replica is.
func bindHardware(f *pflag.FlagSet, cfg *sim.Config) {
	f.StringVar(&cfg.Model, "model", cfg.Model, "model `NAME` that they serve, see triage models")
	f.Var(modelConfig{cfg, f}, "model-config", "serve the model that a config.json of Hugging Face describes; --model is then what to call it")
	f.StringVar(&cfg.GPU, "gpu", cfg.GPU, "GPU `NAME` that they run on, see triage models")
	f.Var(count[int]{&cfg.TP}, "tp", "GPUs of a replica (tensor parallel)")
	f.Var(count[int64]{&cfg.KVTokens}, "kv-tokens", "KV capacity of a replica in tokens; 0 derives it from GPU memory")
}

// bindEngine binds the replicas' settings under vLLM's names.
func bindEngine(f *pflag.FlagSet, cfg *sim.Config) {
	e := &cfg.Engine
	f.Var(count[int]{&e.BlockSize}, "block-size", "tokens in a KV block")
	f.Var(count[int]{&e.MaxNumSeqs}, "max-num-seqs", "sequences that may run at once; 0 takes vLLM's default for the GPU")
	f.Var(count[int]{&e.MaxNumBatchedTokens}, "max-num-batched-tokens", "token budget of a step; 0 takes vLLM's default for the GPU")
	f.Var(count[int]{&e.LongPrefillTokenThreshold}, "long-prefill-token-threshold", "longest prefill chunk of a sequence, tokens; 0 is no limit")
	f.Var(count[int]{&e.MaxModelLen}, "max-model-len", "longest prompt + output, tokens; 0 is no limit")
	f.BoolVar(&e.ReserveFullISL, "scheduler-reserve-full-isl", e.ReserveFullISL, "admit only with KV blocks for the whole prompt")
	f.BoolVar(&e.EnablePrefixCaching, "enable-prefix-caching", e.EnablePrefixCaching, "keep KV blocks for later hits")
	f.BoolVar(&e.AsyncScheduling, "async-scheduling", e.AsyncScheduling, "form a batch while the step before runs")
	f.Float64Var(&e.Watermark, "watermark", e.Watermark, "share `X` of KV blocks kept free at admission, 0..1")
	f.Float64Var(&cfg.GPUUtil, "gpu-memory-utilization", cfg.GPUUtil, "share `X` of GPU memory in use, 0..1, when the KV capacity is derived")
	f.Var(count[int]{&cfg.BlocksOverride}, "num-gpu-blocks-override", "KV blocks of a replica; 0 derives them")
	f.Var(engineTimeOf(&e.OverheadBefore), "overhead-before", "server time from dispatch to the waiting queue")
	f.Var(engineTimeOf(&e.OverheadAfter), "overhead-after", "server time from the end of a step to delivery")
}
