package calibrate

import (
	"fmt"
	"math"

	"github.com/seed-2cee110a/triage/engine"
	"github.com/seed-2cee110a/triage/sim"
)

// params are a cost model and the overhead before the engine.
type params struct {
	cost   engine.CostModel
	before engine.Time
}

// Coefficient is a number that is fitted.
type Coefficient struct {
	Name  string
	Unit  string // "" for factors
	Value float64
	Low   float64 // of the interval; NaN if it was not fitted
	High  float64
	Kept  string // why it was not fitted, "" if it was
	Needs string // what a log must have to determine it

	start float64 // where the fit starts, above 0
	known bool    // start is what the registry says, to fall back on
	floor float64 // least value

	ofLoad bool // it shows only where the number of decoding sequences varies
}

// form is a kind of cost model: its coefficients and what they make.
type form struct {
	kind  string
	coefs []Coefficient
	cost  func(v []float64) (engine.CostModel, error) // of all coefficients but the overhead
	parts func(b engine.Batch) []float64              // of a step, s, for each of these coefficients at 1
}

const overheadName = "before_ms"

func overhead(start engine.Time) Coefficient {
	return Coefficient{Name: overheadName, Unit: "ms", start: max(0.1, start.Seconds()*1e3), known: true, Needs: "prompts of different lengths, or different load"}
}

// params of a vector of coefficients; the last is the overhead.
func (f *form) params(v []float64) (params, error) {
	c, err := f.cost(v)
	if err != nil {
		return params{}, err
	}
	return params{c, engine.Time(math.Round(float64(v[len(v)-1] * float64(engine.Millisecond))))}, nil
}

const (
	needLoad    = "different numbers of requests in flight, at contexts of different lengths"
	needContext = "long and short contexts under load, so that reading the KV cache shows"
	needPrompts = "prompts of different lengths"
	needLong    = "some prompts of many thousand tokens"
	needAny     = "more requests"
)

// physical are factors of the registry's cost model.
func physical(of engine.CostModel, before engine.Time) *form {
	c := func(name, needs string) Coefficient {
		return Coefficient{Name: name, start: 1, known: true, Needs: needs}
	}
	f := &form{kind: "physical", coefs: []Coefficient{c("step", needAny), c("batch", needLoad), c("kv", needContext), c("prefill", needPrompts), overhead(before)}}
	f.coefs[0].floor, f.coefs[1].ofLoad, f.coefs[2].ofLoad = 1e-3, true, true
	f.cost = func(v []float64) (engine.CostModel, error) {
		return engine.NewRescaled(of, engine.Factors{Step: v[0], Batch: v[1], KV: v[2], Prefill: v[3]})
	}
	f.parts = func(b engine.Batch) []float64 {
		step, batch, kv, prefill := engine.Parts(of, b)
		return []float64{step.Seconds(), batch.Seconds(), kv.Seconds(), prefill.Seconds()}
	}
	return f
}

// linear are the coefficients of sim.LinearCost, from a start that is what the registry says, if it does.
func linear(start sim.LinearCost, known bool, before engine.Time) *form {
	c := func(name, unit, needs string, v float64) Coefficient {
		return Coefficient{Name: name, Unit: unit, start: v, known: known, Needs: needs}
	}
	f := &form{kind: "linear", coefs: []Coefficient{
		c("per_step_us", "us", needAny, start.PerStep),
		c("per_prefill_token_us", "us", needPrompts, start.PerToken),
		c("per_context_token_ns", "ns", needLong, start.PerContext),
		c("per_decode_us", "us", needLoad, start.PerDecode),
		c("per_kv_token_ns", "ns", needContext, start.PerKV),
		overhead(before)}}
	f.coefs[0].floor, f.coefs[3].ofLoad, f.coefs[4].ofLoad = 1e-3, true, true
	f.cost = func(v []float64) (engine.CostModel, error) {
		l := linearOf(v).Model()
		return l, l.Check()
	}
	f.parts = func(b engine.Batch) []float64 {
		return []float64{1e-6, 1e-6 * float64(b.PrefillTokens), 1e-9 * float64(b.PrefillContext), 1e-6 * float64(b.Decode), 1e-9 * float64(b.KVTokens)}
	}
	return f
}

func linearOf(v []float64) sim.LinearCost {
	return sim.LinearCost{PerStep: v[0], PerToken: v[1], PerContext: v[2], PerDecode: v[3], PerKV: v[4]}
}

// likeness is the linear model that comes closest to another one, over steps as servers have them.
func likeness(of engine.CostModel) (sim.LinearCost, error) {
	f := linear(sim.LinearCost{PerStep: 1, PerToken: 1, PerContext: 1, PerDecode: 1, PerKV: 1}, false, 0)
	var steps []Step
	for _, n := range []int{0, 1, 4, 16, 64, 256} {
		for _, context := range []int64{256, 1024, 4096} {
			for _, chunk := range []int{0, 128, 512, 2048} {
				b := engine.Batch{Decode: n, KVTokens: int64(n) * context, PrefillTokens: chunk, PrefillSeqs: min(chunk, 1), PrefillContext: int64(chunk) * context}
				if n+chunk > 0 {
					steps = append(steps, Step{Batch: b, Seconds: of.Step(b).Seconds()})
				}
			}
		}
	}
	x := f.solveSteps(steps, allFree(len(f.coefs)-1))
	if x == nil {
		return sim.LinearCost{}, fmt.Errorf("the registry's cost model has no linear likeness")
	}
	l := linearOf(x)
	least := func(v *float64, low float64) { *v = max(*v, low) }
	least(&l.PerStep, 100)
	least(&l.PerToken, 0.1)
	least(&l.PerContext, 0.001)
	least(&l.PerDecode, 0.1)
	least(&l.PerKV, 0.01)
	return l, nil
}

// guess is a start where nothing is known of the replica.
func (l *Log) guess() sim.LinearCost {
	var step, first, tokens, n float64
	for i := range l.Requests {
		q := &l.Requests[i]
		if t := q.TPOT(); !math.IsNaN(t) {
			step, first, tokens, n = step+t, first+q.TTFT, tokens+float64(q.Prompt), n+1
		}
	}
	step, first, tokens = 1e6*step/n, 1e6*first/n, tokens/n
	least := step
	for i := range l.Requests {
		if t := 1e6 * l.Requests[i].TPOT(); t < least {
			least = t
		}
	}
	perToken := min(first/tokens/2, step)
	return sim.LinearCost{PerStep: max(100, 0.8*least), PerToken: max(0.5, perToken), PerContext: max(0.05, 100*perToken/tokens), PerDecode: max(1, least/200), PerKV: max(1, 50*least/tokens/10)}
}

func allFree(n int) []bool {
	free := make([]bool, n)
	for i := range free {
		free[i] = true
	}
	return free
}
