package calibrate

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/seed-2cee110a/triage/engine"
)

// Three requests, the second of which failed, as each form has them.
const (
	asCSV = `arrival_s,prompt_tokens,output_tokens,ttft_s,e2e_s
100.5,10,3,0.1,0.3
101,20,4,,
101.5,30,5,0.2,0.6
`
	asMillis = `stage,arrival_us,input_tokens,output_tokens,prompt_id,ttft_ms,e2e_ms
0,500000,10,3,-1,100,300
0,1000000,20,4,-1,,
0,1500000,30,5,-1,200,600
`
	asLines = `{"timestamp": 500, "input_length": 10, "output_length": 3, "ttft_ms": 100, "e2e_ms": 300}
{"timestamp": 1000, "input_length": 20, "output_length": 4, "ttft_ms": null, "e2e_ms": null}

{"timestamp": 1500, "input_length": 30, "output_length": 5, "ttft_ms": 200, "e2e_ms": 600, "more": [1, {}]}
`
	asBench = `{"request_rate": 1.0, "input_lens": [10, 20, 30], "output_lens": [3, 0, 5], "ttfts": [0.1, 0, 0.2], "errors": ["", "timeout", ""],
 "itls": [[0.15, 0.05], [], [0.1, 0.1, 0.1, 0.1]], "start_times": [7.5, 8, 8.5]}`
)

type parquetRow struct {
	ArrivalS     float64  `parquet:"arrival_s"`
	PromptTokens int32    `parquet:"prompt_tokens"`
	OutputTokens int64    `parquet:"output_tokens"`
	TTFT         *float64 `parquet:"ttft_s,optional"`
	E2E          *float64 `parquet:"e2e_s,optional"`
	Other        []int64  `parquet:"other,list"`
}

