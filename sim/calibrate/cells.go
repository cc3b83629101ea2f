package calibrate

import (
	"cmp"
	"math"
	"slices"

	"github.com/seed-2cee110a/triage/engine"
)

// cells group requests that a server treats alike. A request's own latency hangs on the instant in a step at which it
// came, so that a coefficient that moves by little moves it by chance; the mean of a cell moves as it should.
type cells struct {
	of    []int // by request, -1 if it is not used
	count int
}

// perCell is how many requests a cell should have at least, and mostGroups how often it is divided by each feature.
const (
	perCell    = 25
	mostGroups = 4
)

// group makes the cells of TTFT and of TPOT. The first token depends on the prompt, on those in flight and on what came
// just before; the others on how many sequences decode, on their KV tokens and on the prefills between, all over the life
// of the request.
func (t *fitter) group() [2]cells {
	inFlight, burst, life := t.log.inFlight(), t.burst(), t.life()
	return [2]cells{
		t.divided(
			func(i int) float64 { return float64(t.log.Requests[i].Prompt) },
			func(i int) float64 { return float64(inFlight[i]) },
			func(i int) float64 { return float64(burst[i]) }),
		t.divided(
			func(i int) float64 { return life[i].sequences },
			func(i int) float64 { return life[i].kv / max(life[i].sequences, 1e-9) },
			func(i int) float64 { return life[i].prefill }),
	}
}

func (t *fitter) divided(features ...func(int) float64) cells {
	var used []int
	for i, u := range t.use {
		if u {
			used = append(used, i)
		}
	}
	each := max(2, min(mostGroups, int(math.Cbrt(float64(len(used))/perCell))))
	c := cells{of: make([]int, t.n)}
	for i := range c.of {
		c.of[i] = -1
	}
	c.divide(used, features, each)
	return c
}

// divide sorts requests by the first feature, cuts them into equal parts and goes on with the other features.
func (c *cells) divide(used []int, features []func(int) float64, each int) {
	if len(used) == 0 {
		return
	}
	if len(features) == 0 {
		for _, i := range used {
			c.of[i] = c.count
		}
		c.count++
		return
	}
	slices.SortStableFunc(used, func(a, b int) int { return cmp.Compare(features[0](a), features[0](b)) })
	for k := range each {
		c.divide(slices.Clone(used[k*len(used)/each:(k+1)*len(used)/each]), features[1:], each)
	}
}

// burst counts for each request the prompt tokens that came in the mean TTFT before it.
func (t *fitter) burst() []int64 {
	out := make([]int64, t.n)
	span := engine.Time(math.Round(t.ttft * float64(engine.Second)))
	first, sum := 0, int64(0)
	for i := range t.n {
		sum += int64(t.log.Requests[i].Prompt)
		for t.log.Requests[first].At < t.log.Requests[i].At-span {
			sum -= int64(t.log.Requests[first].Prompt)
			first++
		}
		out[i] = sum
	}
	return out
}

// load is the mean load of a server between two instants, as far as a log tells it.
type load struct {
	sequences float64 // decoding
	kv        float64 // their tokens
	prefill   float64 // tokens a second
}

// change is what a load changes by at an instant.
type change struct {
	at            float64
	sequences, kv float64 // from here on
	prefill       float64 // tokens
}

// life is the load between the first and the last token of each request.
func (t *fitter) life() []load {
	var all []change
	for i := range t.n {
		q := &t.log.Requests[i]
		if math.IsNaN(q.TTFT) {
			continue
		}
		at, tokens := q.At.Seconds(), float64(q.Prompt)+float64(q.Output)/2
		all = append(all, change{at + q.TTFT, 1, tokens, float64(q.Prompt)}, change{at + q.E2E, -1, -tokens, 0})
	}
	slices.SortStableFunc(all, func(a, b change) int { return cmp.Compare(a.at, b.at) })
	sums, now := make([]load, len(all)), load{} // integrals up to each change
	for k, c := range all {
		if k > 0 {
			dt := c.at - all[k-1].at
			sums[k] = load{sums[k-1].sequences + float64(dt*now.sequences), sums[k-1].kv + float64(dt*now.kv), sums[k-1].prefill + all[k-1].prefill}
		}
		now.sequences, now.kv = now.sequences+c.sequences, now.kv+c.kv
	}
	index := func(at float64) load {
		k, _ := slices.BinarySearchFunc(all, at, func(c change, at float64) int { return cmp.Compare(c.at, at) })
		return sums[min(k, len(sums)-1)]
	}
	out := make([]load, t.n)
	for i := range out {
		q := &t.log.Requests[i]
		if t.use[i] {
			a, b, s := index(q.At.Seconds()+q.TTFT), index(q.At.Seconds()+q.E2E), max(q.E2E-q.TTFT, 1e-9)
			out[i] = load{(b.sequences - a.sequences) / s, (b.kv - a.kv) / s, (b.prefill - a.prefill) / s}
		}
	}
	return out
}

// steadyShare is the tenth percentile of the number of decoding sequences over the ninetieth from which a load counts as
// steady: then the step, what each sequence adds and what its KV tokens add come as one.
const steadyShare = 0.9

func (t *fitter) steady() bool {
	var n []float64
	for i, l := range t.life() {
		if t.use[i] {
			n = append(n, l.sequences)
		}
	}
	slices.Sort(n)
	return n[len(n)/10] > steadyShare*n[len(n)*9/10]
}
