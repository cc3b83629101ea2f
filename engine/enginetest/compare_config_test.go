package enginetest

import (
	"pgregory.net/rapid"

	"github.com/seed-2cee110a/triage/engine"
)

// drawRefConfig draws settings under which these sequences get into each other's way, and that finish in some
// thousand steps.
func drawRefConfig(t *rapid.T, block int, seqs []engine.Sequence) engine.Config {
	most, all, tokens := 1, 1, 1
	for _, s := range seqs {
		need := (int(s.Prompt+s.Output) - 1 + block - 1) / block
		most, all, tokens = max(most, need), all+need, tokens+int(s.Prompt)
	}
	cfg := engine.Config{
		BlockSize:           block,
		MaxNumSeqs:          rapid.SampledFrom([]int{1, 2, 3, 4, 8, 64}).Draw(t, "max-num-seqs"),
		ReserveFullISL:      rapid.Bool().Draw(t, "reserve full isl"),
		EnablePrefixCaching: rapid.IntRange(0, 9).Draw(t, "caching") > 0,
		AsyncScheduling:     rapid.Bool().Draw(t, "async"),
		Watermark:           rapid.SampledFrom([]float64{0, 0, 0, 0.05, 0.1, 0.3}).Draw(t, "watermark"),
		OverheadBefore:      drawRefOverhead(t, "before"),
		OverheadAfter:       drawRefOverhead(t, "after"),
	}
	cfg.KVBlocks = drawRefPool(t, most, all)
	few := 1 + tokens/400
	cfg.MaxNumBatchedTokens = drawRefBudget(t, few, tokens, block)
	if rapid.Bool().Draw(t, "threshold") {
		cfg.LongPrefillTokenThreshold = few + rapid.IntRange(0, 3*block).Draw(t, "tokens")
	}
	if rapid.IntRange(0, 9).Draw(t, "bounded") == 0 {
		cfg.MaxModelLen = rapid.IntRange(1, tokens).Draw(t, "max-model-len")
	}
	return cfg
}

// drawRefPool draws a pool for sequences that need most blocks at most each and all together.
func drawRefPool(t *rapid.T, most, all int) int {
	switch rapid.IntRange(0, 5).Draw(t, "pool") {
	case 0, 1:
		return most + rapid.IntRange(0, 3).Draw(t, "blocks")
	case 2, 3:
		return rapid.IntRange(most, max(most, all)).Draw(t, "blocks")
	case 4:
		return all
	}
	return rapid.IntRange(1, most).Draw(t, "blocks") // some never fit
}

// drawRefBudget draws a step's tokens, few at least.
func drawRefBudget(t *rapid.T, few, tokens, block int) int {
	switch rapid.IntRange(0, 3).Draw(t, "budget") {
	case 0:
		return rapid.IntRange(few, few+4).Draw(t, "tokens")
	case 1:
		return few + rapid.IntRange(0, 4*block).Draw(t, "tokens")
	case 2:
		return rapid.IntRange(few, tokens+few).Draw(t, "tokens")
	}
	return 8192
}

func drawRefOverhead(t *rapid.T, name string) engine.Time {
	return rapid.SampledFrom([]engine.Time{0, 0, 0, engine.Millisecond / 2, engine.Millisecond, 8 * engine.Millisecond, 3333}).Draw(t, name)
}

// refPhysical is the cost of a small model; its table is short, so that steps lie on both sides of its end.
var refPhysical = func() engine.CostModel {
	m, err := engine.LookupModel("meta-llama/Llama-3.1-8B")
	if err != nil {
		panic(err)
	}
	g, err := engine.LookupGPU("H100")
	if err != nil {
		panic(err)
	}
	p, err := engine.NewPhysical(m, g, 1, 100)
	if err != nil {
		panic(err)
	}
	return p
}()

func drawRefCost(t *rapid.T) engine.CostModel {
	switch rapid.IntRange(0, 4).Draw(t, "cost") {
	case 0, 1:
		return engine.Unit{}
	case 2:
		small := func(name string) engine.Time { return engine.Time(rapid.IntRange(0, 5).Draw(t, name)) }
		return engine.Linear{PerStep: 1 + small("step"), PerToken: small("token"), PerContext: small("context"), PerDecode: small("decode"), PerKV: small("kv")}
	case 3:
		return engine.Linear{PerStep: 7 * engine.Millisecond, PerToken: 5*engine.Microsecond + 3, PerContext: 1_234,
			PerDecode: 16*engine.Microsecond + 1, PerKV: 77_777}
	}
	return refPhysical
}
