package calibrate

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/seed-2cee110a/triage/engine"
	"github.com/seed-2cee110a/triage/sim"
)

// traffic is prompts and outputs of many lengths whose rate goes up and down, so that load and contexts vary.
func traffic(n int, seed uint64) *Log {
	r := rand.New(rand.NewPCG(seed, 1))
	l := &Log{Name: "made.csv"}
	at := 0.0
	for i := range n {
		at += r.ExpFloat64() / (3 + 2.5*math.Sin(float64(i)/60))
		prompt := int32(50 * math.Exp(r.Float64()*5)) // 50 to 7,400 tokens
		l.Requests = append(l.Requests, Request{At: fromSeconds(at), Prompt: prompt, Output: int32(1 + r.IntN(400)), Line: int64(i + 2)})
	}
	return l
}

// answer plays the log and writes down what a server with the coefficients would have been measured to do, each latency
// off by noise, a share.
func (l *Log) answer(t *testing.T, f *form, v []float64, noise float64, seed uint64) {
	t.Helper()
	s, err := l.newServer(testEngine(), 16)
	if err != nil {
		t.Fatal(err)
	}
	p, err := f.params(v)
	if err != nil {
		t.Fatal(err)
	}
	got, err := s.play(context.Background(), l, p, len(l.Requests))
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(seed, 2))
	for i := range l.Requests {
		q := &l.Requests[i]
		q.TTFT = got[i].ttft * (1 + noise*r.NormFloat64())
		q.E2E = q.TTFT + (got[i].e2e-got[i].ttft)*(1+noise*r.NormFloat64())
	}
}

func testEngine() engine.Config {
	e := engine.Default()
	e.KVBlocks, e.MaxNumSeqs, e.MaxNumBatchedTokens = 20000, 256, 2048
	return e
}

// A log of a server whose coefficients are known gives them back, whatever the fit starts from: within the intervals, of
// which a twentieth may miss by chance, and none by as much as it is wide.
func TestLinearComesBack(t *testing.T) {
	truth := []float64{9000, 40, 2.5, 60, 45, 6}
	missed, all := 0, 0
	for seed := uint64(1); seed <= 4; seed++ {
		l := traffic(3000, seed)
		l.answer(t, linear(linearOf(truth), false, 0), truth, 0.03, seed)
		r, err := Run(context.Background(), l, Settings{Engine: testEngine(), Fit: "linear", HoldOut: 0.5})
		if err != nil {
			t.Fatal(err)
		}
		for i, c := range r.Coefficients {
			t.Logf("seed %d: %s is %v [%v, %v], truth %v", seed, c.Name, c.Value, c.Low, c.High, truth[i])
			all++
			if !(c.Low <= truth[i] && truth[i] <= c.High) {
				missed++
			}
			if !(math.Abs(c.Value-truth[i]) < c.High-c.Low) {
				t.Errorf("seed %d: %s is %v [%v, %v], want %v", seed, c.Name, c.Value, c.Low, c.High, truth[i])
			}
		}
		for _, e := range r.Errors {
			t.Log(e)
			if math.Abs(e.MeanError) > 0.02 {
				t.Errorf("seed %d: mean %s is off by %.3f of itself, want less than 0.02", seed, e.Metric, e.MeanError)
			}
		}
	}
	if missed > 2 {
		t.Errorf("%d of %d intervals miss the truth, want at most 2", missed, all)
	}
}

// Factors of the registry's model come back likewise.
func TestFactorsComeBack(t *testing.T) {
	m, err := engine.LookupModel("Qwen/Qwen3-14B")
	if err != nil {
		t.Fatal(err)
	}
	g, err := engine.LookupGPU("H100")
	if err != nil {
		t.Fatal(err)
	}
	of, err := engine.NewPhysical(m, g, 1, 2048)
	if err != nil {
		t.Fatal(err)
	}
	truth := []float64{1.2, 1.5, 0.8, 1.3, 15}
	l := traffic(3000, 5)
	l.answer(t, physical(of, 0), truth, 0.03, 5)
	e := testEngine()
	r, err := Run(context.Background(), l, Settings{Engine: e, For: &sim.CostFor{Model: m.Name, GPU: g.Name, TP: 1}, Model: m, GPU: g, Fit: "physical", HoldOut: 0.3})
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range r.Coefficients {
		t.Logf("%s is %v [%v, %v], truth %v", c.Name, c.Value, c.Low, c.High, truth[i])
		if c.Kept != "" || !(c.Low <= truth[i] && truth[i] <= c.High) {
			t.Errorf("%s is %v [%v, %v], kept %q; want %v", c.Name, c.Value, c.Low, c.High, c.Kept, truth[i])
		}
	}
}
