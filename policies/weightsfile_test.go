package policies_test

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/seed-2cee110a/triage/policies"
	"github.com/seed-2cee110a/triage/policies/policytest"
)

func tuned() policies.WeightsFile {
	w := policies.WeightsFile{Config: policies.DefaultScore(), BlockTokens: 64, Chain: "triage-chain/1",
		Provenance: policies.Provenance{Tool: "triage tune", Traces: []string{"sha256:0a"}, Objective: "ttft.p90", Value: 0.91, Regret: math.NaN(),
			Seed: math.MaxUint64, Points: 300, Bounds: []policies.Bound{{Knob: "q", Min: "0.1", Max: "10"}, {Knob: "norm", Min: "work", Max: "absolute"}}}}
	w.Config.Weights.Queue, w.Config.TTL, w.Config.Sent = 0.62, 1500*time.Microsecond, false
	return w
}

func encoded(t testing.TB, w policies.WeightsFile) string {
	t.Helper()
	data, err := w.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// Of several mistakes the first in the order of the file's form is told, every time.
func TestWeightsRefusesInOrder(t *testing.T) {
	text := encoded(t, tuned())
	bad := strings.NewReplacer(`"knob": "q"`, `"knob": 1`, `"min": "0.1"`, `"min": 2`, `"max": "10"`, `"max": 3`).Replace(text)
	const want = "provenance.bounds[0].knob: found 1, want a text"
	for range 50 {
		if _, err := policies.DecodeWeights([]byte(bad)); err == nil || !strings.Contains(err.Error(), want) {
			t.Fatalf("error %v, want %s", err, want)
		}
	}
}

// What is read is what was written, for every setting.
func TestWeightsRoundTrip(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := tuned()
		w.Config = policytest.DrawConfig(rt)
		w.Config.Margin = rapid.Float64Range(0, 1).Draw(rt, "margin")
		w.Config.Weights.TPOT = rapid.Float64Range(0, 1e9).Draw(rt, "tpot")
		w.Config.Stale = time.Duration(rapid.Int64Range(0, 1<<52).Draw(rt, "stale"))
		w.Config.StaleAs = rapid.SampledFrom([]policies.StaleAs{policies.StaleLast, policies.StaleFull}).Draw(rt, "as")
		w.Config.PrefixTokens, w.Config.Owners, w.Config.QueueCap, w.Config.Prefix = 4096, 3, 128, policies.PrefixBucket
		w.Provenance.Objective = rapid.String().Draw(rt, "objective")
		w.Provenance.Value = rapid.Float64Range(-math.MaxFloat64, math.MaxFloat64).Draw(rt, "value")
		text := encoded(t, w)
		back, err := policies.DecodeWeights([]byte(text))
		if err != nil {
			rt.Fatalf("%v in\n%s", err, text)
		}
		if diff := cmp.Diff(w, back, cmpopts.EquateNaNs()); diff != "" {
			rt.Fatalf("read back (-want +got):\n%s\n%s", diff, text)
		}
		if again := encoded(t, back); again != text {
			rt.Fatalf("written again:\n%s\nwant\n%s", again, text)
		}
	})
}

// A knob that the file has no place for would be lost on the way to the live router.
func TestWeightsHoldEveryKnob(t *testing.T) {
	for _, knob := range parse(t, "score").Knobs() {
		if knob.Name == "delay" {
			continue // a simulated feed's, which does not ship
		}
		for _, value := range []string{"0.5", "7", "absolute", "off", "bucket", "3s", "full", "root", "tokens"} {
			spec, err := policies.Parse("score:" + knob.Name + "=" + value)
			if err != nil || spec.Knob(knob.Name) == knob.Value {
				continue
			}
			w := policies.WeightsFile{Config: spec.New().(*policies.Score).Config()}
			if got := policies.SpecOf(w); got.Text != spec.Text || got.Knob(knob.Name) != spec.Knob(knob.Name) {
				t.Errorf("SpecOf has text %q and %s=%s, want %q", got.Text, knob.Name, got.Knob(knob.Name), spec.Text)
			}
			back, err := policies.DecodeWeights([]byte(encoded(t, w)))
			if err != nil || back.Config != w.Config {
				t.Errorf("%s became %+v, error %v", spec.Text, back.Config, err)
			}
		}
	}
}

