package engine

import (
	"encoding/json"
	"slices"
	"strings"
)

// expertCounts are the fields that say how many routed experts a layer has.
var expertCounts = []string{"num_local_experts", "num_experts", "n_routed_experts"}

// mlp reads a dense MLP's width, or experts and what stands beside them.
func (f *fields) mlp(m *Model) {
	count := ""
	for _, name := range expertCounts {
		if count == "" && f.says(name) {
			count = name
		}
	}
	if count == "" {
		f.noExperts()
		m.MLP = f.whole("intermediate_size")
		return
	}
	f.everyLayer()
	e := Experts{N: f.whole(count), PerToken: f.whole("num_experts_per_tok")}
	if f.err == nil && e.PerToken > e.N {
		f.fail("num_experts_per_tok", "is %d, want at most %s, which is %d", e.PerToken, count, e.N)
	}
	if f.has("moe_intermediate_size") {
		e.Width = f.whole("moe_intermediate_size")
	} else {
		e.Width = f.whole("intermediate_size")
	}
	if e.Dense = f.countOf("first_k_dense_replace"); e.Dense > 0 {
		e.DenseMLP = f.whole("intermediate_size")
	}
	if f.err == nil && e.Dense >= m.Layers {
		f.fail("first_k_dense_replace", "is %d, want fewer than num_hidden_layers, which is %d", e.Dense, m.Layers)
	}
	m.Experts, m.MLP = e, f.shared(e.Width)
}

// shared is the width of the experts that every token takes.
func (f *fields) shared(width int) int {
	for _, name := range []string{"shared_expert_intermediate_size", "shared_intermediate_size"} {
		if f.has(name) {
			return f.countOf(name)
		}
	}
	if strings.HasPrefix(f.modelType(), "llama4") {
		return width // one of the routed experts' width; the config does not count it
	}
	return f.countOf("n_shared_experts") * width
}

// noExperts refuses a model that says in unknown words that it has experts, which would pass for dense.
func (f *fields) noExperts() {
	var names []string
	for _, object := range []map[string]json.RawMessage{f.inner, f.outer} {
		for name := range object {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		word := strings.ToLower(name)
		if (strings.Contains(word, "expert") || strings.HasPrefix(word, "moe_")) && !slices.Contains(expertCounts, name) && f.says(name) {
			f.fail(name, "speaks of experts, but none are counted: want one of %s", strings.Join(expertCounts, ", "))
		}
	}
}

// everyLayer refuses models with experts in some layers only, but for leading dense ones.
func (f *fields) everyLayer() {
	for _, name := range []string{"decoder_sparse_step", "interleave_moe_layer_step", "moe_layer_freq"} {
		if n := f.wholeOr(name, 1); n > 1 {
			f.fail(name, "is %d, want 1: layers with and without experts in turn are not simulated", n)
		}
	}
	if f.says("mlp_only_layers") {
		v, _ := f.raw("mlp_only_layers")
		f.fail("mlp_only_layers", "is %s, want []: dense layers among those with experts are not simulated", cut(v))
	}
}
