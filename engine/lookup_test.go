package engine

import (
	"strings"
	"testing"
)

func TestLookup(t *testing.T) {
	for _, name := range Models() {
		if m, err := LookupModel(strings.ToUpper(name)); err != nil || m.Name != name {
			t.Errorf("LookupModel in capitals is %q, %v; want %q", m.Name, err, name)
		}
	}
	for _, name := range GPUs() {
		if g, err := LookupGPU(strings.ToLower(name)); err != nil || g.Name != name {
			t.Errorf("LookupGPU in small letters is %q, %v; want %q", g.Name, err, name)
		}
	}
	for _, c := range []struct {
		kind, name, want string
	}{
		{"gpu", "H1000", `unknown gpu "H1000" (have A10G, `},
		{"gpu", "H1000", `; did you mean "H100"?)`},
		{"gpu", "A100", `; did you mean "A100-80GB"?)`},
		{"model", "Qwen3-32B", `; did you mean "Qwen/Qwen3-32B"?)`},
		{"model", "qwen/qwen3-33b", `; did you mean "Qwen/Qwen3-32B"?)`},
		{"model", "llama-3.1-70b-instr", `; did you mean "meta-llama/Llama-3.1-70B-Instruct"?)`},
		{"model", "zzzz", `, deepseek-ai/DeepSeek-V3)`},
	} {
		_, err := LookupModel(c.name)
		if c.kind == "gpu" {
			_, err = LookupGPU(c.name)
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("looking up %s %q: %v, want ... %s", c.kind, c.name, err, c.want)
		}
	}
}
