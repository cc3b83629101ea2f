package sim

import "github.com/seed-2cee110a/triage/engine"

// Hardware returns the configuration with the engine settings that depend on model and GPU filled in, and what they are.
func (c Config) Hardware() (Config, engine.Model, engine.GPU, error) {
	hw, err := c.hardware()
	if err != nil {
		return c, engine.Model{}, engine.GPU{}, err
	}
	m, err := hw.cfg.LookupModel()
	if err != nil {
		return c, m, engine.GPU{}, err
	}
	g, err := engine.LookupGPU(hw.cfg.GPU)
	return hw.cfg, m, g, err
}
