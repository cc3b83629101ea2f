package engine

import (
	"testing"

	"pgregory.net/rapid"
)

// everyPhysical calls f for every model on every GPU that could be meant.
func everyPhysical(t *testing.T, f func(t *testing.T, m Model, g GPU, tp int, p *Physical)) {
	for _, m := range models {
		for _, g := range gpus {
			for _, tp := range []int{1, 2, 4, 8} {
				if m.Split(tp) != nil {
					continue
				}
				p, err := NewPhysical(m, g, tp, 64)
				if err != nil {
					t.Fatal(err)
				}
				f(t, m, g, tp, p)
			}
		}
	}
}

// TestPhysicalObeysPhysics: no step is shorter than its FLOPs at the peak, or its bytes at full bandwidth. Bytes are
// the weights that must be read and the KV cache; of a window, only what lies in it.
func TestPhysicalObeysPhysics(t *testing.T) {
	everyPhysical(t, func(t *testing.T, m Model, g GPU, tp int, p *Physical) {
		for _, b := range refBatches {
			got := p.Step(b).Seconds()
			if least := leastCompute(m, g, tp, b); got < least {
				t.Errorf("%s on %d x %s: %+v takes %g s, its FLOPs alone %g s", m.Name, tp, g.Name, b, got, least)
			}
			if least := leastMemory(m, g, tp, b); got < least {
				t.Errorf("%s on %d x %s: %+v takes %g s, its bytes alone %g s", m.Name, tp, g.Name, b, got, least)
			}
			if least := leastLink(m, g, tp, b); got < least {
				t.Errorf("%s on %d x %s: %+v takes %g s, its all-reduces alone %g s", m.Name, tp, g.Name, b, got, least)
			}
		}
	})
}

// leastCompute is the seconds that the matrices and the attention of a step take at the peak.
func leastCompute(m Model, g GPU, tp int, b Batch) float64 {
	n := float64(b.Decode + b.PrefillTokens)
	dense := 2 * n * float64(m.AttentionParams()+m.MLPParams()) / g.peak(m.Weight)
	experts := 2 * n * float64(int64(m.Experts.PerToken)*m.ExpertParams()) / g.peak(m.ExpertWeight())
	head := 2 * float64(b.Decode+b.PrefillSeqs) * float64(m.HeadParams()) / g.BF16
	layers := float64(m.Layers)
	if m.Window > 0 {
		layers -= float64(m.Windowed) // they attend to 128 tokens: left out, as this is a lower bound
	}
	prefill := 4 * float64(m.Heads*m.HeadDim)
	decode := prefill
	if m.latent() { // query times key with position and score times value, of a head; then of the compressed vector
		prefill = 2 * float64(m.Heads) * (128 + 64 + 128)
		decode = 2 * float64(m.Heads) * (512 + 64 + 512)
	}
	attention := layers * (decode*float64(b.KVTokens) + prefill*float64(b.PrefillContext)) / g.BF16
	return (dense + experts + head + attention) / float64(tp)
}

// leastMemory is the seconds that reading the weights and the cache takes at full bandwidth. At least PerToken
// experts are read in each layer.
func leastMemory(m Model, g GPU, tp int, b Batch) float64 {
	weights := float64(m.AttentionParams()+m.MLPParams())*m.Weight.Bytes() +
		float64(int64(m.Experts.PerToken)*m.ExpertParams())*m.ExpertWeight().Bytes() + 2*float64(m.HeadParams())
	kv := m.KVBytesPerGPU(tp)
	if m.Window > 0 {
		kv *= float64(m.Layers-m.Windowed) / float64(m.Layers)
	}
	read := float64(b.KVTokens)
	if b.PrefillTokens > 0 {
		read += float64(b.PrefillContext*int64(b.PrefillSeqs)/int64(b.PrefillTokens)) - 1
	}
	return (weights/float64(tp) + kv*read) / g.Bandwidth
}

// leastLink is the seconds that the all-reduces take at the link's full rate, in a ring: every GPU sends 2(tp-1)/tp of
// each hidden vector, twice a layer.
func leastLink(m Model, g GPU, tp int, b Batch) float64 {
	bytes := 2 * float64(b.Decode+b.PrefillTokens) * float64(m.Hidden)
	return 2 * float64(m.Layers) * 2 * float64(tp-1) / float64(tp) * bytes / g.Link
}

