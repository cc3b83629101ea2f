package fidelity

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-2cee110a/triage/engine"
)

// near says whether a float is what integer picoseconds give.
func near(a, b float64) bool { return math.Abs(a-b) <= 1e-9*math.Abs(b) }

func small(t *testing.T, seed uint64) *Report {
	t.Helper()
	r, err := Run(t.Context(), "testdata/small", Settings{Workers: 2, Seed: seed})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func find(t *testing.T, scores []Score, k Key) Score {
	t.Helper()
	for _, s := range scores {
		if s.Key == k {
			return s
		}
	}
	t.Fatalf("%v is not scored", k)
	return Score{}
}

// hand is a server of one Llama-3.1-8B on an H100, for sums of its steps, ms.
type hand struct{ cost engine.CostModel }

func newHand(t *testing.T) hand {
	t.Helper()
	m, err := engine.LookupModel("meta-llama/Llama-3.1-8B")
	if err != nil {
		t.Fatal(err)
	}
	g, err := engine.LookupGPU("H100")
	if err != nil {
		t.Fatal(err)
	}
	c, err := engine.NewPhysical(m, g, 1, 2048)
	if err != nil {
		t.Fatal(err)
	}
	return hand{c}
}

func (h hand) prefill(tokens int, context int64) float64 {
	return ms(h.cost.Step(engine.Batch{PrefillSeqs: 1, PrefillTokens: tokens, PrefillContext: context}))
}

// overheads is what a server adds to a TTFT, ms.
func overheads() float64 {
	c := engine.Fitted()
	return ms(c.Overhead()) + 1
}

func (h hand) decode(kv int64) float64 { return ms(h.cost.Step(engine.Batch{Decode: 1, KVTokens: kv})) }

// Four requests of 33 tokens that never meet: two cycled prompts, the first of which comes again and then computes one
// token only, and a unique one that emits a single token. A server adds its overheads before and 1 ms after.
func TestTracedByHand(t *testing.T) {
	r, h := small(t, 1), newHand(t)
	cold, again := overheads()+h.prefill(33, 33*34/2), overheads()+h.prefill(1, 33)
	rest := h.decode(34) + h.decode(35)
	for _, c := range []struct {
		key             Key
		measured, value float64
	}{
		{Key{"traced", "0", "all", "ttft", "mean"}, 20, (3*cold + again) / 4},
		{Key{"traced", "0", "first100_cold", "ttft", "mean"}, 20, (3*cold + again) / 4},
		{Key{"traced", "0", "firstN_lss", "ttft", "mean"}, 20, cold},
		{Key{"traced", "0", "all", "e2e", "p50"}, 50, rest + (min(cold, again)+cold)/2},
		{Key{"traced", "0", "warm", "ttft", "mean"}, (21. + 22 + 24) / 3, (2*cold + again) / 3},
		{Key{"traced", "0", "warm", "tpot", "mean"}, 10, rest / 2},
		{Key{"traced", "0", "warm", "e2e", "p90"}, 41 + 0.8*(42-41), 0},
	} {
		s := find(t, r.Scores, c.key)
		if !near(s.Measured, c.measured) || c.value != 0 && !near(s.Simulated, c.value) {
			t.Errorf("%v: measured %v and simulated %v, want %v and %v", c.key, s.Measured, s.Simulated, c.measured, c.value)
		}
		if c.value != 0 && !near(s.Error(), c.value/c.measured-1) {
			t.Errorf("%v: error %v, want %v", c.key, s.Error(), c.value/c.measured-1)
		}
		if s.Best != (c.key.Subset == warm) {
			t.Errorf("%v: best %v, want only what leaves the first quarter out", c.key, s.Best)
		}
	}
}

func TestPublishedByHand(t *testing.T) {
	r, h := small(t, 1), newHand(t)
	cold, again := overheads()+h.prefill(33, 33*34/2), overheads()+h.prefill(1, 33)
	ttft := math.Abs((3*cold+again)/4-20) / 20
	if len(r.Rivals) != 2 {
		t.Fatalf("%d comparisons, want TTFT and ITL and none of a p99", len(r.Rivals))
	}
	v := r.Rivals[0]
	if v.Metric != "ttft" || v.Theirs.N != 1 || v.Theirs.Mean != 1 || !near(v.Ours.Median, ttft) || v.Verdict() != "better" {
		t.Errorf("%+v is %s, want 100 %% for the other, %v here, and better", v, v.Verdict(), ttft)
	}
	tpot := math.Abs((h.decode(34)+h.decode(35))/2-5) / 5
	if v = r.Rivals[1]; v.Metric != "itl_published" || !near(v.Ours.Mean, tpot) {
		t.Errorf("%+v, want an error of %v in ITL", v, tpot)
	}
}

// One request at a time: every one alone, the others' caches of no use.
func TestClosedLoopByHand(t *testing.T) {
	r, h := small(t, 1), newHand(t)
	c := closedRow{id: "alone", isl: 64, osl: 16, concurrency: 1}
	var ttft, tpot []float64
	for _, q := range c.workload(1).requests {
		if q.prompt < 51 || q.prompt > 64 || q.output < 12 || q.output > 16 {
			t.Fatalf("lengths %d and %d, want 80 %% of 64 and of 16 at least", q.prompt, q.output)
		}
		n, sum := int64(q.prompt), 0.0
		for kv := n + 1; kv < n+int64(q.output); kv++ {
			sum += h.decode(kv)
		}
		ttft, tpot = append(ttft, overheads()+h.prefill(int(n), n*(n+1)/2)), append(tpot, sum/float64(q.output-1))
	}
	for _, k := range []struct {
		subset, metric string
		measured, want float64
	}{
		{"all", "ttft", 20, average(ttft)}, {"all", "tpot", 7, average(tpot)},
		{warm, "ttft", 20, average(ttft[3:])}, {warm, "tpot", 7, average(tpot[3:])},
	} {
		if s := find(t, r.Closed, Key{"alone", "0", k.subset, k.metric, "mean"}); !near(s.Simulated, k.want) || s.Measured != k.measured {
			t.Errorf("%s %s: %v of %v, want %v of %v", k.subset, k.metric, s.Simulated, s.Measured, k.want, k.measured)
		}
	}
}

func TestWhatIsLeftOutHasAReason(t *testing.T) {
	r := small(t, 1)
	var got []string
	for _, s := range append(r.Skipped, r.Unscored...) {
		got = append(got, s.What+": "+s.Reason)
	}
	want := []string{
		`unheard: experiments.csv:4: unknown model "acme/nothing-1b"`,
		"coupled: experiments.csv:5: 2 data-parallel ranks",
		"closed loop: meta-llama/Llama-3.1-8B on h100_sxm: marked as suspect",
		"closed loop: Qwen/Qwen3-30B-A3B on h100_sxm: expert or data parallelism",
		"measured statistics: it is not known which requests are in it: firstN_lss",
		"measured statistics: divides by another number of tokens",
		"measured statistics: the experiment was not played",
	}
	if len(got) != len(want) {
		t.Fatalf("left out: %q, want %d", got, len(want))
	}
	for i := range want {
		if !strings.HasPrefix(got[i], want[i]) {
			t.Errorf("left out: %q, want %q", got[i], want[i])
		}
	}
	if r.Experiments != 4 || r.Played != 2 || r.ClosedRows != 3 || r.ClosedPlayed != 1 || len(r.Closed) != 4 {
		t.Errorf("%d of %d experiments and %d of %d rows, want 2 of 4 and 1 of 3", r.Played, r.Experiments, r.ClosedPlayed, r.ClosedRows)
	}
}

// Drawn arrivals depend on the seed, are as many as were measured, and fill their stages.
func TestDrawn(t *testing.T) {
	e := &Experiment{ID: "x", Prompt: 10, Output: 5, Prompts: 3, Stages: []Stage{{200, 10}, {50, 1}}}
	a, b, c := e.draw(1), e.draw(1), e.draw(2)
	if len(a.requests) != 250 {
		t.Fatalf("%d requests, want 250", len(a.requests))
	}
	same, sum := 0, 0.0
	for i, q := range a.requests {
		if q.at != b.requests[i].at {
			t.Fatal("the same seed gives another arrival")
		}
		if q.at == c.requests[i].at {
			same++
		}
		if want := (i - q.stage*200) % 3; q.id != want {
			t.Fatalf("request %d has prompt %d, want %d", i, q.id, want)
		}
		if q.at < 0 || q.at > seconds(e.Stages[q.stage].Seconds) || i%200 > 0 && q.at < a.requests[i-1].at {
			t.Fatalf("request %d arrives at %v", i, q.at.Seconds())
		}
		if q.stage == 0 {
			sum += q.at.Seconds() / 200
		}
	}
	if same > 25 {
		t.Errorf("%d arrivals are the same with another seed", same)
	}
	if sum < 4 || sum > 6 { // 5 +- 0.2
		t.Errorf("mean arrival %v s, want 5", sum)
	}
}

// one is a small server that everything fits on.
func one(t *testing.T, e Experiment) (*Experiment, *server) {
	t.Helper()
	e.ID, e.Model, e.GPU, e.TP, e.DP, e.DType = "x", "meta-llama/Llama-3.1-8B", "H100", 1, 1, "bf16"
	e.MaxNumBatchedTokens, e.KVBlocks, e.BlockSize = 2048, 1000, 16
	s, err := e.server(engine.Fitted())
	if err != nil {
		t.Fatal(err)
	}
	return &e, s
}

// A stage that is drawn waits for the one before it to end and to drain, whichever is later.
func TestStagesDrain(t *testing.T) {
	for _, length := range []float64{0.1, 50} {
		e, s := one(t, Experiment{MaxNumSeqs: 1, Prompt: 100, Output: 200, Stages: []Stage{{5, length}, {5, 0.1}}})
		w := e.draw(1)
		out, err := play(t.Context(), s, w, 0)
		if err != nil {
			t.Fatal(err)
		}
		if want := max(out[4].finish, seconds(length)) + between + w.requests[5].at; out[5].sent != want {
			t.Errorf("after %v s the second stage's first request is sent at %v, want %v", length, out[5].sent, want)
		}
		if out[1].first < out[0].finish {
			t.Error("two requests ran at once with max_num_seqs 1")
		}
	}
}

// Without HTTP in front of the engine there is no overhead.
func TestNoHTTP(t *testing.T) {
	h := newHand(t)
	for _, http := range []bool{true, false} {
		e, s := one(t, Experiment{MaxNumSeqs: 1, Prompt: 100, Output: 1, Overhead: http, Stages: []Stage{{1, 1}}})
		out, err := play(t.Context(), s, e.draw(1), 0)
		if err != nil {
			t.Fatal(err)
		}
		want := h.prefill(100, 50*101)
		if http {
			want += overheads()
		}
		if got := ms(out[0].first - out[0].sent); !near(got, want) {
			t.Errorf("HTTP %v: TTFT %v ms, want %v", http, got, want)
		}
	}
}

// What covers all stages is no stage, and an overloaded experiment is none to compare latencies on.
func TestWhatIsCompared(t *testing.T) {
	r := small(t, 1)
	for stage, best := range map[string]bool{"0": true, "all": false} {
		metric := map[string]string{"0": "ttft", "all": "e2e"}[stage]
		if s := find(t, r.Scores, Key{"drawn", stage, "all", metric, "mean"}); s.Best != best {
			t.Errorf("stage %s of a drawn experiment: best %v, want %v", stage, s.Best, best)
		}
	}
	k := Key{"x", "0", "all", "ttft", "mean"}
	for regime, want := range map[string]int{"stable": 1, "overload": 0} {
		known := map[string]*Experiment{"x": {Regime: regime}}
		got := rivals([]Published{{k, "other", 1, 2}}, known, func(Key) float64 { return 1 })
		if len(got) != want {
			t.Errorf("%s: %d comparisons with published predictions, want %d", regime, len(got), want)
		}
	}
}

// In a closed loop no more than the window is in flight, and always as many while there are more to come.
func TestWindow(t *testing.T) {
	e, s := one(t, Experiment{MaxNumSeqs: 64, Prompt: 100, Output: 20, Stages: []Stage{{40, 0.001}}})
	out, err := play(t.Context(), s, e.draw(1), 4)
	if err != nil {
		t.Fatal(err)
	}
	for i, q := range out[4:] {
		n := 0
		for _, o := range out {
			if o.sent <= q.sent && o.finish > q.sent {
				n++
			}
		}
		if n != 4 {
			t.Errorf("%d in flight when request %d is sent, want 4", n, i+4)
		}
	}
}

func TestUnderOverloadTimeoutsCount(t *testing.T) {
	s := &sample{timeout: 300_000}
	s.add(0, 100, 1000, 11)
	s.add(1000, 1100, 2000, 11)
	s.add(2000, 2100, 400_000, 11)
	s.add(3000, math.NaN(), math.NaN(), 11)
	for _, c := range []struct {
		metric string
		want   float64
	}{
		{"request_throughput", 2. / 303}, {"busy_throughput", 2. / 3}, {"ttft_growth", 1000}, {"ttft", 600}, {"tpot", 90}, {"e2e", 1500},
	} {
		if got := s.value(c.metric, "mean"); !near(got, c.want) {
			t.Errorf("%s is %v, want %v", c.metric, got, c.want)
		}
	}
}

// Of eight requests, the last two take three times as long for a token as the first two, whatever happens in between.
func TestDrift(t *testing.T) {
	s := &sample{timeout: 300_000}
	for i, tpot := range []float64{10, 20, 500, 1, 1, 500, 50, 40} {
		s.add(float64(i), 5, 5+10*tpot, 11)
	}
	if got := s.value("tpot_drift", "mean"); !near(got, 3) {
		t.Errorf("drift %v, want 3", got)
	}
	s.tpot = s.tpot[:3]
	if got := s.value("tpot_drift", "mean"); !math.IsNaN(got) {
		t.Errorf("drift %v of three requests, want NaN", got)
	}
}

func TestSummarise(t *testing.T) {
	e := summarise([]float64{-0.1, 0.3, 0.2, -0.6})
	if e.N != 4 || !near(e.Mean, 0.3) || !near(e.Median, 0.25) || !near(e.Bias, -0.05) {
		t.Errorf("%+v, want mean 0.3, median 0.25, bias -0.05", e)
	}
	if e = summarise(nil); e.N != 0 || !math.IsNaN(e.Mean) {
		t.Errorf("%+v of nothing, want NaN", e)
	}
	for want, r := range map[string]Rival{
		"better": {Ours: Errors{Mean: 1, Median: 1}, Theirs: Errors{Mean: 2, Median: 2}},
		"worse":  {Ours: Errors{Mean: 2, Median: 3}, Theirs: Errors{Mean: 2, Median: 2}},
		"mixed":  {Ours: Errors{Mean: 1, Median: 3}, Theirs: Errors{Mean: 2, Median: 2}},
	} {
		if got := r.Verdict(); got != want {
			t.Errorf("%+v is %s, want %s", r, got, want)
		}
	}
}

// Every kind of bad data is an error that names the file, the line and the column.
func TestBadData(t *testing.T) {
	for _, c := range []struct{ file, old, new, want string }{
		{"experiments.csv", "max_num_seqs,", "max_seqs,", "experiments.csv:1: column max_num_seqs is missing"},
		{"experiments.csv", "H100,1,1,bf16,128", "H100,1,1,bf16,many", `experiments.csv:2: max_num_seqs is "many", want a whole number of at least 1`},
		{"experiments.csv", "20;40", "20", `experiments.csv:3: stages_rate_x_seconds is "2x10;4x10", want as many stages`},
		{"experiments.csv", "drawn,", "traced,", `experiments.csv:3: exp_id "traced" is already at experiments.csv:2`},
		{"experiments.csv", "16,on,1x4", "16,maybe,1x4", `experiments.csv:2: prefix_caching is "maybe", want one of on, off`},
		{"experiments.csv", "8,100,10,1", "8,,10,1", `experiments.csv:3: input_len_mean is ""`},
		{"ground_truth.csv", "mean,20,4", "mean,-3,4", `ground_truth.csv:2: value is "-3", want a number`},
		{"ground_truth.csv", "ttft,mean", "ttft,average", `ground_truth.csv:2: stat is "average", want one of mean`},
		{"ground_truth.csv", "drawn,1,", "nobody,1,", `ground_truth.csv:9: exp_id "nobody" is not in experiments.csv`},
		{"ground_truth.csv", "e2e,p50", "ttft,mean", "ground_truth.csv:3: the same statistic is already at ground_truth.csv:2"},
		{"published_predictions.csv", "other,40", "other,x", `published_predictions.csv:2: predicted is "x"`},
		{"closed_loop.csv", "64,16,1,20", "64,16,0,20", `closed_loop.csv:2: concurrency is "0"`},
		{"traces/traced.csv", "1000000,33", "1000000,x", `traced.csv:3: input_tokens is "x"`},
		{"traces/traced.csv", "0,2000000", "0,500000", `traced.csv:4: arrival_us is "500000", want no arrival before`},
		{"traces/traced.csv", "0,3000000", "7,3000000", `traced.csv:5: stage is "7", want a stage`},
		{"traces/traced.csv", "22,42", "22,", `traced.csv:4: e2e_ms is ""`},
	} {
		dir := t.TempDir()
		if err := os.CopyFS(dir, os.DirFS("testdata/small")); err != nil {
			t.Fatal(err)
		}
		name := filepath.Join(dir, filepath.FromSlash(c.file))
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		changed := strings.Replace(string(text), c.old, c.new, 1)
		if changed == string(text) {
			t.Fatalf("%s has no %q", c.file, c.old)
		}
		if err := os.WriteFile(name, []byte(changed), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err = Run(t.Context(), dir, Settings{Workers: 1, Seed: 1}); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s with %q: error %v, want %s", c.file, c.new, err, c.want)
		}
	}
}

// Only experiments and measurements have to be there.
func TestOptionalFiles(t *testing.T) {
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("testdata/small")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"published_predictions.csv", "closed_loop.csv"} {
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	r, err := Run(t.Context(), dir, Settings{})
	if err != nil || r.Played != 2 || len(r.Rivals)+len(r.Closed) != 0 {
		t.Errorf("%+v, %v: want two experiments played and nothing beside", r, err)
	}
	if err := os.Remove(filepath.Join(dir, "ground_truth.csv")); err != nil {
		t.Fatal(err)
	}
	if _, err := Run(t.Context(), dir, Settings{}); err == nil {
		t.Error("no error without measurements")
	}
}
