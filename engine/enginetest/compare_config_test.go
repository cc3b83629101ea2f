package enginetest

import (
	"github.com/seed-2cee110a/triage/engine"
)

// drawRefConfig draws settings under which these sequences get into each other's way, and that finish in some
// thousand steps.
func drawRefConfig(t refDraw, block int, seqs []engine.Sequence) engine.Config {
	most, all, tokens := 1, 1, 1
	for _, s := range seqs {
		need := (int(s.Prompt+s.Output) - 1 + block - 1) / block
		most, all, tokens = max(most, need), all+need, tokens+int(s.Prompt)
	}
	cfg := engine.Config{
		BlockSize:           block,
		MaxNumSeqs:          refPick(t, []int{1, 2, 3, 4, 8, 64}, "max-num-seqs"),
		ReserveFullISL:      t.Int(0, 1, "reserve full isl") == 1,
		EnablePrefixCaching: t.Int(0, 9, "caching") > 0,
		AsyncScheduling:     t.Int(0, 1, "async") == 1,
		Watermark:           refPick(t, []float64{0, 0, 0, 0.05, 0.1, 0.3}, "watermark"),
		OverheadBefore:      drawRefOverhead(t, "before"),
		OverheadAfter:       drawRefOverhead(t, "after"),
		MaxLoRAs:            refPick(t, []int{0, 1, 1, 2, 2, 3, 5}, "max-loras"),
		AdapterLoadTime:     refPick(t, []engine.Time{0, 3, engine.Millisecond / 2, 7 * engine.Millisecond}, "adapter load time"),
		MixedAdapters:       refPick(t, []float64{0, 1, 1.05, 2}, "mixed adapters"),
	}
	cfg.KVBlocks = drawRefPool(t, most, all)
	few := 1 + tokens/400
	cfg.MaxNumBatchedTokens = drawRefBudget(t, few, tokens, block)
	if t.Int(0, 1, "threshold") == 1 {
		cfg.LongPrefillTokenThreshold = few + t.Int(0, 3*block, "tokens")
	}
	if t.Int(0, 9, "bounded") == 0 {
		cfg.MaxModelLen = t.Int(1, tokens, "max-model-len")
	}
	return cfg
}

// drawRefPool draws a pool for sequences that need most blocks at most each and all together.
func drawRefPool(t refDraw, most, all int) int {
	switch t.Int(0, 5, "pool") {
	case 0, 1:
		return most + t.Int(0, 3, "blocks")
	case 2, 3:
		return t.Int(most, max(most, all), "blocks")
	case 4:
		return all
	}
	return t.Int(1, most, "blocks") // some never fit
}

// drawRefBudget draws a step's tokens, few at least.
func drawRefBudget(t refDraw, few, tokens, block int) int {
	switch t.Int(0, 3, "budget") {
	case 0:
		return t.Int(few, few+4, "tokens")
	case 1:
		return few + t.Int(0, 4*block, "tokens")
	case 2:
		return t.Int(few, tokens+few, "tokens")
	}
	return 8192
}

func drawRefOverhead(t refDraw, name string) engine.Time {
	return refPick(t, []engine.Time{0, 0, 0, engine.Millisecond / 2, engine.Millisecond, 8 * engine.Millisecond, 3333}, name)
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

func drawRefCost(t refDraw) engine.CostModel {
	switch t.Int(0, 4, "cost") {
	case 0, 1:
		return engine.Unit{}
	case 2:
		small := func(name string) engine.Time { return engine.Time(t.Int(0, 5, name)) }
		return engine.Linear{PerStep: 1 + small("step"), PerToken: small("token"), PerContext: small("context"), PerDecode: small("decode"), PerKV: small("kv")}
	case 3:
		return engine.Linear{PerStep: 7 * engine.Millisecond, PerToken: 5*engine.Microsecond + 3, PerContext: 1_234,
			PerDecode: 16*engine.Microsecond + 1, PerKV: 77_777}
	}
	return refPhysical
}