// TestPhysicalDecodeIsAStraightLine: a step of decodes alone is base + slope*KVTokens, exactly.
func TestPhysicalDecodeIsAStraightLine(t *testing.T) {
	everyPhysical(t, func(t *testing.T, m Model, g GPU, tp int, p *Physical) {
		for _, b := range refBatches {
			b.PrefillSeqs, b.PrefillTokens, b.PrefillContext = 0, 0, 0
			base, slope := p.Decode(b.Decode)
			if got, want := p.Step(b), base+slope*Time(b.KVTokens); got != want || slope < 1 {
				t.Errorf("%s on %d x %s: %+v takes %d, want %d + %d*kv = %d", m.Name, tp, g.Name, b, got, base, slope, want)
			}
		}
	})
}

// TestPhysicalGrows: more work never takes less time.
func TestPhysicalGrows(t *testing.T) {
	models := Models()
	rapid.Check(t, func(t *rapid.T) {
		m, _ := LookupModel(rapid.SampledFrom(models).Draw(t, "model"))
		g := rapid.SampledFrom(gpus).Draw(t, "gpu")
		p, err := NewPhysical(m, g, 1, 100)
		if err != nil {
			t.Fatal(err)
		}
		chunk := rapid.Custom(func(t *rapid.T) refChunk {
			return refChunk{rapid.IntRange(0, 5000).Draw(t, "context"), rapid.IntRange(1, 300).Draw(t, "tokens")}
		})
		n := rapid.IntRange(0, 200).Draw(t, "decodes")
		kv := rapid.Int64Range(1, 10_000).Draw(t, "kv")
		c := chunk.Draw(t, "chunk")
		least := 0
		if n == 0 {
			least = 1
		}
		chunks := make([]refChunk, rapid.IntRange(least, 3).Draw(t, "chunks"))
		for i := range chunks {
			chunks[i] = c
		}
		before := p.Step(refBatchOf(n, kv, chunks))
		longer, later := append([]refChunk{}, chunks...), append([]refChunk{}, chunks...)
		for i := range chunks {
			longer[i].tokens++
			later[i].context++
		}
		for _, more := range []struct {
			name string
			b    Batch
		}{
			{"one more decode", refBatchOf(n+1, kv, chunks)},
			{"one more KV token each", refBatchOf(n, kv+1, chunks)},
			{"one more chunk", refBatchOf(n, kv, append(chunks[:len(chunks):len(chunks)], c))},
			{"one more token a chunk", refBatchOf(n, kv, longer)},
			{"one more token of context", refBatchOf(n, kv, later)},
		} {
			if after := p.Step(more.b); after < before {
				t.Errorf("%s on %s: %s takes %d, less than %d", m.Name, g.Name, more.name, after, before)
			}
		}
	})
}

// TestPhysicalTables: a step costs the same from the table and beside it.
func TestPhysicalTables(t *testing.T) {
	everyPhysical(t, func(t *testing.T, m Model, g GPU, tp int, small *Physical) {
		if g.Name != "H100" {
			return
		}
		large, err := NewPhysical(m, g, tp, 4096)
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range refBatches {
			if s, l := small.Step(b), large.Step(b); s != l {
				t.Errorf("%s tp %d: %+v takes %d without the table, %d with it", m.Name, tp, b, s, l)
			}
		}
	})
}

// The longest step there is does not wrap.
func TestPhysicalDoesNotOverflow(t *testing.T) {
	for _, g := range gpus {
		for _, m := range models {
			if m.Split(1) != nil {
				continue
			}
			p, err := NewPhysical(m, g, 1, 16)
			if err != nil {
				t.Fatal(err)
			}
			const prompt, budget = 100_000_000, 1 << 20
			if d := p.Step(Batch{PrefillSeqs: 1, PrefillTokens: budget, PrefillContext: budget * prompt}); d < Second || d > Never/2 {
				t.Errorf("%s on %s: the last chunk of %d tokens takes %v", m.Name, g.Name, prompt, d)
			}
		}
	}
}
