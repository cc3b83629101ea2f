package reports

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Every error of a gate file names the place.
func TestGateFileErrors(t *testing.T) {
	for _, test := range []struct{ name, text, want string }{
		{"no version", "gates: []\n", "g.yaml:1:1: version is missing, want version: 1"},
		{"another version", "version: 2\ngates: []\n", "g.yaml:1:10: version is 2, want 1"},
		{"version as text", "version: one\n", `g.yaml:1:10: found "one", want a whole number`},
		{"no gates", "version: 1\n", "g.yaml:1:1: no gates, want at least one"},
		{"gates as a mapping", "version: 1\ngates:\n  a: b\n", "g.yaml:3:"},
		{"unknown key", "version: 1\nbaselines: x\n", `g.yaml:2:1: unknown field "baselines" (have version, baseline, policy`},
		{"unknown key of a gate", "version: 1\ngates:\n  - nam: x\n    expr: y\n", `g.yaml:3:5: unknown field "nam"`},
		{"a list for a text", "version: 1\ngates:\n  - name: x\n    expr: [1]\n", "g.yaml:4:11: found a list, want a text"},
		{"nothing for a text", "version: 1\ngates:\n  - name: x\n    expr:\n", `g.yaml:3:11: gate "x" has no expr`},
		{"text for a switch", "version: 1\nallow_other_trace: maybe\ngates: []\n", `g.yaml:2:20: found "maybe", want true or false`},
		{"no expr", "version: 1\ngates:\n  - name: x\n", `g.yaml:3:11: gate "x" has no expr`},
		{"no name", "version: 1\ngates:\n  - expr: x\n", "g.yaml:3:11: the gate has no name"},
		{"a name twice", "version: 1\ngates:\n  - name: x\n    expr: a\n  - name: x\n    expr: b\n", `g.yaml:5:11: gate "x" has the name of the gate in line 3`},
		{"no YAML", "version: 1\ngates: [\n", "g.yaml:2:"},
		{"a key twice", "version: 1\nversion: 1\n", "g.yaml:2:1: "},
	} {
		_, err := ParseGates("g.yaml", []byte(test.text))
		if err == nil || !strings.HasPrefix(err.Error(), "g.yaml:") || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got %v, want %q", test.name, err, test.want)
		}
	}
}

