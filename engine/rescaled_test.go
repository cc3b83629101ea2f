package engine

import (
	"testing"

	"pgregory.net/rapid"
)

// eachReplica is called with every known model on every GPU, on as many as the heads allow.
func eachReplica(t *testing.T, use func(m Model, g GPU, tp int)) {
	t.Helper()
	for _, name := range Models() {
		m, err := LookupModel(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, gpu := range GPUs() {
			g, err := LookupGPU(gpu)
			if err != nil {
				t.Fatal(err)
			}
			for _, tp := range []int{1, 2, 4, 8} {
				if m.Split(tp) == nil {
					use(m, g, tp)
				}
			}
		}
	}
}

func drawBatch(t *rapid.T) Batch {
	b := Batch{Decode: rapid.IntRange(0, 300).Draw(t, "decode"), PrefillTokens: rapid.IntRange(0, 3000).Draw(t, "prefill")}
	b.KVTokens = int64(b.Decode) * int64(rapid.IntRange(1, 5000).Draw(t, "context"))
	if b.PrefillTokens > 0 {
		b.PrefillSeqs = rapid.IntRange(1, b.PrefillTokens).Draw(t, "chunks")
		b.PrefillContext = int64(b.PrefillTokens) * int64(rapid.IntRange(1, 5000).Draw(t, "prefill context"))
	}
	return b
}

func somePhysical(t testing.TB) *Physical {
	m, err := LookupModel("Qwen/Qwen3-14B")
	if err != nil {
		t.Fatal(err)
	}
	g, err := LookupGPU("H100")
	if err != nil {
		t.Fatal(err)
	}
	p, err := NewPhysical(m, g, 1, 2048)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// affine is the law that lets the engine take many decode steps at once.
func affine(t *rapid.T, c CostModel, b Batch) {
	b.PrefillTokens, b.PrefillSeqs, b.PrefillContext = 0, 0, 0
	base, slope := c.Decode(b.Decode)
	if got, want := c.Step(b), base+slope*Time(b.KVTokens); got != want {
		t.Fatalf("step of %+v takes %d, base + slope * KV tokens is %d", b, got, want)
	}
	if slope < 0 || base < 1 {
		t.Fatalf("base %d and slope %d of %d sequences, want them above 0 and not below 0", base, slope, b.Decode)
	}
}

func TestRescaled(t *testing.T) {
	p := somePhysical(t)
	rapid.Check(t, func(t *rapid.T) {
		factor := func(name string) float64 { return rapid.Float64Range(0, 3).Draw(t, name) }
		f := Factors{Step: 0.1 + factor("step"), Batch: factor("batch"), KV: factor("kv"), Prefill: factor("prefill")}
		r, err := NewRescaled(p, f)
		if err != nil {
			t.Fatal(err)
		}
		b := drawBatch(t)
		affine(t, r, b)

		// The parts are a step, and each factor is about its own part: half a picosecond of rounding for each, and for
		// each KV token.
		step, batch, kv, prefill := Parts(p, b)
		if got := step + batch + kv + prefill; b.PrefillTokens > 0 && got != p.Step(b) {
			t.Fatalf("parts of %+v are %d together, the step is %d", b, got, p.Step(b))
		}
		want := f.Step*float64(step) + f.Batch*float64(batch) + f.KV*float64(kv) + f.Prefill*float64(prefill)
		if got := float64(r.Step(b)); got < want-2-float64(b.KVTokens)/2-1e-9*want || got > want+2+float64(b.KVTokens)/2+1e-9*want {
			t.Fatalf("step of %+v by %+v takes %v, want %v", b, f, got, want)
		}
	})
}

func TestRescaledByOne(t *testing.T) {
	p := somePhysical(t)
	r, err := NewRescaled(p, Factors{1, 1, 1, 1})
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		if b := drawBatch(t); r.Step(b) != p.Step(b) {
			t.Fatalf("step of %+v takes %d, want %d", b, r.Step(b), p.Step(b))
		}
	})
}

func TestRescaledRefuses(t *testing.T) {
	for _, f := range []Factors{{0, 1, 1, 1}, {1, -1, 1, 1}, {1, 1, 1e9, 1}} {
		if _, err := NewRescaled(Unit{}, f); err == nil {
			t.Errorf("factors %+v are taken, want an error", f)
		}
	}
}

// No step of the registry's cost models is faster than Fastest says, so what is calibrated may be held to it.
func TestNothingIsFaster(t *testing.T) {
	eachReplica(t, func(m Model, g GPU, tp int) {
		p, err := NewPhysical(m, g, tp, 2048)
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range []Batch{{Decode: 1, KVTokens: 1}, {Decode: 64, KVTokens: 1 << 16}, {Decode: 1024, KVTokens: 1 << 20},
			{PrefillTokens: 1, PrefillSeqs: 1, PrefillContext: 1}, {PrefillTokens: 8192, PrefillSeqs: 1, PrefillContext: 8192}} {
			if got, least := p.Step(b), Fastest(m, g, tp, b); got < least || least < 1 {
				t.Errorf("%s on %d x %s: a step of %+v takes %v s, at least %v s are needed", m.Name, tp, g.Name, b, got.Seconds(), least.Seconds())
			}
		}
	})
}
