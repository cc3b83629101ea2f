package engine

import (
	"fmt"
	"io"
	"path"
	"path/filepath"
	"strings"
	"unicode"
)

// ParseModelConfig reads the shape of a model from its config.json, as https://huggingface.co serves it. Errors name
// the file, called name, and the field. A vision tower beside a text_config is left out. The model is called as its
// _name_or_path says, or else after the file.
func ParseModelConfig(name string, r io.Reader) (Model, error) {
	f, err := newFields(name, r)
	if err != nil {
		return Model{}, err
	}
	f.refuse()
	m := Model{
		Name:    f.display(),
		Context: f.whole("max_position_embeddings"),
		Layers:  f.whole("num_hidden_layers"),
		Hidden:  f.whole("hidden_size"),
		Heads:   f.whole("num_attention_heads"),
		Vocab:   f.whole("vocab_size"),
		Tied:    f.flag("tie_word_embeddings", tiedByDefault(f.modelType())),
	}
	f.attention(&m)
	f.mlp(&m)
	f.storage(&m)
	f.window(&m)
	if f.err == nil {
		f.err = f.sane(m)
	}
	if f.err != nil {
		return Model{}, f.err
	}
	if known, err := LookupModel(m.Registered()); err == nil {
		m.Unsorted = known.Unsorted
	}
	return m, nil
}

// Bounds that no published model comes near to; times of larger ones could overflow.
const (
	mostParams  = 1e14
	mostKVBytes = 1e9 // a token
)

// sane refuses what is too large although every field is in its bounds.
func (f *fields) sane(m Model) error {
	switch {
	case m.Params() > mostParams:
		return fmt.Errorf("%s: hidden_size, num_hidden_layers and the others make %.2g parameters, want at most %.0g", f.file, float64(m.Params()), mostParams)
	case m.KVBytes() > mostKVBytes:
		return fmt.Errorf("%s: num_hidden_layers, num_key_value_heads and head_dim make %.2g bytes of KV cache a token, want at most %.0g", f.file, float64(m.KVBytes()), mostKVBytes)
	}
	return nil
}

// Registered returns the name of the known model that m is in everything but the name and Unsorted, which config.json does
// not say; "" if there is none.
func (m Model) Registered() string {
	found := ""
	for _, known := range models {
		name := known.Name
		known.Name, known.Unsorted = m.Name, m.Unsorted
		if known == m && (found == "" || strings.EqualFold(name, m.Name)) {
			found = name
		}
	}
	return found
}

// display is what to call the model: config.json in a folder is named after the folder.
func (f *fields) display() string {
	if name := f.text("_name_or_path"); plain(name) && !path.IsAbs(name) && !strings.HasPrefix(name, ".") {
		return name
	}
	file := filepath.ToSlash(f.file)
	name := strings.TrimSuffix(path.Base(file), ".json")
	if dir := path.Base(path.Dir(file)); name == "config" && strings.Trim(dir, "./") != "" {
		return dir
	}
	return name
}

// plain is true of a name that can be shown on a line.
func plain(name string) bool {
	return name != "" && !strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsGraphic(r) })
}

// tiedByDefault is what a model type takes for tie_word_embeddings when its config.json does not say.
func tiedByDefault(modelType string) bool {
	return strings.HasPrefix(modelType, "gemma") || strings.HasPrefix(modelType, "cohere")
}

// attention reads heads and their size, or the ranks of latent attention.
func (f *fields) attention(m *Model) {
	if f.has("kv_lora_rank") {
		m.Latent = Latent{
			QRank:  f.wholeOr("q_lora_rank", 0),
			KVRank: f.whole("kv_lora_rank"),
			NoPE:   f.whole("qk_nope_head_dim"),
			RoPE:   f.whole("qk_rope_head_dim"),
			Head:   f.whole("v_head_dim"),
		}
		return
	}
	m.KVHeads = f.wholeOr("num_key_value_heads", m.Heads)
	if f.err == nil && m.Heads%m.KVHeads != 0 {
		f.fail("num_key_value_heads", "is %d, want a divisor of num_attention_heads, which is %d", m.KVHeads, m.Heads)
	}
	if f.has("head_dim") {
		m.HeadDim = f.whole("head_dim")
		return
	}
	if f.err == nil && m.Hidden%m.Heads != 0 {
		f.fail("head_dim", "is missing, and hidden_size %d is no multiple of num_attention_heads %d", m.Hidden, m.Heads)
	}
	if f.err == nil {
		m.HeadDim = m.Hidden / m.Heads
	}
}
