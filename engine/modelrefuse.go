package engine

import (
	"slices"
	"strings"
)

// refusals are architectures whose steps cost something else than a transformer's with gated MLPs.
var refusals = []struct {
	types  string // of model_type, separated by blanks
	fields string // that only they have
	what   string
}{
	{"mamba mamba2 falcon_mamba falcon_h1 jamba bamba zamba zamba2 nemotron_h granitemoehybrid plamo2",
		"mamba_d_state mamba_d_ssm ssm_cfg ssm_state_size hybrid_override_pattern attn_layer_period", "has state-space (mamba) layers"},
	{"rwkv rwkv5 rwkv6 rwkv7 recurrent_gemma qwen3_next kimi_linear minimax minimax_text_01 lfm2 lfm2_moe",
		"linear_num_key_heads linear_attn_config full_attention_interval lru_width attn_type_list conv_L_cache", "has linear attention or recurrent layers"},
	{"deepseek_v32 glm_moe_dsa", "index_topk", "has sparse attention"},
	{"gemma3n gemma3n_text", "altup_num_inputs", "has layers that share caches and run in part"},
	{"mllama mllama_text_model", "cross_attention_layers", "has cross-attention layers"},
	{"t5 mt5 bart mbart whisper", "is_encoder_decoder", "is an encoder and a decoder"},
	{"gpt2 gptj gpt_neox gpt_bigcode opt bloom falcon mpt phi starcoder2 nemotron codegen persimmon xglm", "",
		"has MLPs of two matrices, not the three of a gated one"},
}

// refuse fails on an architecture that would be costed wrongly.
func (f *fields) refuse() {
	modelType := f.modelType()
	for _, r := range refusals {
		if modelType != "" && slices.Contains(strings.Fields(r.types), modelType) {
			f.fail("model_type", "is %q, which %s: not simulated", modelType, r.what)
		}
		for _, name := range strings.Fields(r.fields) {
			if f.says(name) {
				f.fail(name, "is set, so %q %s: not simulated", modelType, r.what)
			}
		}
	}
}
