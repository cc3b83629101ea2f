package engine

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func sample(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "modelconfig", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// A known model's config.json gives the known model.
func TestParseModelConfig(t *testing.T) {
	for file, name := range map[string]string{
		"llama-3.1-8b":             "meta-llama/Llama-3.1-8B",
		"qwen3-30b-a3b":            "Qwen/Qwen3-30B-A3B",
		"gpt-oss-120b":             "openai/gpt-oss-120b",
		"deepseek-v3":              "deepseek-ai/DeepSeek-V3",
		"mistral-7b-instruct-v0.3": "mistralai/Mistral-7B-Instruct-v0.3",
		"llama-4-scout-fp8":        "RedHatAI/Llama-4-Scout-17B-16E-Instruct-FP8-dynamic",
	} {
		got, err := ParseModelConfig(file+".json", strings.NewReader(string(sample(t, file))))
		if err != nil {
			t.Error(err)
			continue
		}
		want, err := LookupModel(name)
		if err != nil {
			t.Fatal(err)
		}
		if got.Name != file {
			t.Errorf("%s: named %q, want %q", file, got.Name, file)
		}
		if r := got.Registered(); r != name {
			t.Errorf("%s: registered as %q, want %q", file, r, name)
		}
		got.Name = name
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s: registry, then file:\n%s", file, d)
		}
	}
}

// edited is the model of a sample with some fields replaced: given as JSON, "" takes them out.
func edited(t *testing.T, name string, edits map[string]string) (Model, error) {
	t.Helper()
	fields := map[string]json.RawMessage{}
	if err := json.Unmarshal(sample(t, name), &fields); err != nil {
		t.Fatal(err)
	}
	for field, value := range edits {
		if fields[field] = json.RawMessage(value); value == "" {
			delete(fields, field)
		}
	}
	data, err := json.Marshal(fields)
	if err != nil {
		t.Fatal(err)
	}
	return ParseModelConfig("m/config.json", strings.NewReader(string(data)))
}

