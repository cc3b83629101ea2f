package main

import (
	"errors"
	"fmt"

	"github.com/seed-2cee110a/triage/engine"
	"github.com/seed-2cee110a/triage/sim"
)

// maxBlocks bounds the KV blocks of a replica, as the engine does.
const maxBlocks = 1 << 30

// checkCluster finds what is wrong with a configuration before a trace is read.
func checkCluster(cfg sim.Config) error {
	if err := cfg.Check(); err != nil {
		return err
	}
	if _, err := cfg.LookupModel(); err != nil {
		return err
	}
	if _, err := engine.LookupGPU(cfg.GPU); err != nil {
		return err
	}
	if err := checkEngine(cfg.Engine); err != nil {
		return err
	}
	return checkCapacity(cfg)
}

// checkEngine checks what is given; what depends on the GPU is filled in with values that pass.
func checkEngine(e engine.Config) error {
	d := engine.Default()
	if e.MaxNumSeqs == 0 {
		e.MaxNumSeqs = d.MaxNumSeqs
	}
	if e.MaxNumBatchedTokens == 0 {
		e.MaxNumBatchedTokens = d.MaxNumBatchedTokens
	}
	e.KVBlocks = maxBlocks
	return e.Check()
}

// checkCapacity checks a KV capacity that is given, under the name of the flag that gave it.
func checkCapacity(cfg sim.Config) error {
	most := int64(maxBlocks) * int64(cfg.Engine.BlockSize)
	switch {
	case cfg.BlocksOverride > 0 && cfg.KVTokens > 0:
		return errors.New("--kv-tokens and --num-gpu-blocks-override both give the KV capacity, want one of them")
	case cfg.BlocksOverride > maxBlocks:
		return fmt.Errorf("--num-gpu-blocks-override is %d, want at most %d", cfg.BlocksOverride, maxBlocks)
	case cfg.KVTokens > most:
		return fmt.Errorf("--kv-tokens is %d, want at most %d (%d blocks of %d)", cfg.KVTokens, most, maxBlocks, cfg.Engine.BlockSize)
	}
	return nil
}
