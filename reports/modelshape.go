package reports

import (
	"github.com/seed-2cee110a/triage/engine"
	"github.com/seed-2cee110a/triage/sim"
)

// shapeJSON is a model that was read from a file, in the words of its config.json.
type shapeJSON struct {
	File       string       `json:"file"`
	Registered string       `json:"as_registered,omitempty"`
	Context    int          `json:"max_position_embeddings"`
	Layers     int          `json:"num_hidden_layers"`
	Hidden     int          `json:"hidden_size"`
	Heads      int          `json:"num_attention_heads"`
	KVHeads    int          `json:"num_key_value_heads,omitempty"`
	HeadDim    int          `json:"head_dim,omitempty"`
	MLP        int          `json:"mlp_size"` // dense, or of all shared experts
	Vocab      int          `json:"vocab_size"`
	Tied       bool         `json:"tie_word_embeddings"`
	Weight     string       `json:"weights"`
	Experts    *expertsJSON `json:"experts,omitempty"`
	Latent     *latentJSON  `json:"latent_attention,omitempty"`
	Window     int          `json:"sliding_window,omitempty"`
	Windowed   int          `json:"windowed_layers,omitempty"`
}

type expertsJSON struct {
	N        int    `json:"num_experts"`
	PerToken int    `json:"num_experts_per_tok"`
	Width    int    `json:"moe_intermediate_size"`
	Dense    int    `json:"first_k_dense_replace"`
	DenseMLP int    `json:"intermediate_size"`
	Weight   string `json:"weights"`
}

type latentJSON struct {
	QRank  int `json:"q_lora_rank"`
	KVRank int `json:"kv_lora_rank"`
	NoPE   int `json:"qk_nope_head_dim"`
	RoPE   int `json:"qk_rope_head_dim"`
	Head   int `json:"v_head_dim"`
}

// shapeOf is nil for a registered model, which its name tells.
func shapeOf(cfg sim.Config) *shapeJSON {
	c := cfg.ModelConfig
	if c == nil {
		return nil
	}
	m := c.Model
	s := &shapeJSON{
		File: c.File, Registered: c.Registered, Context: m.Context, Layers: m.Layers, Hidden: m.Hidden,
		Heads: m.Heads, KVHeads: m.KVHeads, HeadDim: m.HeadDim, MLP: m.MLP, Vocab: m.Vocab, Tied: m.Tied,
		Weight: m.Weight.String(), Window: m.Window, Windowed: m.Windowed,
	}
	if e := m.Experts; e.N > 0 {
		s.Experts = &expertsJSON{e.N, e.PerToken, e.Width, e.Dense, e.DenseMLP, m.ExpertWeight().String()}
	}
	if m.Latent != (engine.Latent{}) {
		l := latentJSON(m.Latent)
		s.Latent = &l
	}
	return s
}
