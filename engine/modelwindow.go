package engine

import (
	"fmt"
	"strings"
)

// window reads how many layers attend to a window of tokens.
func (f *fields) window(m *Model) {
	if f.err != nil {
		return
	}
	windowed := f.windowed(m.Layers)
	if f.err != nil || windowed == 0 {
		return
	}
	if w := f.whole("sliding_window"); w < m.Context { // else it never cuts anything off
		m.Window, m.Windowed = w, windowed
	}
}

// windowed counts the layers with a window: as layer_types lists them, or as the model type places them.
func (f *fields) windowed(layers int) int {
	if f.has("layer_types") {
		return f.listed(layers)
	}
	modelType := f.modelType()
	qwen := strings.HasPrefix(modelType, "qwen")
	if !f.has("sliding_window") || !f.flag("use_sliding_window", !qwen) {
		return 0
	}
	if qwen {
		full := 28 // what the model type takes
		if f.has("max_window_layers") {
			full = f.countOf("max_window_layers")
		}
		return max(0, layers-full)
	}
	every := fullEvery(modelType)
	for _, name := range []string{"sliding_window_pattern", "_sliding_window_pattern"} {
		every = f.wholeOr(name, every)
	}
	if every == 0 {
		return layers
	}
	return layers - layers/every
}

// fullEvery is n where every n-th layer attends to everything and the others to a window; 0: all have the window.
func fullEvery(modelType string) int {
	switch modelType {
	case "gemma2", "gpt_oss":
		return 2
	case "cohere2":
		return 4
	case "gemma3", "gemma3_text":
		return 6
	}
	return 0
}

// listed counts the windows in layer_types. Layers that attend in chunks count as attending to everything.
func (f *fields) listed(layers int) int {
	var types []string
	f.decode("layer_types", &types, "a list of names")
	if f.err == nil && len(types) != layers {
		f.fail("layer_types", "has %d entries, want %d, as num_hidden_layers says", len(types), layers)
	}
	n := 0
	for i, t := range types {
		switch t {
		case "sliding_attention":
			n++
		case "full_attention", "chunked_attention":
		default:
			f.fail(fmt.Sprintf("layer_types[%d]", i), "is %q, which costs differently: have full_attention, sliding_attention, chunked_attention", t)
		}
	}
	return n
}
