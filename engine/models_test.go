package engine

import "testing"

func TestModelsMatchFacts(t *testing.T) {
	for _, row := range fidelity(t, "model_facts.csv") {
		m, err := LookupModel(row["model"])
		if err != nil {
			t.Error(err)
			continue
		}
		near(t, m.Name+" parameters", float64(m.Params()), number(t, row["params_total"]), 0.01)
		near(t, m.Name+" active parameters", float64(m.ActiveParams()), number(t, row["params_active"]), 0.01)
		near(t, m.Name+" KV bytes", float64(m.KVBytes()), number(t, row["kv_bytes_per_token_bf16"]), 0)
	}
}

// Published sizes of models that the fact table lacks: the names say 20B, 235B and 405B; the DeepSeek-V3 report
// (https://arxiv.org/abs/2412.19437) says 671B in all, 37B active.
func TestModelSizes(t *testing.T) {
	for _, c := range []struct {
		name          string
		total, active float64
	}{
		{"openai/gpt-oss-20b", 20.9e9, 3.6e9},
		{"Qwen/Qwen3-235B-A22B", 235e9, 22e9},
		{"meta-llama/Llama-3.1-405B-Instruct", 405e9, 405e9},
		{"deepseek-ai/DeepSeek-V3", 671e9, 37e9},
	} {
		m, err := LookupModel(c.name)
		if err != nil {
			t.Fatal(err)
		}
		near(t, c.name+" parameters", float64(m.Params()), c.total, 0.02)
		near(t, c.name+" active parameters", float64(m.ActiveParams()), c.active, 0.03)
	}
}

// A model small enough to count: attention is 2 layers of 16 + 16 + 8 + 8 weights; the MLP 36 beside the experts, 84 in
// the layer without, 16 in the router; an expert 60; the head 40.
func TestModelCounts(t *testing.T) {
	m := Model{Layers: 2, Hidden: 4, Heads: 2, KVHeads: 1, HeadDim: 2, MLP: 3, Vocab: 10, Weight: FP8,
		Experts: Experts{N: 4, PerToken: 2, Width: 5, Dense: 1, DenseMLP: 7, Weight: MXFP4}}
	tied := m
	tied.Tied = true
	for _, c := range []struct {
		what      string
		got, want float64
	}{
		{"attention", float64(m.AttentionParams()), 96},
		{"MLP", float64(m.MLPParams()), 36 + 84 + 16},
		{"expert", float64(m.ExpertParams()), 60},
		{"head", float64(m.HeadParams()), 40},
		{"all", float64(m.Params()), 96 + 136 + 4*60 + 2*40},
		{"all with a tied head", float64(tied.Params()), 96 + 136 + 4*60 + 40},
		{"active", float64(m.ActiveParams()), 96 + 136 + 2*60 + 40},
		{"bytes", m.WeightBytes(), (96+136)*1 + 4*60*0.53125 + 2*40*2},
		{"KV bytes", float64(m.KVBytes()), 2 * 2 * 1 * 2 * 2},
	} {
		if c.got != c.want {
			t.Errorf("%s: %v, want %v", c.what, c.got, c.want)
		}
	}
}

func TestDeepSeekCache(t *testing.T) {
	m, _ := LookupModel("deepseek-ai/DeepSeek-V3")
	// 61 layers of 512 + 64 values of 2 bytes, and no GPU is spared any.
	if got, want := m.KVBytes(), int64(70272); got != want {
		t.Errorf("KV bytes %d, want %d", got, want)
	}
	if got, want := m.KVBytesPerGPU(8), 70272.0; got != want {
		t.Errorf("KV bytes on each of 8 GPUs %v, want %v", got, want)
	}
}
