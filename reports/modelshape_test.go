package reports

import (
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/seed-2cee110a/triage/engine"
	"github.com/seed-2cee110a/triage/sim"
)

// Every kind of model that a file can describe follows the schema, and the digest of the manifest tells shapes apart.
func TestModelConfigFollowsTheSchema(t *testing.T) {
	digests := map[string]string{}
	for _, name := range []string{"meta-llama/Llama-3.1-8B", "Qwen/Qwen3-30B-A3B", "openai/gpt-oss-120b", "deepseek-ai/DeepSeek-V3"} {
		m, err := engine.LookupModel(name)
		if err != nil {
			t.Fatal(err)
		}
		c := sample(t)
		c.Config.ModelConfig = &sim.ModelConfig{File: "m.json", Model: m}
		doc, err := jsonschema.UnmarshalJSON(strings.NewReader(render(t, c, "json")))
		if err != nil {
			t.Fatal(err)
		}
		if err := compiled(t).Validate(doc); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		man, err := NewManifest(c, Tool{}, Volatile{})
		if err != nil {
			t.Fatal(err)
		}
		if other, ok := digests[man.Digest]; ok {
			t.Errorf("%s has the digest of %s", name, other)
		}
		digests[man.Digest] = name
	}
}
