package calibrate

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/seed-2cee110a/triage/engine"
	"github.com/seed-2cee110a/triage/sim"
)

// told is a log of a linear server with the coefficients, of requests that change makes of random ones.
func told(t *testing.T, n int, change func(i int, r *Request)) *Log {
	t.Helper()
	truth := []float64{9000, 40, 2.5, 60, 45, 6}
	l := traffic(n, 11)
	for i := range l.Requests {
		change(i, &l.Requests[i])
	}
	l.answer(t, linear(linearOf(truth), false, 0), truth, 0.03, 11)
	return l
}

func TestRefusals(t *testing.T) {
	same := func(int, *Request) {}
	for _, c := range []struct {
		name string
		log  *Log
		s    Settings
		want string
	}{
		{"too few", told(t, 80, same), Settings{}, "want at least 60"},
		{"one token each", told(t, 400, func(_ int, r *Request) { r.Output = 1 }), Settings{}, "no output has more than one token"},
		{"all prompts alike", told(t, 1500, func(_ int, r *Request) { r.Prompt = 500 }), Settings{}, "the log does not determine"},
		{"nobody beside", told(t, 400, func(i int, r *Request) { r.At = engine.Time(i) * 60 * engine.Second }), Settings{}, "hardly varies"},
		{"replicas not named", told(t, 400, same), Settings{Replicas: 3}, "does not say which of 3 replicas"},
	} {
		c.s.Engine, c.s.Fit, c.s.HoldOut = testEngine(), "linear", 0.5
		_, err := Run(context.Background(), c.log, c.s)
		var r Refusal
		if !errors.As(err, &r) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error is %v, want a refusal with %q", c.name, err, c.want)
		}
	}
}

// What a log does not tell stays as it was given or as the registry has it, and that is written down.
func TestKept(t *testing.T) {
	l := told(t, 3000, func(_ int, r *Request) { r.Prompt = 500 })
	s := Settings{Engine: testEngine(), Fit: "linear", HoldOut: 0.5, Fix: map[string]float64{"per_prefill_token_us": 40, "per_context_token_ns": 2.5, "per_kv_token_ns": 45}}
	r, err := Run(context.Background(), l, s)
	if err != nil {
		t.Fatal(err)
	}
	if c := r.Coefficients[1]; c.Value != 40 || c.Kept != "given" {
		t.Errorf("per_prefill_token_us is %+v, want 40 as given", c)
	}
	if got := strings.Join(r.File.Calibration.Kept, " "); !strings.Contains(got, "per_prefill_token_us per_context_token_ns per_kv_token_ns") {
		t.Errorf("the file keeps %q, want what was given", got)
	}
	for i, want := range map[int]float64{0: 9000, 3: 60} {
		if c := r.Coefficients[i]; !(c.Low <= want && want <= c.High) {
			t.Errorf("%s is %v [%v, %v], want %v", c.Name, c.Value, c.Low, c.High, want)
		}
	}
	s.Fix = map[string]float64{"per_nothing": 1}
	if _, err := Run(context.Background(), l, s); err == nil || !strings.Contains(err.Error(), "have per_step_us, ") {
		t.Errorf("error is %v, want the names of the coefficients", err)
	}
}

// A server faster than its hardware was not measured on it.
func TestImpossible(t *testing.T) {
	l := &Log{Name: "steps.csv", SHA256: "00"}
	for i := range 200 {
		b := engine.Batch{Decode: 1 + i%20, KVTokens: int64(1+i%20) * int64(100+i%37)}
		l.Steps = append(l.Steps, Step{Batch: b, Seconds: 0.003 + 1e-4*float64(b.Decode) + 1e-7*float64(b.KVTokens)})
	}
	s := known(t, "linear")
	if _, err := Run(context.Background(), l, s); err == nil || !strings.Contains(err.Error(), "200 of 200 steps or output tokens took less than") {
		t.Errorf("error is %v, want one that 3 ms are too short for 14 billion parameters", err)
	}
}

// known is Qwen3-14B on an H100.
func known(t *testing.T, fit string) Settings {
	t.Helper()
	s := measuredReplica(t, fit)
	s.Engine = testEngine()
	return s
}

// The file that a calibration writes is read again as the same cost model, and two runs write the same bytes.
func TestFileComesBack(t *testing.T) {
	l := told(t, 3000, func(int, *Request) {})
	var files [][]byte
	var r *Result
	for range 2 {
		var err error
		if r, err = Run(context.Background(), l, Settings{Engine: testEngine(), Fit: "linear", HoldOut: 0.5, Tool: "triage"}); err != nil {
			t.Fatal(err)
		}
		data, err := r.YAML()
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, data)
	}
	if !bytes.Equal(files[0], files[1]) {
		t.Errorf("two runs write\n%s\nand\n%s", files[0], files[1])
	}
	f, err := sim.ParseCostFile("cost.yaml", files[0])
	if err != nil {
		t.Fatal(err)
	}
	if *f.Linear != *r.File.Linear || *f.Overhead != *r.File.Overhead || f.Calibration.Held != r.Held {
		t.Errorf("read %+v %+v, want %+v %+v", f.Linear, f.Overhead, r.File.Linear, r.File.Overhead)
	}
}

// Requests of several replicas, each of which is played alone, give the coefficients that one of them would.
func TestReplicas(t *testing.T) {
	l := told(t, 4000, func(i int, r *Request) { r.Replica = []string{"a", "b"}[i%2]; r.At /= 2 })
	r, err := Run(context.Background(), l, Settings{Engine: testEngine(), Fit: "linear", HoldOut: 0.5, Replicas: 2})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []float64{9000, 40, 2.5, 60, 45, 6} {
		if c := r.Coefficients[i]; !(c.Low <= want && want <= c.High) {
			t.Errorf("%s is %v [%v, %v], want %v", c.Name, c.Value, c.Low, c.High, want)
		}
	}
}

// Prompts that are known to be alike hit the cache: without that the prefill would look ten times as fast.
func TestSharedPrompts(t *testing.T) {
	ids := []string{"a", "b", "c", "d", "e", "f", "g", "h"}
	truth := []float64{9000, 40, 2.5, 60, 45, 6}
	l := traffic(4000, 13)
	lengths := map[string]int32{}
	for i := range l.Requests {
		if q := &l.Requests[i]; i%2 == 0 {
			q.id = ids[i/2%len(ids)]
			if lengths[q.id] == 0 {
				lengths[q.id] = q.Prompt
			}
			q.Prompt = lengths[q.id]
		}
	}
	l.identity = true
	l.answer(t, linear(linearOf(truth), false, 0), truth, 0.03, 13)
	r, err := Run(context.Background(), l, Settings{Engine: testEngine(), BlockSize: 512, Fit: "linear", HoldOut: 0.5})
	if err != nil {
		t.Fatal(err)
	}
	if c := r.Coefficients[1]; !(c.Low <= 40 && 40 <= c.High) {
		t.Errorf("a prefill token takes %v [%v, %v], want 40", c.Value, c.Low, c.High)
	}
	l.identity = false
	for i := range l.Requests {
		l.Requests[i].id = ""
	}
	r, err = Run(context.Background(), l, Settings{Engine: testEngine(), BlockSize: 512, Fit: "linear", HoldOut: 0.5})
	if err == nil && r.Coefficients[1].High > 40 {
		t.Errorf("a prefill token takes %v [%v, %v] with unknown prompts, want less than 40", r.Coefficients[1].Value, r.Coefficients[1].Low, r.Coefficients[1].High)
	}
}
