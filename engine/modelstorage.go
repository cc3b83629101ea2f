package engine

import (
	"fmt"
	"slices"
	"strings"
)

// quantizations are the weights that are understood, by quantization_config.quant_method.
var quantizations = []struct {
	method string
	set    func(f *fields, q quantization, m *Model)
}{
	{"compressed-tensors", compressedTensors},
	{"fbgemm_fp8", func(_ *fields, _ quantization, m *Model) { m.Weight = FP8 }},
	{"fp8", func(_ *fields, _ quantization, m *Model) { m.Weight = FP8 }},
	{"modelopt", modelopt},
	{"mxfp4", mxfp4},
}

// quantization is what is read of a quantization_config.
type quantization struct {
	Method string `json:"quant_method"`
	Algo   string `json:"quant_algo"`
	Groups map[string]struct {
		Weights struct {
			Bits int    `json:"num_bits"`
			Type string `json:"type"`
		} `json:"weights"`
	} `json:"config_groups"`
}

// dtypes are the types in which a server loads weights of two bytes. It does so with float32 too.
var dtypes = []string{"bfloat16", "float16", "float32"}

// storage reads how weights are stored.
func (f *fields) storage(m *Model) {
	m.Weight = BF16
	for _, name := range []string{"dtype", "torch_dtype"} {
		if t := strings.TrimPrefix(f.text(name), "torch."); t != "" && !slices.Contains(dtypes, t) {
			f.fail(name, "is %q, have %s", t, strings.Join(dtypes, ", "))
		}
	}
	if !f.has("quantization_config") {
		return
	}
	var q quantization
	f.decode("quantization_config", &q, "an object with quant_method")
	var known []string
	for _, row := range quantizations {
		if row.method == q.Method {
			row.set(f, q, m)
			return
		}
		known = append(known, row.method)
	}
	f.fail("quantization_config", "has the quant_method %q, have %s", q.Method, strings.Join(known, ", "))
}

func compressedTensors(f *fields, q quantization, m *Model) {
	var odd []string
	for name, g := range q.Groups {
		if g.Weights.Bits != 8 || g.Weights.Type != "float" {
			odd = append(odd, fmt.Sprintf("%s has weights of %d bits, type %q", name, g.Weights.Bits, g.Weights.Type))
		}
	}
	slices.Sort(odd)
	switch {
	case len(q.Groups) == 0:
		f.fail("quantization_config", "has no config_groups, want weights of 8 bits, type \"float\"")
	case len(odd) > 0:
		f.fail("quantization_config", "(compressed-tensors): %s, have 8 bits, type \"float\"", odd[0])
	}
	m.Weight = FP8
}

func modelopt(f *fields, q quantization, m *Model) {
	if q.Algo != "FP8" {
		f.fail("quantization_config", "(modelopt) has the quant_algo %q, have FP8", q.Algo)
	}
	m.Weight = FP8
}

// mxfp4 keeps all but the experts in BF16, as servers do.
func mxfp4(f *fields, _ quantization, m *Model) {
	if f.err == nil && m.Experts.N == 0 {
		f.fail("quantization_config", "is mxfp4, which is known for experts, and the model has none")
	}
	m.Experts.Weight = MXFP4
}