// White space and order do not matter; what does is told with its place.
func TestWeightsReadAnyLayout(t *testing.T) {
	var all map[string]any
	d := json.NewDecoder(strings.NewReader(encoded(t, tuned())))
	d.UseNumber()
	if err := d.Decode(&all); err != nil {
		t.Fatal(err)
	}
	sorted, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	w, err := policies.DecodeWeights(sorted)
	if err != nil || !w.Equal(tuned()) {
		t.Errorf("the file with sorted names in one line: %+v, error %v", w, err)
	}
}

func TestWeightsRefuses(t *testing.T) {
	text := encoded(t, tuned())
	sum := tuned().Sum()
	for _, tc := range []struct{ name, old, new, want string }{
		{"unknown field", `"aff": 10`, `"aff": 10, "affinty": 2`, `line 6: weights: unknown field "affinty" (have aff, q, `},
		{"unknown object", `"ties"`, `"x": {}, "ties"`, `line 36: unknown field "x" (have schema, policy`},
		{"a path as a name", `"ties"`, `"weights.aff": 1, "ties"`, `unknown field "weights.aff"`},
		{"other case", `"aff"`, `"Aff"`, `line 5: weights: aff is missing`},
		{"twice", `"aff": 10`, `"aff": 10, "aff": 11`, `line 6: weights.aff: given twice, want it once`},
		{"negative", `"aff": 10`, `"aff": -10`, `line 6: weights.aff: found -10, want 0..1e9`},
		{"not a number", `"aff": 10`, `"aff": NaN`, `line 6: invalid character 'N' looking for beginning of value, want one JSON object`},
		{"too large", `"aff": 10`, `"aff": 1e999`, `line 6: weights.aff: found 1e999, want 0..1e9`},
		{"a text", `"aff": 10`, `"aff": "10"`, `line 6: weights.aff: found "10", want 0..1e9`},
		{"null", `"aff": 10`, `"aff": null`, `line 6: weights.aff: found null, want 0..1e9`},
		{"margin", `"margin": 0.05`, `"margin": 1.5`, `filters.margin: found 1.5, want 0..1`},
		{"name", `"work"`, `"wrok"`, `normalise.queue.kind: found "wrok", want `},
		{"switch", `"sent": false`, `"sent": "off"`, `normalise.queue.sent: found "off", want true or false`},
		{"time", `"ttl_ms": 1.5`, `"ttl_ms": -1`, `prefix.ttl_ms: found -1, want milliseconds, at least 0`},
		{"endless time", `"ttl_ms": 1.5`, `"ttl_ms": 1e300`, `prefix.ttl_ms: found 1e300, want milliseconds`},
		{"owners", `"owners": 2`, `"owners": 2.5`, `prefix.owners: found 2.5, want 1..64`},
		{"object", `"sent": false`, `"sent": {}`, `normalise.queue.sent: found an object, want true or false`},
		{"no object", `"schema"`, `"weights": 3, "schema"`, `weights: given twice`},
		{"newer", `weights/1"`, `weights/2"`, `line 2: schema: found "triage/weights/2", written by a newer version; this one reads "triage/weights/1"`},
		{"other schema", `triage/weights/1"`, `triage/replay/v1"`, `line 2: schema: found "triage/replay/v1", want "triage/weights/1"`},
		{"newer policy", `"policy_version": 1`, `"policy_version": 2`, `line 4: policy_version: found 2, written by a newer version; this one knows up to 1`},
		{"other policy", `"score"`, `"random"`, `line 3: policy: found "random", want "score"`},
		{"oracle", `"kind": "index"`, `"kind": "oracle"`, `prefix.kind is "oracle", the truth that only a simulator has; want "index", "bucket" or "events"`},
		{"bound", `"min": "0.1"`, `"mni": "0.1"`, `provenance.bounds[0]: found knob, mni, max, want knob, min and max`},
		{"edited", `"aff": 10`, `"aff": 11`, `sum: found "` + sum},
		{"edited provenance", `"ttft.p90"`, `"ttft.p99"`, `but the content was changed since; if that is meant, write "sha256:`},
		{"cut", "}\n", "", `unexpected end of JSON input, want one JSON object`},
		{"trailing", "\n}\n", "\n}\n{}", `invalid character '{' after top-level value`},
		{"unsigned", ",\n  \"sum\": \"" + sum + `"`, "", `sum is missing; if the content is as you want it, add "sum": "` + sum + `"`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			bad := strings.Replace(text, tc.old, tc.new, 1)
			if tc.name == "cut" {
				bad = text[:len(text)-2]
			}
			if bad == text {
				t.Fatalf("%s is not in\n%s", tc.old, text)
			}
			if _, err := policies.DecodeWeights([]byte(bad)); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %v\nwant  %s", err, tc.want)
			}
		})
	}
	if _, err := policies.DecodeWeights([]byte("[1]")); err == nil || !strings.Contains(err.Error(), "line 1: found an array, want an object") {
		t.Errorf("an array: error %v", err)
	}
}

