package sim

import (
	"strings"
	"testing"

	"github.com/seed-2cee110a/triage/engine"
)

const linearFile = `kind: linear
linear:
  per_step_us: 9000
  per_prefill_token_us: 40
  per_context_token_ns: 1.6
  per_decode_us: 20
  per_kv_token_ns: 55
overhead: {before_ms: 5, after_ms: 0.5}
`

func TestCostFileLinear(t *testing.T) {
	f, err := ParseCostFile("c.yaml", []byte(linearFile))
	if err != nil {
		t.Fatal(err)
	}
	cfg := Default()
	f.Apply(&cfg, false, true)
	hw, err := cfg.hardware()
	if err != nil {
		t.Fatal(err)
	}
	// 9,000 us + 3 * 20 us + 100 * 55 ns + 10 * 40 us + 50 * 1.6 ns
	b := engine.Batch{Decode: 3, KVTokens: 100, PrefillTokens: 10, PrefillSeqs: 1, PrefillContext: 50}
	if got, want := hw.cost.Step(b), 9465580*engine.Nanosecond; got != want {
		t.Errorf("step takes %d ps, want %d", got, want)
	}
	e := hw.cfg.Engine
	if e.OverheadBefore != 5*engine.Millisecond || e.OverheadAfter != engine.Default().OverheadAfter {
		t.Errorf("overheads are %v and %v, want the file's 5ms and, as asked, the default", e.OverheadBefore.Duration(), e.OverheadAfter.Duration())
	}
	if hw.note.Calibrated || !strings.Contains(hw.note.Note, "does not say") {
		t.Errorf("note is %+v, want one that a file written by hand is not calibrated", hw.note)
	}
}

func TestCostFileTable(t *testing.T) {
	f, err := ParseCostFile("t.yaml", []byte(`kind: table
steps:
- {decode_seqs: 1, kv_tokens: 10, seconds: 0.010}
- {decode_seqs: 3, kv_tokens: 10, seconds: 0.014}
- {prefill_tokens: 100, seconds: 0.015}
`))
	if err != nil {
		t.Fatal(err)
	}
	cfg := Default()
	f.Apply(&cfg, false, false)
	hw, err := cfg.hardware()
	if err != nil {
		t.Fatal(err)
	}
	// Between 10 and 14 ms, and half of what 100 prefill tokens add.
	b := engine.Batch{Decode: 2, KVTokens: 10, PrefillTokens: 50, PrefillSeqs: 1}
	if got, want := hw.cost.Step(b), 14500*engine.Microsecond; got != want {
		t.Errorf("step takes %d ps, want %d", got, want)
	}
}

func TestCostFileCalibrated(t *testing.T) {
	f, err := ParseCostFile("c.yaml", []byte(linearFile+`calibration:
  source: log.csv
  sha256: 0123456789abcdef
  what: requests
  in_log: 200
  fitted: 90
  held_out: 100
  held_out_errors:
  - {metric: TTFT, mean_abs: 0.09, median_abs: 0.05, of_mean: -0.01}
`))
	if err != nil {
		t.Fatal(err)
	}
	n := f.note()
	want := "fitted to 90 of 200 requests of log.csv (sha256 01234567); median error on the 100 held out: TTFT 5.0 %"
	if !n.Calibrated || n.Note != want || n.Source != "log.csv" || len(n.HeldOut) != 1 {
		t.Errorf("note is %+v, want %q", n, want)
	}
}