func asParquet(t *testing.T) string {
	t.Helper()
	f := func(v float64) *float64 { return &v }
	var b bytes.Buffer
	w := parquet.NewGenericWriter[parquetRow](&b)
	if _, err := w.Write([]parquetRow{{0, 10, 3, f(0.1), f(0.3), nil}, {0.5, 20, 4, nil, nil, []int64{1, 2}}, {1, 30, 5, f(0.2), f(0.6), nil}}); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func packed(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// Every form of the same log gives the same requests.
func TestForms(t *testing.T) {
	for name, text := range map[string]string{"csv": asCSV, "milliseconds": asMillis, "lines": asLines, "bench": asBench,
		"parquet": asParquet(t), "gzip": packed(t, asCSV), "with a byte order mark": "\ufeff" + asCSV} {
		l, err := Read("log", []byte(text), ReadOptions{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var got []string
		for _, r := range l.Requests {
			got = append(got, fmt.Sprintf("%v %d/%d %.3f %.3f %.3f", r.At.Duration(), r.Prompt, r.Output, r.TTFT, r.E2E, r.TPOT()))
		}
		want := "0s 10/3 0.100 0.300 0.100, 500ms 20/4 NaN NaN NaN, 1s 30/5 0.200 0.600 0.100"
		if name == "bench" { // what failed is not known to have had an output
			want = "0s 10/3 0.100 0.300 0.100, 1s 30/5 0.200 0.600 0.100"
		}
		if s := strings.Join(got, ", "); s != want {
			t.Errorf("%s: requests are %s, want %s", name, s, want)
		}
		if len(l.Notes) != 1 || !strings.Contains(l.Notes[0], "1 requests failed") {
			t.Errorf("%s: notes are %q, want one of the failed request", name, l.Notes)
		}
	}
}

func TestLogErrors(t *testing.T) {
	edit := func(old, new string) string { return strings.Replace(asCSV, old, new, 1) }
	for _, c := range []struct{ name, text, want string }{
		{"empty", "", "log: the file is empty"},
		{"only a header", "arrival_s,prompt_tokens,output_tokens,ttft_s,e2e_s\n", "log: the log has no requests"},
		{"no output lengths", edit("output_tokens", "x"), "log:1: the log has no output lengths, want a column output_tokens, completion_tokens"},
		{"no TTFT", edit("ttft_s", "x"), "log:1: the log has no times to first token"},
		{"an output length missing", edit("10,3,", "10,,"), "log:2: output_tokens is \"\""},
		{"negative latency", edit("0.3", "-0.3"), `log:2: e2e_s is "-0.3", want a time of at least 0`},
		{"NaN", edit("0.1", "NaN"), `log:2: ttft_s is "NaN", want a time`},
		{"infinite", edit("0.1", "Inf"), `log:2: ttft_s is "Inf", want a time`},
		{"TTFT after E2E", edit("0.1", "0.4"), `log:2: ttft_s is 0.4, more than e2e_s with 0.3`},
		{"half failed", edit("0.3", ""), `log:2: e2e_s is "", want a time, as the other latency has one`},
		{"no prompt", edit("10,3", "0,3"), `log:2: prompt_tokens is "0"`},
		{"half a token", edit("10,3", "10,3.5"), `log:2: output_tokens is "3.5", want a whole number`},
		{"no arrival", edit("100.5", ""), `log:2: arrival_s is ""`},
		{"a row too short", edit("10,3,", ""), "log:2: the row has more or fewer cells"},
		{"a quote", edit("10,3,", "10,\"3,"), "log:2: extraneous or missing"},
		{"a column twice", "arrival_s,arrival_s,prompt_tokens,output_tokens,ttft_s,e2e_s\n0,5,10,3,0.1,0.3\n", "log:1: two columns are called arrival_s"},
		{"a long cell", edit("0.3", "-"+strings.Repeat("3", 1e6)), `333...", want a time`},
		{"no JSON", "{\"timestamp\": 5,\n", "log:1: "},
		{"lines without output", strings.ReplaceAll(asLines, "output_length", "x"), "log:1: the log has no output lengths"},
		{"hits of unknown prompts", "arrival_s,prompt_tokens,output_tokens,ttft_s,e2e_s,hit_tokens\n1,10,3,0.1,0.3,8\n", "the log does not say which prompts are alike"},
		{"bench without details", `{"mean_ttft_ms": 3}`, "want --save-result --save-detailed"},
		{"bench without times", strings.Replace(asBench, "start_times", "x", 1), "no start_times, and its request_rate is 1.0"},
		{"bench that is cut", strings.Replace(asBench, "[0.1, 0, 0.2]", "[0.1]", 1), "have 3, 3, 1, 3 and 3 entries"},
		{"bench with a negative time", strings.Replace(asBench, "0.05", "-0.05", 1), "itls[0][1] is -0.05"},
		{"steps without KV", "prefill_tokens,decode_seqs,seconds\n1,1,1\n", "want it: a step's time says nothing"},
		{"steps of two models", "model,prefill_tokens,decode_seqs,kv_tokens,seconds\na,0,1,1,1\nb,0,1,1,1\n", "log:3: the step is of b"},
		{"an empty step", "prefill_tokens,decode_seqs,kv_tokens,seconds\n0,0,0,1\n", "log:2: the step has neither"},
		{"a step without time", "prefill_tokens,decode_seqs,kv_tokens,step_ms\n0,1,1,0\n", `log:2: step_ms is "0"`},
		{"broken Parquet", "PAR1xxxxPAR1", "log: the Parquet data is broken"},
		{"broken gzip", "\x1f\x8bxxxx", "log: "},
	} {
		_, err := Read("log", []byte(c.text), ReadOptions{})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error is %v, want %q", c.name, err, c.want)
		}
	}
}

// A benchmark that sends as fast as it may says how many were in flight.
func TestBenchAtFullSpeed(t *testing.T) {
	text := strings.Replace(strings.Replace(asBench, "start_times", "x", 1), "1.0", `"inf", "max_concurrency": 2`, 1)
	l, err := Read("log", []byte(text), ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if l.window != 2 || !l.Requests[0].gated || l.Requests[1].At != 0 {
		t.Errorf("window is %d, requests are %+v; want 2, all there from the start", l.window, l.Requests)
	}
}

// Rows of another policy and of other replicas' steps are left out, and that is said.
func TestOthers(t *testing.T) {
	text := "policy,arrival_s,prompt_tokens,output_tokens,ttft_s,e2e_s\na,0,1,2,0.1,0.2\nb,0,3,4,0.1,0.2\n"
	for policy, prompt := range map[string]int32{"": 1, "a": 1, "b": 3} {
		l, err := Read("log", []byte(text), ReadOptions{Policy: policy})
		if err != nil {
			t.Fatal(err)
		}
		if len(l.Requests) != 1 || l.Requests[0].Prompt != prompt || len(l.Notes) != 1 {
			t.Errorf("policy %q: requests are %+v, notes %q; want one with a prompt of %d, and a note", policy, l.Requests, l.Notes, prompt)
		}
	}
	steps := "model,hardware,tp,prefill_tokens,decode_seqs,kv_tokens,step_ms\na,H100,1,0,1,1,5\nb,H100,1,0,2,2,6\na,H100,2,0,2,2,6\n"
	l, err := Read("log", []byte(steps), ReadOptions{Only: Only{"b", "H100", 1}})
	if err != nil {
		t.Fatal(err)
	}
	if len(l.Steps) != 1 || l.Steps[0].Seconds != 0.006 || len(l.Notes) != 1 {
		t.Errorf("steps are %+v, notes %q; want the one of b, and a note", l.Steps, l.Notes)
	}
}

// A driver that keeps eight in flight is found out; a random one is not.
func TestWindow(t *testing.T) {
	held := &Log{Name: "held"}
	for i := range 100 { // one ends and the next is sent, eight at a time: each takes 8 s
		held.Requests = append(held.Requests, Request{At: engine.Time(i) * engine.Second, Prompt: 1, Output: 2, TTFT: 1, E2E: 8})
		held.arrivals = append(held.arrivals, float64(i))
	}
	if err := held.finish(); err != nil {
		t.Fatal(err)
	}
	if held.window != 8 || held.Requests[0].gated || !held.Requests[50].gated {
		t.Errorf("window is %d, request 50 held back: %v; want 8 and true", held.window, held.Requests[50].gated)
	}
	free := traffic(500, 3)
	for i := range free.Requests {
		free.Requests[i].TTFT, free.Requests[i].E2E = 1, 2+float64(i%7)
		free.arrivals = append(free.arrivals, free.Requests[i].At.Seconds())
	}
	if err := free.finish(); err != nil {
		t.Fatal(err)
	}
	if free.window != 0 {
		t.Errorf("window of random arrivals is %d, want none", free.window)
	}
}

// Whatever a log has in it, reading it ends with requests, steps or an error that names it.
func FuzzRead(f *testing.F) {
	for _, text := range []string{asCSV, asMillis, asLines, asBench} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		l, err := Read("log", data, ReadOptions{})
		if err != nil {
			if !strings.HasPrefix(err.Error(), "log") {
				t.Errorf("error %q does not name the log", err)
			}
			return
		}
		for _, r := range l.Requests {
			if r.Prompt < 1 || r.Output < 1 || r.At < 0 || r.TTFT < 0 || r.TTFT > r.E2E {
				t.Errorf("read %+v", r)
			}
		}
	})
}