// A file without the settings that came later is the file with their defaults, of the same bytes and sum.
func TestWeightsOfBefore(t *testing.T) {
	const sum = "sha256:0fe4a04da77bf5ec430a9f755c48cf8e7aad68366de7efd23a9bbaf00e48a1c4" // when there were none
	text := encoded(t, tuned())
	if tuned().Sum() != sum {
		t.Errorf("sum %s, want %s of\n%s", tuned().Sum(), sum, text)
	}
	w := tuned()
	w.Config.HalfLife, w.Config.Others = 10*time.Second, policies.OthersOn
	later := encoded(t, w)
	for _, line := range []string{`"halflife_ms": 10000`, `"others": "on"`} {
		if strings.Contains(text, line) || !strings.Contains(later, line) {
			t.Errorf("want %s in the file only where it is not the default:\n%s", line, later)
		}
	}
	if back, err := policies.DecodeWeights([]byte(later)); err != nil || back.Config != w.Config {
		t.Errorf("read back as %+v, error %v", back.Config, err)
	}
}

// The sum that the error names is the one to write.
func TestWeightsSignedAgain(t *testing.T) {
	edited := strings.Replace(encoded(t, tuned()), `"q": 0.62`, `"q": 0.7`, 1)
	_, err := policies.DecodeWeights([]byte(edited))
	if err == nil {
		t.Fatal("an edited file was taken")
	}
	_, sum, _ := strings.Cut(err.Error(), "write \"")
	edited = strings.Replace(edited, tuned().Sum(), strings.TrimSuffix(sum, `"`), 1)
	w, err := policies.DecodeWeights([]byte(edited))
	if err != nil || w.Config.Weights.Queue != 0.7 {
		t.Errorf("q %v, error %v, want 0.7", w.Config.Weights.Queue, err)
	}
	if !bytes.Equal([]byte(encoded(t, w)), []byte(edited)) {
		t.Errorf("the file signed by hand is not canonical:\n%s", edited)
	}
}

func TestWeightsEncodeRefuses(t *testing.T) {
	for want, spoil := range map[string]func(*policies.WeightsFile){
		`q is "NaN"`:                              func(w *policies.WeightsFile) { w.Config.Weights.Queue = math.NaN() },
		`aff is "+Inf"`:                           func(w *policies.WeightsFile) { w.Config.Weights.Affinity = math.Inf(1) },
		`load is "-1"`:                            func(w *policies.WeightsFile) { w.Config.Weights.Load = -1 },
		`only a simulator has`:                    func(w *policies.WeightsFile) { w.Config.Prefix = policies.PrefixOracle },
		`prefix delay is 1s, that of a`:           func(w *policies.WeightsFile) { w.Config.Delay = time.Second },
		`provenance.value is -Inf`:                func(w *policies.WeightsFile) { w.Provenance.Value = math.Inf(-1) },
		`provenance.regret is -0.5`:               func(w *policies.WeightsFile) { w.Provenance.Regret = -0.5 },
		`provenance.points is -1`:                 func(w *policies.WeightsFile) { w.Provenance.Points = -1 },
		`block_tokens is 0 with chain "`:          func(w *policies.WeightsFile) { w.BlockTokens = 0 },
		`stale has no exact place`:                func(w *policies.WeightsFile) { w.Config.Stale = 1<<60 + 1 },
		`prefix.block_tokens is -1, want 0..2147`: func(w *policies.WeightsFile) { w.BlockTokens = -1 },
	} {
		w := tuned()
		spoil(&w)
		if data, err := w.Encode(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %s\n%s", err, want, data)
		}
	}
}

// No input panics, and what is taken is written the same whatever its layout.
func FuzzDecodeWeights(f *testing.F) {
	f.Add([]byte(encoded(f, tuned())))
	f.Add([]byte(`{"schema":"triage/weights/1"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		w, err := policies.DecodeWeights(data)
		if err != nil {
			return
		}
		again, err := policies.DecodeWeights([]byte(encoded(t, w)))
		if err != nil || !w.Equal(again) {
			t.Errorf("taken, but written it is %+v, error %v", again, err)
		}
	})
}