// What single fields do to the sample that is edited.
func TestModelConfigFields(t *testing.T) {
	type edit = map[string]string
	for _, c := range []struct {
		what, sample string
		edits        edit
		want         func(m *Model) // from the unedited sample
	}{
		{"folder", "llama-3.1-8b", nil, func(m *Model) {}},
		{"own name", "llama-3.1-8b", edit{"_name_or_path": `"me/mine"`}, func(m *Model) { m.Name = "me/mine" }},
		{"a path is no name", "llama-3.1-8b", edit{"_name_or_path": `"/data/mine"`}, func(m *Model) {}},
		{"a name with control characters", "llama-3.1-8b", edit{"_name_or_path": `"a\u001b[2J"`}, func(m *Model) {}},
		{"heads of their own", "llama-3.1-8b", edit{"num_key_value_heads": ""}, func(m *Model) { m.KVHeads = 32 }},
		{"head size", "llama-3.1-8b", edit{"head_dim": "64"}, func(m *Model) { m.HeadDim = 64 }},
		{"tied", "llama-3.1-8b", edit{"tie_word_embeddings": "true"}, func(m *Model) { m.Tied = true }},
		{"untied by default", "llama-3.1-8b", edit{"tie_word_embeddings": ""}, func(m *Model) {}},
		{"tied by default", "llama-3.1-8b", edit{"tie_word_embeddings": "", "model_type": `"gemma"`}, func(m *Model) { m.Tied = true }},
		{"new name of the type", "llama-3.1-8b", edit{"torch_dtype": "", "dtype": `"float16"`}, func(m *Model) {}},
		{"FP8", "llama-3.1-8b", edit{"quantization_config": `{"quant_method": "fp8"}`}, func(m *Model) { m.Weight = FP8 }},
		{"modelopt", "llama-3.1-8b", edit{"quantization_config": `{"quant_method": "modelopt", "quant_algo": "FP8"}`}, func(m *Model) { m.Weight = FP8 }},
		{"compressed tensors", "llama-3.1-8b", edit{"quantization_config": `{"quant_method": "compressed-tensors", "config_groups": {"group_0": {"weights": {"num_bits": 8, "type": "float"}}}}`},
			func(m *Model) { m.Weight = FP8 }},
		{"no experts, said", "llama-3.1-8b", edit{"num_experts": "0", "moe_topk": "null"}, func(m *Model) {}},

		{"no shared expert", "deepseek-v3", edit{"n_shared_experts": "0"}, func(m *Model) { m.MLP = 0 }},
		{"two shared experts", "deepseek-v3", edit{"n_shared_experts": "2"}, func(m *Model) { m.MLP = 4096 }},
		{"query not compressed", "deepseek-v3", edit{"q_lora_rank": "null"}, func(m *Model) { m.Latent.QRank = 0 }},
		{"experts everywhere", "deepseek-v3", edit{"first_k_dense_replace": "0"}, func(m *Model) { m.Experts.Dense, m.Experts.DenseMLP = 0, 0 }},
		{"shared expert's width", "qwen3-30b-a3b", edit{"shared_expert_intermediate_size": "5632"}, func(m *Model) { m.MLP = 5632 }},
		{"experts as wide as the MLP", "qwen3-30b-a3b", edit{"moe_intermediate_size": ""}, func(m *Model) { m.Experts.Width = 6144 }},

		{"all layers windowed", "mistral-7b-instruct-v0.3", edit{"sliding_window": "4096"}, func(m *Model) { m.Window, m.Windowed = 4096, 32 }},
		{"a window as long as the context", "mistral-7b-instruct-v0.3", edit{"sliding_window": "32768"}, func(m *Model) {}},
		{"window switched off", "mistral-7b-instruct-v0.3", edit{"sliding_window": "4096", "use_sliding_window": "false"}, func(m *Model) {}},
		{"half of the layers", "mistral-7b-instruct-v0.3", edit{"sliding_window": "4096", "model_type": `"gemma2"`}, func(m *Model) { m.Window, m.Windowed = 4096, 16 }},
		{"five of six layers", "mistral-7b-instruct-v0.3", edit{"sliding_window": "1024", "model_type": `"gemma3_text"`}, func(m *Model) { m.Window, m.Windowed = 1024, 27 }},
		{"three of four layers", "mistral-7b-instruct-v0.3", edit{"sliding_window": "4096", "model_type": `"cohere2"`}, func(m *Model) { m.Window, m.Windowed = 4096, 24 }},
		{"a pattern", "mistral-7b-instruct-v0.3", edit{"sliding_window": "1024", "sliding_window_pattern": "8"}, func(m *Model) { m.Window, m.Windowed = 1024, 28 }},
		{"Qwen's later layers", "qwen3-30b-a3b", edit{"use_sliding_window": "true", "sliding_window": "4096", "max_window_layers": "40"},
			func(m *Model) { m.Window, m.Windowed = 4096, 8 }},
		{"Qwen's window, not switched on", "qwen3-30b-a3b", edit{"use_sliding_window": "", "sliding_window": "4096", "max_window_layers": "40"}, func(m *Model) {}},
		{"gpt-oss without a list", "gpt-oss-120b", edit{"layer_types": ""}, func(m *Model) {}},
	} {
		want, err := edited(t, c.sample, nil)
		if err != nil {
			t.Fatal(err)
		}
		want.Name = "m"
		c.want(&want)
		want.Unsorted = want.Unsorted && want.Registered() != "" // the file does not say
		got, err := edited(t, c.sample, c.edits)
		if err != nil {
			t.Errorf("%s: %v", c.what, err)
		} else if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s: want, got:\n%s", c.what, d)
		}
	}
}

