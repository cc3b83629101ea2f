package fidelity

import (
	"fmt"

	"github.com/seed-2cee110a/triage/engine"
)

// server is a measured server as the engine is told of it.
type server struct {
	cfg        engine.Config
	cost       engine.CostModel
	calibrated bool
}

// unmodelled is why an experiment is not played.
type unmodelled struct{ error }

func skip(format string, args ...any) error { return unmodelled{fmt.Errorf(format, args...)} }

// server sets up a replica. An unmodelled error says what the simulator does not know of it.
func (e *Experiment) server(by engine.Coefficients) (*server, error) {
	if e.DP > 1 {
		return nil, skip("%d data-parallel ranks that wait for one another are not modelled", e.DP)
	}
	m, g, err := lookup(e.Model, e.GPU, e.DType)
	if err != nil {
		return nil, err
	}
	s := &server{cfg: e.settings(by), calibrated: g.Calibrated}
	if s.cfg.KVBlocks == 0 {
		if s.cfg.KVBlocks, err = engine.KVCapacity(m, g, e.TP, e.GPUUtil, e.BlockSize); err != nil {
			return nil, unmodelled{err}
		}
	}
	if err := s.cfg.Check(); err != nil {
		return nil, fmt.Errorf("%s: %w", e.At, err)
	}
	if s.cost, err = by.Physical(m, g, e.TP, e.MaxNumBatchedTokens); err != nil {
		return nil, unmodelled{err}
	}
	return s, nil
}

func (e *Experiment) settings(by engine.Coefficients) engine.Config {
	c := engine.Default()
	c.OverheadBefore = by.Overhead()
	c.BlockSize, c.KVBlocks, c.EnablePrefixCaching = e.BlockSize, e.KVBlocks, e.PrefixCaching
	c.MaxNumSeqs, c.MaxNumBatchedTokens, c.MaxModelLen = e.MaxNumSeqs, e.MaxNumBatchedTokens, e.MaxModelLen
	if !e.Overhead {
		c.OverheadBefore, c.OverheadAfter = 0, 0
	}
	return c
}

// lookup finds a model and a GPU, the model with its weights stored as dtype says.
func lookup(model, gpu, dtype string) (engine.Model, engine.GPU, error) {
	m, err := engine.LookupModel(model)
	if err != nil {
		return m, engine.GPU{}, unmodelled{err}
	}
	g, err := engine.LookupGPU(gpu)
	if err != nil {
		return m, g, unmodelled{err}
	}
	switch {
	case dtype == "bf16" && m.Weight == engine.BF16 && m.Experts.Weight != engine.MXFP4:
	case dtype == "fp8":
		m.Weight = engine.FP8
	case dtype == "fp4" && m.Experts.Weight == engine.MXFP4:
	default:
		return m, g, skip("%s weights of %s are not modelled", dtype, m.Name)
	}
	return m, g, nil
}
