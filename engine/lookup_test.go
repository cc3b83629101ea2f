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
		{"gpu", "H1000", `unknown gpu "H1000": did you mean "H100"? see triage models`},
		{"gpu", "A100", `: did you mean "A100-80GB"? see`},
		{"model", "Qwen3-32B", `: did you mean "Qwen/Qwen3-32B"? see`},
		{"model", "qwen/qwen3-33b", `: did you mean "Qwen/Qwen3-32B"? see`},
		{"model", "llama-3.1-70b-instr", `: did you mean "meta-llama/Llama-3.1-70B-Instruct"? see`},
		{"model", "zzzz", `unknown model "zzzz": see triage models`},
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