// Every error names the file and the field.
func TestModelConfigErrors(t *testing.T) {
	type edit = map[string]string
	for _, c := range []struct {
		sample string
		edits  edit
		want   string
	}{
		{"llama-3.1-8b", edit{"hidden_size": ""}, "hidden_size is missing, want a whole number"},
		{"llama-3.1-8b", edit{"num_hidden_layers": "null"}, "num_hidden_layers is missing"},
		{"llama-3.1-8b", edit{"num_attention_heads": ""}, "num_attention_heads is missing"},
		{"llama-3.1-8b", edit{"vocab_size": ""}, "vocab_size is missing"},
		{"llama-3.1-8b", edit{"intermediate_size": ""}, "intermediate_size is missing"},
		{"llama-3.1-8b", edit{"max_position_embeddings": ""}, "max_position_embeddings is missing"},
		{"llama-3.1-8b", edit{"num_hidden_layers": "0"}, "num_hidden_layers is 0, want a whole number of 1 to 1024"},
		{"llama-3.1-8b", edit{"num_hidden_layers": "-3"}, "num_hidden_layers is -3, want"},
		{"llama-3.1-8b", edit{"num_hidden_layers": "1025"}, "num_hidden_layers is 1025, want"},
		{"llama-3.1-8b", edit{"hidden_size": `"big"`}, `hidden_size is "big", want a whole number of 1 to 131072`},
		{"llama-3.1-8b", edit{"hidden_size": "4096.5"}, "hidden_size is 4096.5, want"},
		{"llama-3.1-8b", edit{"hidden_size": "1e99"}, "hidden_size is 1e99, want"},
		{"llama-3.1-8b", edit{"num_key_value_heads": "5"}, "num_key_value_heads is 5, want a divisor of num_attention_heads, which is 32"},
		{"llama-3.1-8b", edit{"hidden_size": "4100"}, "head_dim is missing, and hidden_size 4100 is no multiple of num_attention_heads 32"},
		{"llama-3.1-8b", edit{"head_dim": "0"}, "head_dim is 0, want"},
		{"llama-3.1-8b", edit{"tie_word_embeddings": "1"}, "tie_word_embeddings is 1, want true or false"},
		{"llama-3.1-8b", edit{"model_type": "7"}, "model_type is 7, want a text"},
		{"llama-3.1-8b", edit{"torch_dtype": `"int8"`}, `torch_dtype is "int8", have bfloat16, float16, float32`},
		{"llama-3.1-8b", edit{"dtype": `"float8"`}, `dtype is "float8", have`},
		{"llama-3.1-8b", edit{"quantization_config": `{"quant_method": "awq"}`},
			`quantization_config has the quant_method "awq", have compressed-tensors, fbgemm_fp8, fp8, modelopt, mxfp4`},
		{"llama-3.1-8b", edit{"quantization_config": `"fp8"`}, `quantization_config is "fp8", want an object with quant_method`},
		{"llama-3.1-8b", edit{"quantization_config": `{"quant_method": "mxfp4"}`}, "quantization_config is mxfp4, which is known for experts"},
		{"llama-3.1-8b", edit{"quantization_config": `{"quant_method": "modelopt", "quant_algo": "NVFP4"}`}, `(modelopt) has the quant_algo "NVFP4", have FP8`},
		{"llama-3.1-8b", edit{"quantization_config": `{"quant_method": "compressed-tensors"}`}, "quantization_config has no config_groups"},
		{"llama-3.1-8b", edit{"quantization_config": `{"quant_method": "compressed-tensors", "config_groups": {"g": {"weights": {"num_bits": 4, "type": "int"}}}}`},
			`(compressed-tensors): g has weights of 4 bits, type "int", have 8 bits, type "float"`},
		{"llama-3.1-8b", edit{"quantization_config": `{"quant_method": "compressed-tensors", "config_groups": {"g": {"weights": {"num_bits": 4, "type": "float"}}}}`},
			`g has weights of 4 bits, type "float", have`},
		{"llama-3.1-8b", edit{"quantization_config": `{"quant_method": "compressed-tensors", "config_groups": {"g": {"weights": {"num_bits": 8, "type": "int"}}}}`},
			`g has weights of 8 bits, type "int", have`},
		{"llama-3.1-8b", edit{"moe_num_experts": "64"}, "moe_num_experts speaks of experts, but none are counted: want one of num_local_experts, num_experts, n_routed_experts"},
		{"llama-3.1-8b", edit{"text_config": "3"}, "text_config is 3, want an object"},
		{"llama-3.1-8b", edit{"text_config": `{"hidden_size": 0}`}, "text_config.hidden_size is 0, want"},

		{"llama-3.1-8b", edit{"model_type": `"mamba2"`}, `model_type is "mamba2", which has state-space (mamba) layers: not simulated`},
		{"llama-3.1-8b", edit{"model_type": `"qwen3_next"`}, `model_type is "qwen3_next", which has linear attention`},
		{"llama-3.1-8b", edit{"mamba_d_state": "128"}, `mamba_d_state is set, so "llama" has state-space (mamba) layers`},
		{"llama-3.1-8b", edit{"linear_num_key_heads": "16"}, "linear_num_key_heads is set"},
		{"llama-3.1-8b", edit{"is_encoder_decoder": "true"}, "is_encoder_decoder is set"},
		{"llama-3.1-8b", edit{"model_type": `"gpt_neox"`}, "has MLPs of two matrices"},
		{"deepseek-v3", edit{"index_topk": "2048"}, "has sparse attention"},
		{"llama-3.1-8b", edit{"layer_types": `["full_attention"]`}, "layer_types has 1 entries, want 32"},
		{"llama-3.1-8b", edit{"layer_types": `"full_attention"`}, `layer_types is "full_attention", want a list of names`},
		{"llama-3.1-8b", edit{"num_hidden_layers": "2", "layer_types": `["full_attention", "linear_attention"]`}, `layer_types[1] is "linear_attention", which costs differently`},

		{"gpt-oss-120b", edit{"sliding_window": ""}, "sliding_window is missing"},
		{"gpt-oss-120b", edit{"num_experts_per_tok": ""}, "num_experts_per_tok is missing"},
		{"gpt-oss-120b", edit{"num_experts_per_tok": "129"}, "num_experts_per_tok is 129, want at most num_local_experts, which is 128"},
		{"qwen3-30b-a3b", edit{"decoder_sparse_step": "2"}, "decoder_sparse_step is 2, want 1"},
		{"qwen3-30b-a3b", edit{"mlp_only_layers": "[0, 5]"}, "mlp_only_layers is [0,5], want []"},
		{"deepseek-v3", edit{"moe_layer_freq": "2"}, "moe_layer_freq is 2, want 1"},
		{"deepseek-v3", edit{"first_k_dense_replace": "61"}, "first_k_dense_replace is 61, want fewer than num_hidden_layers, which is 61"},
		{"deepseek-v3", edit{"qk_rope_head_dim": ""}, "qk_rope_head_dim is missing"},
		{"deepseek-v3", edit{"qk_nope_head_dim": ""}, "qk_nope_head_dim is missing"},
		{"deepseek-v3", edit{"v_head_dim": ""}, "v_head_dim is missing"},
		{"deepseek-v3", edit{"kv_lora_rank": "0"}, "kv_lora_rank is 0, want"},
	} {
		m, err := edited(t, c.sample, c.edits)
		if err == nil || !strings.HasPrefix(err.Error(), "m/config.json: ") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s with %v: %v, want m/config.json: ... %s", c.sample, c.edits, err, c.want)
		}
		if m != (Model{}) {
			t.Errorf("%s with %v: a model beside the error", c.sample, c.edits)
		}
	}
}

