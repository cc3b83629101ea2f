package engine

// models are known by name. Shapes are from each model's config.json at https://huggingface.co/NAME, and whether sampling
// sorts the vocabulary from its generation_config.json there.
var models = []Model{
	// context, layers, hidden, heads, KV heads, head dimension, MLP, vocabulary, weights
	dense("meta-llama/Llama-2-7b-hf", 4096, 32, 4096, 32, 32, 128, 11008, 32000, BF16),
	dense("meta-llama/Llama-2-70b-hf", 4096, 80, 8192, 64, 8, 128, 28672, 32000, BF16),
	unsorted(dense("codellama/CodeLlama-34b-Instruct-hf", 16384, 48, 8192, 64, 8, 128, 22016, 32000, BF16)),
	dense("meta-llama/Llama-3.1-8B", 131072, 32, 4096, 32, 8, 128, 14336, 128256, BF16),
	dense("meta-llama/Llama-3.1-8B-Instruct", 131072, 32, 4096, 32, 8, 128, 14336, 128256, BF16),
	dense("nvidia/Llama-3.1-8B-Instruct-FP8", 131072, 32, 4096, 32, 8, 128, 14336, 128256, FP8),
	dense("meta-llama/Llama-3.1-70B", 131072, 80, 8192, 64, 8, 128, 28672, 128256, BF16),
	dense("meta-llama/Llama-3.1-70B-Instruct", 131072, 80, 8192, 64, 8, 128, 28672, 128256, BF16),
	dense("meta-llama/Llama-3.3-70B-Instruct", 131072, 80, 8192, 64, 8, 128, 28672, 128256, BF16),
	dense("meta-llama/Llama-3.1-405B-Instruct", 131072, 126, 16384, 128, 8, 128, 53248, 128256, BF16),
	unsorted(dense("mistralai/Mistral-7B-Instruct-v0.3", 32768, 32, 4096, 32, 8, 128, 14336, 32768, BF16)),
	unsorted(dense("mistralai/Mistral-Nemo-Instruct-2407", 131072, 40, 5120, 32, 8, 128, 14336, 131072, BF16)),
	dense("01-ai/Yi-34B", 4096, 60, 7168, 56, 8, 128, 20480, 64000, BF16),
	dense("Qwen/Qwen2.5-7B-Instruct", 32768, 28, 3584, 28, 4, 128, 18944, 152064, BF16),
	dense("Qwen/Qwen2.5-14B-Instruct", 32768, 48, 5120, 40, 8, 128, 13824, 152064, BF16),
	dense("Qwen/Qwen2.5-32B-Instruct", 32768, 64, 5120, 40, 8, 128, 27648, 152064, BF16),
	dense("Qwen/Qwen2.5-72B-Instruct", 32768, 80, 8192, 64, 8, 128, 29568, 152064, BF16),
	dense("Qwen/Qwen3-8B", 40960, 36, 4096, 32, 8, 128, 12288, 151936, BF16),
	dense("Qwen/Qwen3-14B", 40960, 40, 5120, 40, 8, 128, 17408, 151936, BF16),
	dense("Qwen/Qwen3-32B", 40960, 64, 5120, 64, 8, 128, 25600, 151936, BF16),

	// context, layers, hidden, heads, KV heads, head dimension, vocabulary; experts, per token, width
	mixture("Qwen/Qwen3-30B-A3B", 40960, 48, 2048, 32, 4, 128, 151936, 128, 8, 768),
	mixture("Qwen/Qwen3-30B-A3B-Instruct-2507", 262144, 48, 2048, 32, 4, 128, 151936, 128, 8, 768),
	mixture("Qwen/Qwen3-235B-A22B", 40960, 94, 4096, 64, 4, 128, 151936, 128, 8, 1536),
	unsorted(mixture("mistralai/Mixtral-8x7B-v0.1", 32768, 32, 4096, 32, 8, 128, 32000, 8, 2, 14336)),
	unsorted(mixture("mistralai/Mixtral-8x7B-Instruct-v0.1", 32768, 32, 4096, 32, 8, 128, 32000, 8, 2, 14336)),
	unsorted(mixture("mistralai/Mixtral-8x22B-v0.1", 65536, 56, 6144, 48, 8, 128, 32768, 8, 2, 16384)),
	unsorted(mixture("mistralai/Mixtral-8x22B-Instruct-v0.1", 65536, 56, 6144, 48, 8, 128, 32768, 8, 2, 16384)),
	{Name: "RedHatAI/Llama-4-Scout-17B-16E-Instruct-FP8-dynamic", Context: 10485760, Layers: 48, Hidden: 5120, Heads: 40, KVHeads: 8, HeadDim: 128,
		MLP: 8192, Vocab: 202048, Weight: FP8,
		Experts: Experts{N: 16, PerToken: 1, Width: 8192}},
	{Name: "openai/gpt-oss-20b", Context: 131072, Layers: 24, Hidden: 2880, Heads: 64, KVHeads: 8, HeadDim: 64,
		Vocab: 201088, Weight: BF16, Window: 128, Windowed: 12, Unsorted: true,
		Experts: Experts{N: 32, PerToken: 4, Width: 2880, Weight: MXFP4}},
	{Name: "openai/gpt-oss-120b", Context: 131072, Layers: 36, Hidden: 2880, Heads: 64, KVHeads: 8, HeadDim: 64,
		Vocab: 201088, Weight: BF16, Window: 128, Windowed: 18, Unsorted: true,
		Experts: Experts{N: 128, PerToken: 4, Width: 2880, Weight: MXFP4}},
	{Name: "deepseek-ai/DeepSeek-V3", Context: 163840, Layers: 61, Hidden: 7168, Heads: 128, MLP: 2048, Vocab: 129280, Weight: FP8,
		Experts: Experts{N: 256, PerToken: 8, Width: 2048, Dense: 3, DenseMLP: 18432},
		Latent:  Latent{QRank: 1536, KVRank: 512, NoPE: 128, RoPE: 64, Head: 128}},
}

// dense is a row of a model without experts.
func dense(name string, context, layers, hidden, heads, kvHeads, headDim, mlp, vocab int, weight DType) Model {
	return Model{Name: name, Context: context, Layers: layers, Hidden: hidden, Heads: heads, KVHeads: kvHeads, HeadDim: headDim,
		MLP: mlp, Vocab: vocab, Weight: weight}
}

// mixture is a row of a model in BF16 whose layers all have routed experts and nothing else.
func mixture(name string, context, layers, hidden, heads, kvHeads, headDim, vocab, experts, perToken, width int) Model {
	return Model{Name: name, Context: context, Layers: layers, Hidden: hidden, Heads: heads, KVHeads: kvHeads, HeadDim: headDim,
		Vocab: vocab, Weight: BF16, Experts: Experts{N: experts, PerToken: perToken, Width: width}}
}

// unsorted is m without top-k and top-p.
func unsorted(m Model) Model {
	m.Unsorted = true
	return m
}

// LookupModel returns the model called name, in any case of letters.
func LookupModel(name string) (Model, error) {
	i, err := lookup("model", name, len(models), func(i int) string { return models[i].Name })
	if err != nil {
		return Model{}, err
	}
	return models[i], nil
}

// Models returns the known models' names.
func Models() []string {
	names := make([]string, len(models))
	for i, m := range models {
		names[i] = m.Name
	}
	return names
}
