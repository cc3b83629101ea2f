package trust

import (
	"testing"

	"github.com/seed-2cee110a/triage/engine"
	"github.com/seed-2cee110a/triage/policies"
	"github.com/seed-2cee110a/triage/sim"
	"github.com/seed-2cee110a/triage/traces"
)

// handTable has dense models on the H100, one of them in the stable regime, and on the B200, where nothing was fitted.
func handTable() *Table {
	row := func(regime, gpu, model string, stages int, ttft, tpot float64) Group {
		return Group{Regime: regime, GPU: gpu, Class: "dense", Model: model, Weights: "bf16", TP: 1, Stages: stages, Prompt: Span{10, 1000}, InFlight: Span{1, 20},
			TTFT: Errors{N: stages, Median: ttft}, TPOT: Errors{N: stages, Median: tpot}}
	}
	t := &Table{Rows: []Group{row("stable", "H100", "Qwen/Qwen3-14B", 3, 0.05, 0.02), row("stable", "H100", "Qwen/Qwen3-8B", 1, 0.05, 0.02),
		row("closed loop", "H100", "Qwen/Qwen3-32B", 9, 0.4, 0.125), row("burst", "B200", "Qwen/Qwen3-14B", 1, 0.3, 0.06)}}
	total := func(of string, g Group) {
		g.Of, g.Weights, g.TP = []string{"regime", of, "gpu"}, "", 0
		t.Totals = append(t.Totals, g)
	}
	for _, g := range t.Rows {
		total("model", g)
	}
	total("class", row("closed loop", "H100", "", 9, 0.4, 0.125))
	total("class", row("stable", "H100", "", 4, 0.05, 0.02))
	total("class", t.Rows[3])
	return t
}

func TestStatements(t *testing.T) {
	for _, test := range []struct {
		name, model, gpu string
		change           func(*sim.Config)
		prompts          []int32
		status           Status
		want             string
	}{
		{"the very model", "Qwen/Qwen3-14B", "H100", nil, []int32{1000}, Calibrated,
			"TTFT within 5.0 % (median), TPOT 2.0 % over 4 measured stages of dense models on H100; this model: TTFT 5.0 %, TPOT 2.0 % over 3"},
		{"a model under another load", "Qwen/Qwen3-32B", "H100", nil, nil, Calibrated,
			"TTFT within 5.0 % (median), TPOT 2.0 % over 4 measured stages of dense models on H100; this model only at constant concurrency: TTFT 40 %, TPOT 12 % over 9"},
		{"another model", "01-ai/Yi-34B", "H100", nil, nil, Calibrated,
			"TTFT within 5.0 % (median), TPOT 2.0 % over 4 measured stages of dense models on H100; this model was not measured there"},
		{"beyond", "Qwen/Qwen3-14B", "H100", func(c *sim.Config) { c.TP, c.CostScale = 2, 1.5 }, []int32{1000, 1001, 2000, 3000}, Calibrated,
			"TTFT within 5.0 % (median), TPOT 2.0 % over 4 measured stages of dense models on H100; beyond them: tp 2, steps scaled by 1.5, 75 % of prompts (over 1,000 tokens); this model: TTFT 5.0 %, TPOT 2.0 % over 3"},
		{"other settings", "nvidia/Llama-3.1-8B-Instruct-FP8", "H100", func(c *sim.Config) { c.Engine.OverheadAfter, c.Engine.AsyncScheduling = 0, false }, []int32{2000}, Calibrated,
			"TTFT within 5.0 % (median), TPOT 2.0 % over 4 measured stages of dense models on H100; beyond them: fp8 weights, server overheads other than measured, async-scheduling off, all prompts (over 1,000 tokens); this model was not measured there"},
		{"measured, not fitted", "Qwen/Qwen3-14B", "B200", nil, nil, Extrapolated,
			"extrapolated, not fitted to this GPU: TTFT within 30 % (median), TPOT 6.0 % over 1 measured stage of dense models on B200 (burst); all are of this model"},
		{"another GPU", "Qwen/Qwen3-14B", "L4", nil, nil, Extrapolated,
			"extrapolated: no dense models were measured on L4; compare policies, do not trust the seconds"},
		{"another class", "deepseek-ai/DeepSeek-V3", "H100", nil, nil, Unknown,
			"not known: no models with latent attention were ever measured; compare policies, do not trust the seconds"},
	} {
		cfg := sim.Default()
		cfg.Model, cfg.GPU, cfg.TP = test.model, test.gpu, 1
		if test.change != nil {
			test.change(&cfg)
		}
		s := handTable().about(cfg, sim.CostNote{Calibrated: test.status == Calibrated}, Use{Prompts: test.prompts})
		if s.Status != test.status || s.Text != test.want {
			t.Errorf("%s: %s, %q\nwant %s, %q", test.name, s.Status, s.Text, test.status, test.want)
		}
	}
}