func TestModelConfigWithByteOrderMark(t *testing.T) {
	text := `{"model_type": "llama", "hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 128,
		"vocab_size": 100, "max_position_embeddings": 512, "torch_dtype": "bfloat16"}`
	want, err := ParseModelConfig("m.json", strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := ParseModelConfig("m.json", strings.NewReader("\ufeff"+text)); err != nil || got != want {
		t.Errorf("%+v, %v; want %+v", got, err, want)
	}
}

func TestModelConfigNotJSON(t *testing.T) {
	for text, want := range map[string]string{
		"":     "m.json: not a JSON object (unexpected end of JSON input), want a model's config.json",
		"null": "m.json: not a JSON object (null)",
		"[]":   "m.json: not a JSON object (cannot unmarshal array",
		`{"a": "` + strings.Repeat("x", longestConfig) + `"}`: "m.json: more than 4 MB",
	} {
		if _, err := ParseModelConfig("m.json", strings.NewReader(text)); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%.20q: %v, want %s...", text, err, want)
		}
	}
}

// All fields at their bounds do not overflow the counts that are held against the bounds of the whole.
func TestModelConfigBounds(t *testing.T) {
	_, err := edited(t, "deepseek-v3", map[string]string{
		"num_hidden_layers": "1024", "hidden_size": "131072", "num_attention_heads": "4096", "vocab_size": "16777216",
		"intermediate_size": "1048576", "moe_intermediate_size": "1048576", "n_routed_experts": "4096", "n_shared_experts": "64",
		"num_experts_per_tok": "4096", "q_lora_rank": "131072", "kv_lora_rank": "131072", "v_head_dim": "16384",
		"qk_nope_head_dim": "16384", "qk_rope_head_dim": "16384",
	})
	if want := "make 1.8e+18 parameters, want at most 1e+14"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
	_, err = edited(t, "llama-3.1-8b", map[string]string{"num_hidden_layers": "1024", "num_attention_heads": "4096", "num_key_value_heads": "4096",
		"head_dim": "1024", "hidden_size": "16"})
	if want := "make 1.7e+10 bytes of KV cache a token, want at most 1e+09"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
}

