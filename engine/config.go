package engine

import "fmt"

// Config is one replica's settings, under vLLM's names.
type Config struct {
	BlockSize                 int     // tokens in a KV block
	KVBlocks                  int     // usable KV blocks in the pool
	MaxNumSeqs                int     // sequences that may run at once
	MaxNumBatchedTokens       int     // token budget of a step
	LongPrefillTokenThreshold int     // longest prefill chunk of one sequence, tokens; 0 is no limit
	MaxModelLen               int     // longest prompt + output, tokens; 0 is no limit
	ReserveFullISL            bool    // admit only with blocks for all of a sequence's tokens; false: for the chunk
	EnablePrefixCaching       bool    // keep full blocks for later hits
	AsyncScheduling           bool    // form a step's batch while the step before runs
	Watermark                 float64 // share of the pool kept free at admission while something runs, 0..1
	OverheadBefore            Time    // from dispatch to the waiting queue
	OverheadAfter             Time    // from the end of a step to the delivery of its tokens
	MaxLoRAs                  int     // adapters on the GPU at once, and in one step; 0: sequences with an adapter are as those without
	AdapterLoadTime           Time    // what loading an adapter into a slot adds to the step that first needs it
	MixedAdapters             float64 // a step that serves more than one adapter takes this many times as long; 0 is 1
	SingleStep                bool    // form every step alone, by the general rule: the same results, slower
}

// Default returns vLLM's defaults for an 80 GB GPU; KVBlocks stays 0 and has to be set.
func Default() Config {
	return Config{
		BlockSize:           16,
		MaxNumSeqs:          1024,
		MaxNumBatchedTokens: 8192,
		ReserveFullISL:      true,
		EnablePrefixCaching: true,
		AsyncScheduling:     true,
		OverheadBefore:      fitted.Overhead(),
		OverheadAfter:       1 * Millisecond,
	}
}

// maxOverhead bounds the server's overheads and the time to load an adapter, maxMixed the factor of mixed adapters.
const (
	maxOverhead = 3600 * Second
	maxMixed    = 100.0
)

// Check says what is wrong with c, by vLLM's flag name.
func (c Config) Check() error {
	for _, f := range []struct {
		name     string
		v        int
		min, max int
	}{
		{"block-size", c.BlockSize, 1, 1 << 12},
		{"kv blocks", c.KVBlocks, 1, 1 << 30},
		{"max-num-seqs", c.MaxNumSeqs, 1, 1 << 16},
		{"max-num-batched-tokens", c.MaxNumBatchedTokens, 1, 1 << 20},
		{"long-prefill-token-threshold", c.LongPrefillTokenThreshold, 0, 1 << 30},
		{"max-model-len", c.MaxModelLen, 0, 1 << 30},
		{"max-loras", c.MaxLoRAs, 0, 1 << 10},
	} {
		if f.v < f.min || f.v > f.max {
			return fmt.Errorf("%s is %d, want %d to %d", f.name, f.v, f.min, f.max)
		}
	}
	if !(c.Watermark >= 0 && c.Watermark < 1) {
		return fmt.Errorf("watermark is %v, want 0 up to below 1", c.Watermark)
	}
	if m := c.MixedAdapters; m != 0 && !(m >= 1 && m <= maxMixed) {
		return fmt.Errorf("mixed-adapters is %v, want 1 to %v, or 0 for 1", m, maxMixed)
	}
	for _, f := range []struct {
		name string
		d    Time
	}{{"overhead-before", c.OverheadBefore}, {"overhead-after", c.OverheadAfter}, {"adapter-load-time", c.AdapterLoadTime}} {
		if f.d < 0 || f.d > maxOverhead {
			return fmt.Errorf("%s is %v, want 0 to %v", f.name, f.d.Duration(), maxOverhead.Duration())
		}
	}
	return nil
}
