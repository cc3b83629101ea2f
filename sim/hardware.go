package sim

import (
	"fmt"

	"github.com/seed-2cee110a/triage/engine"
)

// hardware is what the model and the GPU decide.
type hardware struct {
	cfg     Config
	cost    engine.CostModel
	note    CostNote
	context int // longest prompt + output that the model was made for, tokens
}

// bigGPU is the memory from which vLLM's defaults are those for large GPUs, bytes.
const bigGPU = 80e9

// hardware fills in the engine settings that depend on the GPU and builds the cost model.
func (c Config) hardware() (*hardware, error) {
	m, err := c.LookupModel()
	if err != nil {
		return nil, err
	}
	g, err := engine.LookupGPU(c.GPU)
	if err != nil {
		return nil, err
	}
	c.Model, c.GPU = m.Name, g.Name
	if c.Engine.MaxNumSeqs == 0 {
		c.Engine.MaxNumSeqs = choose(g.Memory >= bigGPU, 1024, 256)
	}
	if c.Engine.MaxNumBatchedTokens == 0 {
		c.Engine.MaxNumBatchedTokens = choose(g.Memory >= bigGPU, 8192, 2048)
	}
	if err := c.capacity(m, g); err != nil {
		return nil, err
	}
	if err := c.Engine.Check(); err != nil {
		return nil, err
	}
	hw := &hardware{cfg: c, context: m.Context}
	if c.Cost == "unit" {
		hw.cost = engine.Unit{}
		hw.note = CostNote{Model: c.Cost, Note: "every step takes 1 ms: a test aid, not a latency"}
		hw.scale()
		return hw, nil
	}
	if f := c.CostFile; f != nil {
		if hw.cost, err = f.model(c, m, g); err != nil {
			return nil, err
		}
		hw.note = f.note()
		hw.scale()
		return hw, nil
	}
	if hw.cost, err = engine.NewPhysical(m, g, c.TP, c.Engine.MaxNumBatchedTokens); err != nil {
		return nil, err
	}
	hw.note = costNote(c, m, g)
	hw.scale()
	return hw, nil
}

// capacity sets the KV blocks of a replica: given in blocks, given in tokens, or derived from GPU memory.
func (c *Config) capacity(m engine.Model, g engine.GPU) error {
	switch b := c.Engine.BlockSize; {
	case b < 1:
		return fmt.Errorf("block-size is %d, want at least 1", b)
	case c.BlocksOverride > 0:
		c.Engine.KVBlocks = c.BlocksOverride
	case c.KVTokens > 0:
		c.Engine.KVBlocks = int(c.KVTokens / int64(b))
		if c.Engine.KVBlocks == 0 {
			return fmt.Errorf("kv-tokens is %d, want at least one block of %d", c.KVTokens, b)
		}
	default:
		blocks, err := engine.KVCapacity(m, g, c.TP, c.GPUUtil, b)
		if err != nil {
			return err
		}
		c.Engine.KVBlocks = blocks
	}
	c.KVTokens = int64(c.Engine.KVBlocks) * int64(c.Engine.BlockSize)
	return nil
}

// costNote says how far to trust step times of m on g.
func costNote(c Config, m engine.Model, g engine.GPU) CostNote {
	n := CostNote{Model: c.Cost, Calibrated: engine.Measured(m, g)}
	switch {
	case n.Calibrated:
		n.Note = fmt.Sprintf("step times from a model whose coefficients were fitted on measured %s servers", g.Name)
	case g.Calibrated:
		n.Note = fmt.Sprintf("step times extrapolated: no measurements of models with %s on %s; compare policies, do not trust the seconds", m.Class(), g.Name)
	default:
		n.Note = fmt.Sprintf("step times extrapolated: no measurements of %s; compare policies, do not trust the seconds", g.Name)
	}
	return n
}

func choose[T any](cond bool, yes, no T) T {
	if cond {
		return yes
	}
	return no
}