func TestCostFileOfOthers(t *testing.T) {
	f, err := ParseCostFile("c.yaml", []byte("kind: physical\nfor: {model: Qwen/Qwen3-14B, gpu: H100, tp: 1}\nphysical: {step: 2, batch: 2, kv: 2, prefill: 2}\n"))
	if err != nil {
		t.Fatal(err)
	}
	cfg := Default()
	f.Apply(&cfg, false, false)
	_, err = cfg.hardware()
	if err == nil || !strings.Contains(err.Error(), "want --model Qwen/Qwen3-14B --gpu H100 --tp 1") {
		t.Errorf("error is %v, want what replicas the file is for", err)
	}
	cfg.Model, cfg.TP = "Qwen/Qwen3-14B", 1
	hw, err := cfg.hardware()
	if err != nil {
		t.Fatal(err)
	}
	plain := cfg
	plain.Cost, plain.CostFile = "physical", nil
	of, err := plain.hardware()
	if err != nil {
		t.Fatal(err)
	}
	b := engine.Batch{Decode: 4, KVTokens: 4000}
	if got, want := hw.cost.Step(b), 2*of.cost.Step(b); got != want {
		t.Errorf("step by factors of 2 takes %d, want %d", got, want)
	}
}

func TestCostFileErrors(t *testing.T) {
	edit := func(old, new string) string { return strings.Replace(linearFile, old, new, 1) }
	for _, c := range []struct{ name, text, want string }{
		{"empty", "", `c.yaml: kind is missing, want one of linear, physical, table`},
		{"no kind", edit("kind: linear\n", ""), `kind is missing`},
		{"unknown kind", edit("kind: linear", "kind: linar"), `c.yaml:1:7: kind is "linar", want one of linear, physical, table`},
		{"unknown key", edit("per_kv_token_ns", "per_kv_tokn_ns"), `c.yaml:7:3: unknown key "per_kv_tokn_ns", did you mean "per_kv_token_ns"?`},
		{"strange key", edit("overhead", "zzz"), `c.yaml:8:1: unknown key "zzz", have kind`},
		{"negative", edit("9000", "-1"), `c.yaml:3:16: linear.per_step_us is -1, want 0.001 to 1e+09`},
		{"not a number", edit("55", ".nan"), `c.yaml:7:20: linear.per_kv_token_ns is NaN`},
		{"text", edit("55", "much"), `c.yaml:7:20:`},
		{"two documents", linearFile + "---\n" + linearFile, `c.yaml: 2 documents, want one`},
		{"a byte order mark", "\ufeff" + edit("9000", "-1"), `c.yaml:3:16: linear.per_step_us is -1`},
		{"two kinds", linearFile + "steps: [{decode_seqs: 1, seconds: 1}]\n", `steps is there, and kind is linear`},
		{"missing part", "kind: table\n", `steps is missing or empty, and kind table needs it`},
		{"factors of what", "kind: physical\nphysical: {step: 1}\n", `for is missing`},
		{"overhead", edit("before_ms: 5", "before_ms: 1e9"), `overhead.before_ms is 1e+09`},
		{"a table without decoding", "kind: table\nsteps: [{prefill_tokens: 5, seconds: 1}]\n", `no step of decoding sequences alone`},
		{"a step without time", "kind: table\nsteps: [{decode_seqs: 5, seconds: 0}]\n", `step 1: it took 0 s`},
	} {
		_, err := ParseCostFile("c.yaml", []byte(c.text))
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "c.yaml:") {
			t.Errorf("%s: error is %v, want %q", c.name, err, c.want)
		}
	}
}

// Whatever a file has in it, reading it ends with a cost model or an error that names the file.
func FuzzParseCostFile(f *testing.F) {
	f.Add([]byte(linearFile))
	f.Add([]byte("kind: table\nsteps: [{decode_seqs: 1, kv_tokens: 4, seconds: 1}]\n"))
	f.Add([]byte("kind: physical\nfor: {model: x, gpu: H100, tp: 1}\nphysical: {step: 1}\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := ParseCostFile("c.yaml", data)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "c.yaml:") {
				t.Errorf("error %q does not name the file", err)
			}
			return
		}
		cfg := Default()
		if c.For != nil {
			cfg.Model, cfg.GPU, cfg.TP = c.For.Model, c.For.GPU, c.For.TP
		}
		c.Apply(&cfg, false, false)
		hw, err := cfg.hardware()
		if err == nil && hw.cost.Step(engine.Batch{Decode: 1, KVTokens: 1}) < 1 {
			t.Errorf("a step of %+v takes no time", c)
		}
	})
}