// Fitted, but measured only where means say little.
func TestFittedWithoutErrors(t *testing.T) {
	cfg := sim.Default()
	s := (&Table{}).about(cfg, sim.CostNote{Calibrated: true}, Use{})
	if want := "not known: step times were fitted, but dense models were measured on H100 under overload only"; s.Status != Calibrated || s.Text != want {
		t.Errorf("%s, %q, want %q", s.Status, s.Text, want)
	}
}

// Of goes by the kind of cost model: the errors here are those of the calibrated one alone.
func TestOf(t *testing.T) {
	note := sim.CostNote{Model: "linear", Calibrated: true, Note: "fitted to mine.csv"}
	for _, test := range []struct {
		cost string
		want Status
	}{{"physical", Calibrated}, {"unit", Aid}, {"mine.yaml", Given}} {
		cfg := sim.Default()
		cfg.Cost = test.cost
		s := Of(cfg, note, Use{})
		if s.Status != test.want || s.Text == "" || (s.Errors != nil) != (test.want == Calibrated) || test.want == Given && s.Text != note.Note {
			t.Errorf("--cost %s: %+v, want %s", test.cost, s, test.want)
		}
	}
}

// A model of a file is looked up by the name of the known model of its shape, if there is one.
func TestOwnOfAFile(t *testing.T) {
	m, err := engine.LookupModel("Qwen/Qwen3-14B")
	if err != nil {
		t.Fatal(err)
	}
	cfg := sim.Default()
	cfg.Model, cfg.TP = "mine", 1
	for registered, own := range map[string]bool{"Qwen/Qwen3-14B": true, "": false} {
		cfg.ModelConfig = &sim.ModelConfig{File: "config.json", Model: m, Registered: registered}
		if s := handTable().about(cfg, sim.CostNote{Calibrated: true}, Use{}); (s.Own != nil) != own {
			t.Errorf("registered as %q: errors of its own %v, want %v", registered, s.Own, own)
		}
	}
}

// Three requests within a step of 1 ms meet, a fourth a second later is alone.
func TestCrowded(t *testing.T) {
	b := traces.NewBuilder(traces.Meta{})
	for i, ms := range []int64{0, 0, 0, 1000} {
		r := traces.NewRecord()
		r.Line, r.ArrivalNs, r.PromptTokens, r.OutputTokens = int64(i+1), ms*1e6, 30, 4
		if err := b.Add(r); err != nil {
			t.Fatal(err)
		}
	}
	tr, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	cfg := sim.Default()
	cfg.Cost, cfg.Replicas = "unit", 1
	spec, err := policies.Parse("round-robin")
	if err != nil {
		t.Fatal(err)
	}
	r, err := sim.Run(cfg, spec, tr)
	if err != nil {
		t.Fatal(err)
	}
	for most, want := range map[int]float64{0: 1, 1: 0.5, 2: 0.25, 3: 0, 9: 0} {
		if got := (Use{Results: []*sim.Result{r}}).crowded(most); got != want {
			t.Errorf("%v of requests come where more than %d are in flight, want %v", got, most, want)
		}
	}
}

func TestOver(t *testing.T) {
	for _, test := range []struct {
		sent, finish []engine.Time
		most, want   int
	}{
		{nil, nil, 0, 0},
		{[]engine.Time{0, 5}, []engine.Time{5, 9}, 1, 0},
		{[]engine.Time{0, 4, 6}, []engine.Time{5, 7, 9}, 1, 2},
		{[]engine.Time{0, 1, 2, 3}, []engine.Time{9, 9, 9, 9}, 2, 2},
	} {
		if got := over(test.sent, test.finish, test.most); got != test.want {
			t.Errorf("%v to %v: %d with more than %d in flight, want %d", test.sent, test.finish, got, test.most, test.want)
		}
	}
}

func TestShare(t *testing.T) {
	for v, want := range map[float64]string{1: "all prompts", 0.9999: ">99 % of prompts", 0.5: "50 % of prompts", 0.0001: "<1 % of prompts"} {
		if got := share(v, "prompts"); got != want {
			t.Errorf("share %v is %q, want %q", v, got, want)
		}
	}
}
