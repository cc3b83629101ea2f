package calibrate

import (
	"context"
	"math"
	"testing"
	"time"

	"github.com/seed-2cee110a/triage/engine"
)

// Two in flight at most, steps of 1 ms. Request 0 ends at 10 ms, so request 2, which the driver held back, is sent 5 ms
// later than logged; request 3, held back too, comes 5 ms later as well though there is room from 11 ms on. Request 4 was
// not held back and comes when logged.
func TestHeldBack(t *testing.T) {
	ms := func(n int) engine.Time { return engine.Time(n) * engine.Millisecond }
	l := &Log{Name: "log", window: 2, Requests: []Request{
		{At: 0, Prompt: 1, Output: 10},
		{At: 0, Prompt: 1, Output: 30},
		{At: ms(5), Prompt: 1, Output: 1, gated: true},
		{At: ms(8), Prompt: 1, Output: 1, gated: true},
		{At: ms(40), Prompt: 1, Output: 1},
	}}
	e := testEngine()
	e.OverheadBefore, e.OverheadAfter, e.AsyncScheduling = 0, 0, false
	s, err := l.newServer(e, 16)
	if err != nil {
		t.Fatal(err)
	}
	replica, err := engine.New(e, engine.Unit{}, s.layout)
	if err != nil {
		t.Fatal(err)
	}
	d := driver{log: l, engine: replica, out: make([]latency, 5), sent: make([]engine.Time, 5)}
	for i := range l.Requests {
		if err := d.send(i, -1, 0); err != nil {
			t.Fatal(err)
		}
	}
	for i, want := range []time.Duration{0, 0, 10 * time.Millisecond, 13 * time.Millisecond, 40 * time.Millisecond} {
		if got := d.sent[i].Duration(); got != want {
			t.Errorf("request %d is sent at %v, want %v", i, got, want)
		}
	}
}

// A request that the replica could never hold is an error with its place: the server that was measured held it.
func TestTooLargeForTheReplica(t *testing.T) {
	l := told(t, 100, func(int, *Request) {})
	e := testEngine()
	e.KVBlocks = 10
	s, err := l.newServer(e, 16)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.play(context.Background(), l, params{cost: engine.Unit{}}, 100); err == nil {
		t.Error("played, want an error")
	}
}

// The first requests of a server that still warms up do not count for much.
func TestOutliers(t *testing.T) {
	l := told(t, 3000, func(int, *Request) {})
	for i := range 15 {
		l.Requests[i].TTFT += 20
		l.Requests[i].E2E += 40
	}
	r, err := Run(context.Background(), l, Settings{Engine: testEngine(), Fit: "linear", HoldOut: 0.5})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []float64{9000, 40, 2.5, 60, 45, 6} {
		if c := r.Coefficients[i]; c.Value < 0.8*want || c.Value > 1.25*want {
			t.Errorf("%s is %v, want about %v", c.Name, c.Value, want)
		}
	}
}

// Time at the gateway is not the server's.
func TestGatewayWait(t *testing.T) {
	l, err := Read("log", []byte("arrival_s,prompt_tokens,output_tokens,ttft_s,e2e_s,gateway_wait_s\n0,1,2,0.1,0.2,0\n1,1,2,0.5,0.7,0.25\n"), ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if r := l.Requests[1]; r.At != 1250*engine.Millisecond || r.TTFT != 0.25 || math.Abs(r.E2E-0.45) > 1e-12 {
		t.Errorf("the request that waited 250 ms is %+v, want it at 1.25 s with 0.25 and 0.45 s", r)
	}
}

// By hand: 14.77 billion parameters less the embedding and the head of 0.78 each, 13.2 billion, of 2 bytes, at 3.35 TB/s
// take 7.9 ms; 8,192 tokens take 2 * 8,192 * 13.2e9 FLOP, at 989.5 TFLOP/s 219 ms.
func TestBound(t *testing.T) {
	s := known(t, "physical")
	f, err := s.form(&Log{})
	if err != nil {
		t.Fatal(err)
	}
	p, err := f.params([]float64{f.coefs[0].floor, 0, 0, 0, 0})
	if err != nil {
		t.Fatal(err)
	}
	least := engine.Fastest(s.Model, s.GPU, 1, engine.Batch{Decode: 1, KVTokens: 1})
	if got := p.cost.Step(engine.Batch{Decode: 1, KVTokens: 1}); got < least-engine.Nanosecond || least < 7800*engine.Microsecond || least > 8*engine.Millisecond {
		t.Errorf("a step at the bound takes %v s, the least is %v s, want 0.0079 both", got.Seconds(), least.Seconds())
	}
	if got := engine.Fastest(s.Model, s.GPU, 1, engine.Batch{PrefillTokens: 8192}).Seconds(); got < 0.21 || got > 0.23 {
		t.Errorf("8,192 prefill tokens need %v s, want 0.219", got)
	}
}