// DeepSeek-V2-Lite does not compress queries: 15.7e9 parameters, 2.4e9 active (https://arxiv.org/abs/2405.04434).
func TestLatentWithoutQueryRank(t *testing.T) {
	m := Model{Layers: 27, Hidden: 2048, Heads: 16, MLP: 2816, Vocab: 102400, Weight: BF16,
		Experts: Experts{N: 64, PerToken: 6, Width: 1408, Dense: 1, DenseMLP: 10944},
		Latent:  Latent{KVRank: 512, NoPE: 128, RoPE: 64, Head: 128}}
	near(t, "parameters", float64(m.Params()), 15.7e9, 0.005)
	near(t, "active parameters", float64(m.ActiveParams()), 2.4e9, 0.05)
}

// Mistral 7B's first version has a window in every layer: nothing grows with the context once it is left behind.
func TestAllLayersWindowed(t *testing.T) {
	m, err := ParseModelConfig("mistral.json", strings.NewReader(string(sample(t, "mistral-7b-v0.1"))))
	if err != nil {
		t.Fatal(err)
	}
	want := dense("mistral", 32768, 32, 4096, 32, 8, 128, 14336, 32000, BF16)
	want.Window, want.Windowed = 4096, 32
	if d := cmp.Diff(want, m); d != "" {
		t.Error(d)
	}
	g, _ := LookupGPU("H100")
	windowed, err := NewPhysical(m, g, 1, 64)
	if err != nil {
		t.Fatal(err)
	}
	m.Window, m.Windowed = 0, 0
	full, _ := NewPhysical(m, g, 1, 64)
	at, beyond := refBatchOf(8, 4096, nil), refBatchOf(8, 20_000, nil)
	if a, b := windowed.Step(at), windowed.Step(beyond); a != b {
		t.Errorf("a context of 4096 takes %d, of 20000 %d, want the same", a, b)
	}
	near(t, "a whole window", windowed.Step(at).Seconds(), full.Step(at).Seconds(), 2e-6)
	if a, b := windowed.Step(beyond), full.Step(beyond); a >= b {
		t.Errorf("with windows %d, without %d", a, b)
	}
}

// The classes that count as measured are those of the experiments; their GPUs are the calibrated ones.
func TestMeasured(t *testing.T) {
	for _, name := range GPUs() {
		g, _ := LookupGPU(name)
		if got := Measured(dense("d", 1, 1, 1, 1, 1, 1, 1, 1, BF16), g); got != g.Calibrated {
			t.Errorf("%s: dense models measured %v, calibrated %v", name, got, g.Calibrated)
		}
		if m, _ := LookupModel("deepseek-ai/DeepSeek-V3"); Measured(m, g) {
			t.Errorf("%s: latent attention counts as measured", name)
		}
	}
	seen := map[string]bool{}
	for _, row := range fidelity(t, "closed_loop.csv") {
		if m, err := LookupModel(row["model"]); err == nil && row["system"] == "h100_sxm" {
			seen[m.Class()+" on H100"] = true
		}
	}
	for _, row := range fidelity(t, "experiments.csv") {
		m, err := LookupModel(row["model"])
		if err != nil {
			t.Fatal(err)
		}
		seen[m.Class()+" on "+row["hardware"]] = true
	}
	for class, names := range measured {
		for _, name := range names {
			if !seen[class+" on "+name] {
				t.Errorf("%s on %s counts as measured, but is not", class, name)
			}
		}
	}
}

// No config.json makes the parser or the cost model panic, and what passes costs a positive time.
func FuzzParseModelConfig(f *testing.F) {
	files, err := filepath.Glob(filepath.Join("testdata", "modelconfig", "*.json"))
	if err != nil || len(files) == 0 {
		f.Fatal(err, files)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(data))
	}
	g, _ := LookupGPU("L4")
	f.Fuzz(func(t *testing.T, text string) {
		m, err := ParseModelConfig("config.json", strings.NewReader(text))
		if err != nil {
			return
		}
		p, err := NewPhysical(m, g, 1, 16)
		if err != nil {
			t.Fatal(err)
		}
		if got := p.Step(refBatchOf(8, 1000, []refChunk{{0, 1000}})); got <= 0 {
			t.Errorf("%+v: a step takes %d", m, got)
		}
	})
}
