package reports

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/seed-2cee110a/triage/sim"
	"github.com/seed-2cee110a/triage/traces"
)

// twoPools is a cluster of a calibrated and an extrapolated pool with blocks of different sizes.
func twoPools() sim.Config {
	cfg := sim.Default()
	big := cfg.Pool("big")
	big.Replicas, big.KVTokens, big.Caps = 1, 3200, []string{"long"}
	small := cfg.Pool("small")
	small.Replicas, small.Model, small.GPU, small.TP, small.KVTokens = 2, "Qwen/Qwen3-8B", "H200", 1, 6400
	small.Engine.BlockSize = 8
	cfg.Pools = []sim.Pool{big, small}
	cfg.DefaultModel, cfg.Needs = "Qwen/Qwen3-8B", []sim.Need{{Tenant: "gold", MinPrompt: 4, Caps: []string{"long"}}}
	return cfg
}

func pooled(t *testing.T) []*sim.Result {
	t.Helper()
	b := traces.NewBuilder(traces.Meta{BlockSize: 8, BlockTail: traces.TailCeil})
	for i, model := range []string{"Qwen/Qwen3-32B", "", "Qwen/Qwen3-32B", "", "", "other"} {
		r := traces.NewRecord()
		r.ArrivalNs, r.Line, r.Model = int64(i)*1e9, int64(i+1), model
		r.PromptTokens, r.OutputTokens, r.Blocks = 32, 3, []int64{1, 2, 3, 4}
		if err := b.Add(r); err != nil {
			t.Fatal(err)
		}
	}
	tr, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	r, err := sim.Run(twoPools(), mustParse(t, "score"), tr)
	if err != nil {
		t.Fatal(err)
	}
	return []*sim.Result{r}
}

// Pools are in every output: the header, JSON by its schema, and what is kept draws the same pictures.
func TestPoolsAreReported(t *testing.T) {
	results := pooled(t)
	c, err := Compare("triage replay x", results...)
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Join(strings.Fields(render(t, c, "table")), " ")
	for _, want := range []string{
		"3 replicas: 1 big of Qwen/Qwen3-32B on 2 x H100, 3,200 KV tokens each; 2 small of Qwen/Qwen3-8B on 1 x H200, 6,400 KV tokens each",
		"big: block-size 16, ", "small: block-size 8, ",
		"cost physical, big calibrated, small extrapolated",
		"can I trust it? big: ", "; small: extrapolated",
		"ask for a model that no pool serves and fail with 503: other (1)",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the text does not say %q:\n%s", want, text)
		}
	}
	if c.Cost.Calibrated {
		t.Error("the cluster counts as calibrated, and one of its pools is not")
	}
	out := render(t, c, "json")
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(out))
	if err != nil {
		t.Fatal(err)
	}
	if err := compiled(t).Validate(doc); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	for _, want := range []string{`"pool": "small"`, `"prompt_tokens_at_least": 4`, `"default_model": "Qwen/Qwen3-8B"`, `"replicas": 3,`} {
		if !strings.Contains(out, want) {
			t.Errorf("the JSON has no %s:\n%s", want, out)
		}
	}
	dir := t.TempDir()
	keep(t, dir, results)
	got, err := ReadGallery(dir)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(gallery(t, results...), got, cmpopts.EquateNaNs()); diff != "" {
		t.Errorf("-made +read\n%s", diff)
	}
	could := []int32{}
	for _, q := range got.Runs[0].Requests {
		could = append(could, q.Could)
	}
	// 31 tokens could hit at most: one block of 16, or three of 8. The last one went nowhere and counts as the first pool's.
	if want := []int32{16, 24, 16, 24, 24, 16}; !cmp.Equal(could, want) {
		t.Errorf("could hit %v, want %v", could, want)
	}
}
