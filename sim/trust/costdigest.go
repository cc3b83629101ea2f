package trust

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/seed-2cee110a/triage/engine"
)

// CostDigest names the cost model that the program has, by the times of some steps of every known model on every known
// GPU: another digest than the table's says that the table is about another calibration.
func CostDigest() string {
	h := sha256.New()
	d := engine.Default()
	fmt.Fprintln(h, d.OverheadBefore, d.OverheadAfter)
	for _, model := range engine.Models() {
		for _, gpu := range engine.GPUs() {
			for _, tp := range []int{1, 2, 4, 8} {
				fmt.Fprintln(h, model, gpu, tp, steps(model, gpu, tp))
			}
		}
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil))
}

// steps are the times of some steps, none where the model cannot run.
func steps(model, gpu string, tp int) (out []engine.Time) {
	m, err := engine.LookupModel(model)
	if err != nil {
		return nil
	}
	g, err := engine.LookupGPU(gpu)
	if err != nil {
		return nil
	}
	c, err := engine.NewPhysical(m, g, tp, 1)
	if err != nil {
		return nil
	}
	for _, n := range []int{1, 8, 100} {
		base, slope := c.Decode(n)
		out = append(out, base, slope)
	}
	for _, n := range []int{1, 300, 8192} {
		out = append(out, c.Step(engine.Batch{PrefillSeqs: 1, PrefillTokens: n, PrefillContext: int64(n) * int64(n+1) / 2}),
			c.Step(engine.Batch{Decode: 20, KVTokens: 20_000, PrefillSeqs: 2, PrefillTokens: n, PrefillContext: int64(n) * 4000}))
	}
	return out
}
