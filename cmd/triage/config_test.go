package main

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/seed-2cee110a/triage/engine"
	"github.com/seed-2cee110a/triage/sim"
)

// compiledSchema is what triage config schema prints, made ready to validate with.
func compiledSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	var printed bytes.Buffer
	if err := writeJSON(&printed, clusterSchema()); err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(&printed)
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("cluster.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("cluster.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// follows says what the schema has against a YAML text.
func follows(t *testing.T, s *jsonschema.Schema, text string) error {
	t.Helper()
	data, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return s.Validate(doc)
}

// commentedKey is a line of the example that has a key in a comment.
var commentedKey = regexp.MustCompile(`^( *)# ( *(?:- )?\{?[a-z_]+:.*)$`)

// uncommented is the example with the keys that stand in comments, but those of which a file can have one only.
func uncommented() string {
	var out []string
	for _, line := range strings.Split(string(exampleCluster), "\n") {
		if m := commentedKey.FindStringSubmatch(line); m != nil {
			line = m[1] + m[2]
		}
		if line == "faults: []" {
			line = "faults:"
		}
		if !strings.Contains(line, "model_config: ") && !strings.Contains(line, "num_gpu_blocks_override: ") && !strings.Contains(line, "  replicas: 8 ") {
			out = append(out, line)
		}
	}
	return strings.Join(out, "\n")
}

// The example is valid, whole and with its comments made keys; it shows every key that there is.
func TestExampleCluster(t *testing.T) {
	schema := compiledSchema(t)
	for _, text := range []string{string(exampleCluster), uncommented()} {
		if err := follows(t, schema, text); err != nil {
			t.Errorf("the schema refuses\n%s\n%v", text, err)
		}
		f, err := parseCluster("cluster.yaml", []byte(text))
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		cfg := sim.Default()
		if err := f.into(&cfg, nil); err != nil {
			t.Errorf("%v\n%s", err, text)
		}
	}
	for _, k := range slices.Concat([]key{replicasKey}, poolKeys, engineKeys, gatewayKeys, topKeys) {
		if !strings.Contains(string(exampleCluster), k.name+":") {
			t.Errorf("the example does not show %s", k.name)
		}
	}
	for _, s := range sectionOrder {
		if !strings.Contains("\n"+string(exampleCluster), "\n"+s+":") && !strings.Contains(string(exampleCluster), "# "+s+":") {
			t.Errorf("the example does not show %s", s)
		}
	}
}

// The cluster file in the README is valid.
func TestReadmeCluster(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Skip(err)
	}
	_, text, ok := strings.Cut(string(readme), "```yaml\ndefaults:")
	text, _, closed := strings.Cut("defaults:"+text, "```")
	if !ok || !closed {
		t.Fatal("the README shows no cluster file")
	}
	if err := follows(t, compiledSchema(t), text); err != nil {
		t.Error(err)
	}
	f, err := parseCluster("README.md", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	cfg := sim.Default()
	if err := f.into(&cfg, nil); err != nil {
		t.Error(err)
	}
}

// A model's config.json is looked for beside the cluster file; a model beside it is what to call it, in any order.
func TestClusterFileWithAModelConfig(t *testing.T) {
	dir := t.TempDir()
	const shape = `{"architectures":["LlamaForCausalLM"],"hidden_size":4096,"intermediate_size":14336,"max_position_embeddings":8192,"model_type":"llama",
		"num_attention_heads":32,"num_hidden_layers":32,"num_key_value_heads":8,"torch_dtype":"bfloat16","vocab_size":32000,"_name_or_path":"x/mine"}`
	name := filepath.Join(dir, "cluster.yaml")
	for _, c := range []struct{ pool, model string }{
		{"model_config: config.json", "x/mine"}, {"model_config: config.json, model: ours", "ours"}, {"model: ours, model_config: config.json", "ours"},
	} {
		text := "defaults: {model: Qwen/Qwen3-8B, tp: 1}\npools:\n  - {name: a, replicas: 1, " + c.pool + "}\n"
		for file, text := range map[string]string{name: text, filepath.Join(dir, "config.json"): shape} {
			if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		f, err := readCluster(name)
		if err != nil {
			t.Fatal(err)
		}
		cfg := sim.Default()
		if err := f.into(&cfg, nil); err != nil {
			t.Fatal(err)
		}
		if p := cfg.Pools[0]; p.ModelConfig == nil || p.Model != c.model || p.ModelConfig.Model.Layers != 32 {
			t.Errorf("%s: model %q of %+v, want %q", c.pool, p.Model, p.ModelConfig, c.model)
		}
	}
}

// Where the reader refuses a file for what it says, so does the schema.
func TestSchemaAndReaderRefuseTheSame(t *testing.T) {
	schema := compiledSchema(t)
	for _, c := range []struct{ text, err string }{
		{"pool: []", `"pool"`},
		{"pools:\n  - name: a\n    replica: 4", `did you mean "replicas"`},
		{"engine:\n  max_num_seq: 4", `did you mean "max_num_seqs"`},
		{"pools:\n  - {name: a, replicas: four}", "want a whole number"},
		{"pools:\n  - {name: a, replicas: 4, tp: -1}", "want a whole number"},
		{"pools:\n  - {replicas: 4}", "no name"},
		{"pools:\n  - {name: a}", "how many replicas"},
		{"gateway: {deadline: 30}", "no unit"},
		{"gateway: {deadline: soon}", "want a duration"},
		{"engine: {async_scheduling: maybe}", "want true or false"},
		{"engine: {watermark: much}", "want a number"},
		{"signals: {scrape: 5}", "with its unit"},
		{"signals: dead", "want live"},
		{"sessions: ajar", "have open, closed"},
		{"on_crash: retyr", `did you mean "retry"`},
		{"pools:\n  - {name: a, replicas: 1}\nneeds:\n  - {tenant: b}", "no caps"},
		{"pools:\n  - {name: a, replicas: 1}\nfaults:\n  - {at: 1s, replica: a-0, do: slow}", "slow has a factor"},
		{"pools:\n  - {name: a, replicas: 1}\nfaults:\n  - {at: 1s, replica: a-0, do: crash, factor: 2}", "slow has a factor"},
		{"pools:\n  - {name: a, replicas: 1}\nfaults:\n  - {replica: a-0, do: crash}", "lacks one of"},
	} {
		if follows(t, schema, c.text) == nil {
			t.Errorf("the schema accepts\n%s", c.text)
		}
		f, err := parseCluster("c.yaml", []byte(c.text))
		if err == nil {
			cfg := sim.Default()
			err = f.into(&cfg, nil)
		}
		if err == nil || !strings.HasPrefix(err.Error(), "c.yaml:") || !strings.Contains(err.Error(), c.err) || !strings.Contains(err.Error(), "^") {
			t.Errorf("%s\ngives error %v, want one with place, line and %q", c.text, err, c.err)
		}
	}
}

// What is wrong only beside the rest of the file has a place, too.
func TestClusterFilePlaces(t *testing.T) {
	const pools = "pools:\n  - name: a\n    replicas: 2\n"
	for _, c := range []struct{ text, err string }{
		{pools + "think: 48h", "c.yaml:4:8: think is 48h"},
		{pools + "gateway:\n  deadline: 48h", "c.yaml:5:13: gateway.deadline is 48h"},
		{pools + "default_model: x", `c.yaml:4:16: default_model is "x", and no pool serves it`},
		{pools + "    gpu: H10", `c.yaml:4:10: pool a: unknown gpu "H10"`},
		{pools + "    engine:\n      block_size: 0", "c.yaml:5:19: pool a: block_size is 0"},
		{pools + "  - name: a\n    replicas: 1", `c.yaml:4:11: two pools are called "a"`},
		{pools + "needs:\n  - caps: [x]", `c.yaml:5:5: needs[0] asks for the capability "x"`},
		{pools + "faults:\n  - {at: 1s, replica: a-2, do: crash}", `c.yaml:5:23: unknown replica "a-2" (have a-0, a-1;`},
		{pools + "faults:\n  - {at: 1s, replica: a-1, do: restart}", "c.yaml:5:5: faults: a-1 restarts without a crash"},
		{pools + "faults:\n  - {at: 1s, replica: a-1, do: slow, factor: 1e3}", "c.yaml:5:5: faults[0]: factor is 1000"},
		{"needs:\n  - caps: [x]", "c.yaml:2:5: needs says nothing without pools"},
		{"max-num-seqs: 3", `c.yaml:1:1: unknown key of the file "max-num-seqs": max_num_seqs is a key of engine`},
		{"a: 1\n b: 2", "c.yaml:1:4: mapping value is not allowed"},
		{"engine: {block_size: *x}", "c.yaml:1:22: anchors and aliases are not read"},
		{"defaults: {gpu: &x H100}", "c.yaml:1:17: anchors and aliases are not read"},
		{"defaults: {tp: !!str 2}", "c.yaml:1:16: tags such as !!str are not read"},
		{"defaults: {replicas: 1000000000}", "c.yaml:1:22: replicas is 1000000000, want 1 to 4096"},
		{"defaults: {gpu: H10}", `c.yaml:1:17: unknown gpu "H10"`},
		{"defaults: {gpu_memory_utilization: 2}", "c.yaml:1:36: gpu_memory_utilization is 2"},
		{"engine: {block_size: 1000000000}", "c.yaml:1:22: block_size is 1000000000, want 1 to 4096"},
		{"\ufeffengine: {block_size: 0}", "c.yaml:1:22: block_size is 0"},
		{`pools: [{name: "a\e[31m", replicas: 1}]`, `c.yaml:1:16: pools[0].name is "a\x1b[31m"`},
	} {
		f, err := parseCluster("c.yaml", []byte(c.text))
		if err == nil {
			cfg := sim.Default()
			err = f.into(&cfg, nil)
		}
		if err == nil || !strings.HasPrefix(err.Error(), c.err) {
			t.Errorf("%s\ngives error %v, want %s", c.text, err, c.err)
		}
	}
}

// An error shows what is around its place, however long the line.
func TestClusterFileWithALongLine(t *testing.T) {
	_, err := parseCluster("c.yaml", []byte("defaults: {gpu: "+strings.Repeat("é", 5000)+", bogus: 1, tp: 2}"))
	if err == nil || len(err.Error()) > 1000 || !strings.HasPrefix(err.Error(), "c.yaml:1:5019: unknown key") || !strings.Contains(err.Error(), "bogus: 1, tp: 2}\n") {
		t.Errorf("error is %.3000v, want a short one that shows the key", err)
	}
}

// A flag that goes before the file is not blamed on it.
func TestClusterFilePlacesWithFlags(t *testing.T) {
	f, err := parseCluster("c.yaml", []byte("defaults: {replicas: 4}"))
	if err != nil {
		t.Fatal(err)
	}
	cfg := sim.Default()
	cfg.Replicas = 5000
	err = f.into(&cfg, map[string]string{"replicas": "5000"})
	if err == nil || !strings.HasPrefix(err.Error(), "c.yaml: replicas is 5000") {
		t.Errorf("error is %v, want one without a place in the file", err)
	}
}

// Every value reaches the place that it is meant for.
func TestClusterFileMeansWhatItSays(t *testing.T) {
	text := `
defaults: {gpu: A100-80GB, tp: 1, model: Qwen/Qwen3-8B, kv_tokens: 64000, cost_scale: 2}
engine: {block_size: 32, max_num_seqs: 1e2, overhead_before: 3ms, max_loras: 8, adapter_load_time: 500ms, mixed_adapters: 1.5}
pools:
  - {name: a, replicas: 2, caps: [x, y]}
  - name: b
    replicas: 1
    gpu: H100
    num_gpu_blocks_override: 1000
    serves: [chat]
    engine: {block_size: 16, async_scheduling: false}
default_model: chat
needs: [{tenant: gold, prompt_tokens_at_least: 5, caps: [x]}]
gateway: {deadline: 5s, max_queue: 7}
signals: {scrape: 2s}
faults: [{at: 600s, replica: b-0, do: slow, factor: 1.5}]
on_crash: fail
detect: 3s
sessions: closed
think: 4s
`
	f, err := parseCluster("c.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	got := sim.Default()
	if err := f.into(&got, nil); err != nil {
		t.Fatal(err)
	}
	want := sim.Default()
	a := want.Pool("a")
	a.Replicas, a.GPU, a.TP, a.Model, a.KVTokens, a.CostScale, a.Caps = 2, "A100-80GB", 1, "Qwen/Qwen3-8B", 64000, 2, []string{"x", "y"}
	e := &a.Engine
	e.BlockSize, e.MaxNumSeqs, e.OverheadBefore = 32, 100, 3*engine.Millisecond
	e.MaxLoRAs, e.AdapterLoadTime, e.MixedAdapters = 8, 500*engine.Millisecond, 1.5
	b := a
	b.Name, b.Replicas, b.GPU, b.KVTokens, b.BlocksOverride, b.Serves, b.Caps = "b", 1, "H100", 0, 1000, []string{"chat"}, nil
	b.Engine.BlockSize, b.Engine.AsyncScheduling = 16, false
	want.Pools, want.DefaultModel = []sim.Pool{a, b}, "chat"
	want.Needs = []sim.Need{{Tenant: "gold", MinPrompt: 5, Caps: []string{"x"}}}
	want.Gateway, want.Signals = sim.Gateway{MaxQueue: 7, Deadline: 5 * time.Second}, sim.Signals{Scrape: 2 * time.Second}
	want.Faults = []sim.Fault{{At: 10 * time.Minute, Replica: "b-0", Do: sim.Slow, Factor: 1.5}}
	want.OnCrash, want.Detect, want.Sessions, want.Think = sim.GiveUp, 3*time.Second, sim.Closed, 4*time.Second
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("configuration (-want +got):\n%s", diff)
	}
}

// Flags go before defaults and engine, and of a pool that is alone before what it says itself. What is not clear is refused.
func TestFlagsGoBeforeTheFile(t *testing.T) {
	const two = "defaults: {gpu: L4, model: Qwen/Qwen3-8B, kv_tokens: 9999}\npools:\n  - {name: a, replicas: 1, tp: 1}\n  - {name: b, replicas: 2, kv_tokens: 5000}\n"
	for _, c := range []struct {
		name, text, flags, err string
		right                  func(*sim.Config) bool
	}{
		{"a default of two", two, "--gpu H100", "", func(c *sim.Config) bool {
			a, b := c.Pools[0], c.Pools[1]
			return a.GPU == "H100" && b.GPU == "H100" && a.KVTokens == 9999 && b.KVTokens == 5000 && a.TP == 1 && b.TP == 2
		}},
		{"what one of two says", two, "--tp 4", "--tp is ambiguous: in c.yaml pool a says its own", nil},
		{"what both say", two, "--replicas 4", "each of the pools a, b says its own", nil},
		{"the rival of what one says", two, "--num-gpu-blocks-override 100", "pool b says its own", nil},
		{"one pool", "pools:\n  - {name: a, replicas: 3, gpu: L4, kv_tokens: 3200}\n", "--replicas 5 --gpu H100 --num-gpu-blocks-override 100", "",
			func(c *sim.Config) bool {
				a := c.Pools[0]
				return a.Replicas == 5 && a.GPU == "H100" && a.KVTokens == 0 && a.BlocksOverride == 100
			}},
		{"no pools", "defaults: {replicas: 3, gpu: L4, num_gpu_blocks_override: 44}\n", "--gpu H100 --kv-tokens 3200", "",
			func(c *sim.Config) bool {
				return c.Replicas == 3 && c.GPU == "H100" && c.KVTokens == 3200 && c.BlocksOverride == 0 && len(c.Pools) == 0
			}},
		{"the gateway", "gateway: {max_queue: 5, deadline: 2s}\n", "--gateway-queue 9", "",
			func(c *sim.Config) bool {
				return reflect.DeepEqual(c.Gateway, sim.Gateway{MaxQueue: 9, Deadline: 2 * time.Second})
			}},
	} {
		cfg := sim.Default()
		flags := fileFlags(&cfg)
		if err := flags.Parse(strings.Fields(c.flags)); err != nil {
			t.Fatal(err)
		}
		f, err := parseCluster("c.yaml", []byte(c.text))
		if err == nil {
			err = f.into(&cfg, given(flags))
		}
		switch {
		case c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)):
			t.Errorf("%s: error %v, want %q", c.name, err, c.err)
		case c.err == "" && err != nil:
			t.Errorf("%s: %v", c.name, err)
		case c.err == "" && !c.right(&cfg):
			t.Errorf("%s, %s: %+v", c.name, c.flags, cfg)
		}
	}
}
