package main

import (
	"github.com/spf13/pflag"

	"github.com/seed-2cee110a/triage/sim"
)

// bindSessions binds the flags for conversations: when later turns arrive, and what of an answer they can hit.
func bindSessions(f *pflag.FlagSet, cfg *sim.Config) {
	f.Var(choice[sim.Sessions]{&cfg.Sessions, []string{"open", "closed"}}, "sessions",
		"when later turns arrive: as logged (open), or think time after the answer to the turn before (closed), so that slow service slows the load")
	f.Var(durationOf(&cfg.Think), "think", "closed sessions: time from an answer to the next turn, where the trace does not say; 0 is not given")
	f.Var(choice[sim.ReuseOutput]{&cfg.ReuseOutput, []string{"auto", "true", "false"}}, "reuse-output",
		"which answers the next turn's prompt can hit in the cache: those whose next turn the trace names (auto), those too whose whole prompt begins a later one (true), or none, as with models that strip their reasoning (false)")
}

// bindAdapters binds the settings for LoRA adapters.
func bindAdapters(f *pflag.FlagSet, cfg *sim.Config) {
	e := &cfg.Engine
	f.Var(count[int]{&e.MaxLoRAs}, "max-loras", "adapters on a replica at once, and in one step (vLLM's own default is 1); 0 does not simulate adapters")
	f.Var(engineTimeOf(&e.AdapterLoadTime), "adapter-load-time", "what loading an adapter adds to the step that first needs it")
	f.Float64Var(&e.MixedAdapters, "mixed-adapters", e.MixedAdapters, "a step that serves more than one adapter takes `X` times as long; 0 is 1")
	f.Var(choice[sim.AdapterSignal]{&cfg.AdapterSignal, []string{"active", "resident"}}, "adapter-signal",
		"which adapters replicas tell of: those of running and waiting requests, as vLLM's metric (active), or all in a slot (resident)")
}