// kept writes a comparison as a replay does and reads it back.
func kept(t *testing.T, c *Comparison) *Kept {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "result.json"), []byte(render(t, c, "json")), 0o644); err != nil {
		t.Fatal(err)
	}
	k, err := ReadKept(dir)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func gatesOf(t *testing.T, text string) *GateFile {
	t.Helper()
	f, err := ParseGates("g.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// What was kept has the numbers of the run, unknown ones included.
func TestKeptHasTheNumbers(t *testing.T) {
	c := sample(t)
	k := kept(t, c)
	for i, r := range c.Runs {
		want, got := r.Summary.Env(), k.Runs[i].Env()
		for _, name := range []string{"ttft", "tpot", "e2e", "gateway_wait"} {
			for q, v := range want[name].(map[string]any) {
				if w := got[name].(map[string]any)[q]; w != v && known(v.(float64)) {
					t.Errorf("%s: %s.%s is %v, want %v", r.Policy, name, q, w, v)
				}
			}
		}
		for _, name := range []string{"hit_ratio", "imbalance", "requests", "completed", "rejected", "rejected_ratio", "preemptions", "makespan"} {
			if got[name] != want[name] {
				t.Errorf("%s: %s is %v, want %v", r.Policy, name, got[name], want[name])
			}
		}
	}
	if known(k.Runs[0].GatewayWait.P90) {
		t.Errorf("a wait of nobody is %v, want it unknown", k.Runs[0].GatewayWait.P90)
	}
}

func TestKeptErrors(t *testing.T) {
	dir := t.TempDir()
	for _, test := range []struct{ name, text, want string }{
		{"no JSON", "{\n \"schema\": nope}", "result.json:2: invalid character"},
		{"another schema", `{"schema":"triage/tune/v1"}`, `schema is "triage/tune/v1", want "triage/replay/v1"`},
		{"no runs", `{"schema":"triage/replay/v1","runs":[]}`, "no runs"},
	} {
		path := filepath.Join(dir, "result.json")
		if err := os.WriteFile(path, []byte(test.text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadKept(dir); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got %v, want %q", test.name, err, test.want)
		}
	}
	if _, err := ReadKept(filepath.Join(dir, "none")); err == nil || !strings.Contains(err.Error(), "none: no such file") {
		t.Errorf("no folder: %v", err)
	}
}

// A sample of gates: the result has TTFT of 2 s and 0.84 s, the baseline a tenth less.
func checked(t *testing.T, gates string, change ...func(*Comparison)) (*Gated, error) {
	t.Helper()
	base := hand(t, made(t, "round-robin", 1.8, 0.2, 1.1), made(t, "score", 0.75, 0.36, 1.05))
	for _, f := range change {
		f(base)
	}
	f := gatesOf(t, gates)
	g := &Gating{File: f, Result: kept(t, sample(t)), Baseline: kept(t, base), AllowOtherTrace: f.AllowOtherTrace()}
	return g.Check()
}

const head = "version: 1\npolicy: score\ngates:\n"

func TestGateFileVerdicts(t *testing.T) {
	otherTrace := func(c *Comparison) { c.Trace.Digest = "sha256:ffff" }
	refusing := func(c *Comparison) { c.Runs[1].Completed, c.Runs[1].Rejected = 97, 3 }
	for _, test := range []struct {
		name, text string
		want       Verdict
		detail     string
		change     []func(*Comparison)
	}{
		{"absolute", head + "  - {name: a, expr: ttft.mean < 1}\n", Pass, "ttft.mean = 0.84", nil},
		{"absolute fails", head + "  - {name: a, expr: ttft.mean < 0.8}\n", Fail, "ttft.mean = 0.84", nil},
		{"of another policy", head + "  - {name: a, policy: round-robin, expr: ttft.mean < 1}\n", Fail, "ttft.mean = 2", nil},
		{"relative", head + "  - {name: a, expr: ttft.mean <= baseline.ttft.mean * 1.2}\n", Pass, "baseline.ttft.mean = 0.75", nil},
		{"relative fails", head + "  - {name: a, expr: ttft.mean <= baseline.ttft.mean * 1.02}\n", Fail, "baseline.ttft.mean = 0.75", nil},
		{"by labels", "version: 1\ngates:\n  - {name: a, expr: round_robin.ttft.mean > baseline.score.ttft.mean}\n", Pass, "baseline.score.ttft.mean = 0.75", nil},
		{"the trace", head + "  - {name: a, expr: trace.digest == baseline.trace.digest and trace.requests == 100}\n", Pass, "trace.requests = 100", nil},
		{"no outcomes", head + "  - {name: a, expr: 'not regression(\"ttft.mean\", 0.02)'}\n", Inconclusive, "has no outcomes.parquet", nil},
		{"another trace", head + "  - {name: a, expr: ttft.mean < baseline.ttft.mean}\n", Inconclusive, "another trace", []func(*Comparison){otherTrace}},
		{"another trace does not touch the rest", head + "  - {name: a, expr: ttft.mean < 1}\n", Pass, "ttft.mean = 0.84", []func(*Comparison){otherTrace}},
		{"another trace allowed", "allow_other_trace: true\n" + head + "  - {name: a, expr: ttft.mean < baseline.ttft.mean}\n", Fail, "baseline.ttft.mean = 0.75", []func(*Comparison){otherTrace}},
		{"the digest of another trace", head + "  - {name: a, expr: trace.digest != baseline.trace.digest}\n", Pass, "baseline.trace.digest = sha256:ffff", []func(*Comparison){otherTrace}},
		{"uneven work", head + "  - {name: a, expr: ttft.mean > baseline.ttft.mean}\n", Inconclusive, "the run completed 99 of 100 requests and baseline 97 of 100", []func(*Comparison){refusing}},
		{"uneven work by labels", "version: 1\ngates:\n  - {name: a, expr: score.ttft.mean > baseline.score.ttft.mean}\n", Inconclusive, "score completed 99 of 100 requests and baseline.score 97 of 100", []func(*Comparison){refusing}},
		{"a policy the baseline lacks", head + "  - {name: a, policy: piled, expr: ttft.mean < baseline.ttft.mean}\n", Inconclusive, `no policy "piled"`, nil},
	} {
		g, err := checked(t, test.text, test.change...)
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		if r := g.Gates[0]; r.Verdict != test.want || !strings.Contains(r.Detail, test.detail) {
			t.Errorf("%s: %s, %q; want %s, %q", test.name, r.Verdict, r.Detail, test.want, test.detail)
		}
		if other := strings.Contains(test.name, "another trace"); other != strings.Contains(strings.Join(g.Notes, "\n"), "the baseline differs: trace") {
			t.Errorf("%s: notes %q", test.name, g.Notes)
		}
	}
}

// What a gate gets wrong about the result is told with its place in the file.
func TestGateFileExpressionErrors(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{head + "  - name: a\n    expr: tft.mean < 1\n", "g.yaml:5:11: \"tft.mean < 1\", column 1: unknown name tft; did you mean ttft.mean?"},
		{head + "  - name: a\n    policy: scor\n    expr: ttft.mean < 1\n", `g.yaml:5:13: `},
		{head + "  - name: a\n    policy: scor\n    expr: ttft.mean < 1\n", `has no policy "scor" (have round-robin, score, piled; did you mean "score"?)`},
		{head + "  - name: a\n    expr: regression(\"ttft.p59\", 0.02)\n", `g.yaml:5:11: regression knows no metric "ttft.p59"`},
		{head + "  - name: a\n    expr: regression(\"ttft.p50\", -1)\n", "g.yaml:5:11: \"regression(\\\"ttft.p50\\\", -1)\": regression(\"ttft.p50\", -1): want a slack of 0 or more"},
		{head + "  - name: a\n    expr: ttft.p50 < 1 and regression(\"ttft.p50\", 0)\n", "want not regression(...)"},
		{"version: 1\ngates:\n  - name: a\n    expr: ttft.mean < 1\n", "several runs, want LABEL.ttft"},
	} {
		if _, err := checked(t, test.text); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got %v, want %q", test.text, err, test.want)
		}
	}
}

// Without any baseline the names of one are unknown names; with one that is not there yet they are not known.
func TestGateWithoutBaseline(t *testing.T) {
	f := gatesOf(t, head+"  - {name: a, expr: ttft.mean < baseline.ttft.mean}\n")
	g := &Gating{File: f, Result: kept(t, sample(t))}
	if _, err := g.Check(); err == nil || !strings.Contains(err.Error(), "unknown name baseline") {
		t.Errorf("no baseline: %v", err)
	}
	g.Absent = "there is no baseline at x"
	out, err := g.Check()
	if err != nil || out.Gates[0].Verdict != Inconclusive || !strings.Contains(out.Gates[0].Detail, g.Absent) {
		t.Errorf("absent baseline: %+v, %v", out, err)
	}
	for _, expr := range []string{"trace.digest != baseline.trace.digest", "trace.digest == baseline.trace.digest", "trace.requests > baseline.trace.requests"} {
		g.File = gatesOf(t, head+"  - {name: a, expr: "+expr+"}\n")
		if out, err := g.Check(); err != nil || out.Gates[0].Verdict != Inconclusive || !strings.Contains(out.Gates[0].Detail, " is not known: "+g.Absent) {
			t.Errorf("%s: %+v, %v", expr, out.Gates, err)
		}
	}
}
