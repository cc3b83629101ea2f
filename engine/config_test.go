package engine

import (
	"math"
	"testing"
)

func TestConfigCheckAdapters(t *testing.T) {
	for _, c := range []struct {
		change func(*Config)
		want   string
	}{
		{func(c *Config) {}, ""},
		{func(c *Config) { c.MaxLoRAs, c.AdapterLoadTime, c.MixedAdapters = 1024, Second/2, 1.1 }, ""},
		{func(c *Config) { c.MaxLoRAs = -1 }, "max-loras is -1, want 0 to 1024"},
		{func(c *Config) { c.AdapterLoadTime = -Second }, "adapter-load-time is -1s, want 0 to 1h0m0s"},
		{func(c *Config) { c.MixedAdapters = 0.5 }, "mixed-adapters is 0.5, want 1 to 100, or 0 for 1"},
		{func(c *Config) { c.MixedAdapters = math.NaN() }, "mixed-adapters is NaN, want 1 to 100, or 0 for 1"},
	} {
		cfg := Default()
		cfg.KVBlocks = 1
		c.change(&cfg)
		got := ""
		if err := cfg.Check(); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%+v: %q, want %q", cfg, got, c.want)
		}
	}
}

// SetCost is as a submission: an instant that Next has closed is too late.
func TestSetCostAtAClosedInstant(t *testing.T) {
	cfg := Default()
	cfg.KVBlocks = 1
	e, err := New(cfg, Unit{}, NewLayout(&Forest{}, cfg.BlockSize))
	if err != nil {
		t.Fatal(err)
	}
	e.SetCost(0, Unit{})
	e.Next()
	defer func() {
		if recover() == nil {
			t.Error("a cost set at an instant that Next has closed is taken")
		}
	}()
	e.SetCost(0, Unit{})
}
