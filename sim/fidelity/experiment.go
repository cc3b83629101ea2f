package fidelity

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Experiment is a measured server and the load that was put on it.
type Experiment struct {
	ID       string
	At       string // file and line that it was read from
	Model    string
	GPU      string
	TP, DP   int
	DType    string // of the weights: bf16 or fp8
	Regime   string
	Overhead bool // requests came over HTTP
	Offload  bool // vLLM's CPU KV offload connector was on

	MaxNumSeqs, MaxNumBatchedTokens int
	MaxModelLen                     int // 0: the model's
	GPUUtil                         float64
	KVBlocks                        int // 0: not known
	BlockSize                       int
	PrefixCaching                   bool

	Stages  []Stage
	Prompt  int // tokens, if there is no trace
	Output  int // likewise
	Prompts int // distinct ones, cycled; 0 if every prompt is unique
	Trace   string
}

// Stage is a part of an experiment at one rate.
type Stage struct {
	Requests int
	Seconds  float64
}

// Overload says whether the server could not follow, so that means are no measure of it.
func (e *Experiment) Overload() bool { return e.Regime == "overload" }

// timeout is when the client gives a request up, ms. Without overload nothing comes near it.
func (e *Experiment) timeout() float64 {
	if e.Overload() {
		return Timeout * 1000
	}
	return math.Inf(1)
}

// inFlight is how many requests the driver held in flight at most, 0 if it did not mind.
func (e *Experiment) inFlight() int {
	n, err := strconv.Atoi(strings.TrimPrefix(e.Regime, "closed-loop-"))
	if err != nil {
		return 0
	}
	return n
}

var experimentColumns = []string{"exp_id", "model", "hardware", "tp", "dp", "dtype", "max_num_seqs", "max_num_batched_tokens",
	"max_model_len", "gpu_mem_util", "cpu_kv_offload", "kv_blocks", "block_size", "prefix_caching", "stages_rate_x_seconds",
	"n_requests_per_stage", "output_len", "input_len_mean", "distinct_prompts", "prompt_groups", "regime", "trace_file", "note"}

func readExperiments(file string) ([]*Experiment, error) {
	var all []*Experiment
	seen := map[string]string{}
	err := eachRow(file, experimentColumns, func(r *row) error {
		e := r.experiment()
		if at, twice := seen[e.ID]; twice {
			return fmt.Errorf("%s: exp_id %q is already at %s", e.At, e.ID, at)
		}
		seen[e.ID] = e.At
		all = append(all, e)
		return nil
	})
	return all, err
}

func (r *row) experiment() *Experiment {
	e := &Experiment{
		ID: r.full("exp_id"), At: r.at(), Model: r.full("model"), GPU: r.full("hardware"), TP: r.whole("tp", 1), DP: r.whole("dp", 1),
		DType: r.full("dtype"), Regime: r.full("regime"), Offload: r.text("cpu_kv_offload") == "true",
		Overhead:   !strings.Contains(r.text("note"), "no HTTP"),
		MaxNumSeqs: r.whole("max_num_seqs", 1), MaxNumBatchedTokens: r.whole("max_num_batched_tokens", 1),
		GPUUtil: r.number("gpu_mem_util"), KVBlocks: r.wholeOr("kv_blocks", 1, 0), BlockSize: r.whole("block_size", 1),
		PrefixCaching: r.oneOf("prefix_caching", "on", "off") == "on", Trace: r.text("trace_file"),
	}
	if r.text("max_model_len") != "model max" {
		e.MaxModelLen = r.whole("max_model_len", 1)
	}
	if r.whole("prompt_groups", 0) > 0 {
		e.Prompts = r.whole("distinct_prompts", 1)
	}
	if e.Trace == "" {
		e.Prompt, e.Output = int(r.number("input_len_mean")+0.5), r.whole("output_len", 1)
		if e.Prompt < 1 {
			r.bad("input_len_mean", "a number of at least 1")
		}
	}
	e.Stages = r.stages()
	return e
}

// stages reads counts such as 4800;12000 and the rates and lengths such as 8x600;20x600 that belong to them.
func (r *row) stages() []Stage {
	var all []Stage
	counts := strings.Split(r.text("n_requests_per_stage"), ";")
	loads := strings.Split(r.text("stages_rate_x_seconds"), ";")
	if len(counts) != len(loads) {
		r.bad("stages_rate_x_seconds", fmt.Sprintf("as many stages as n_requests_per_stage, %d", len(counts)))
		return nil
	}
	for i := range counts {
		n, err := strconv.Atoi(counts[i])
		if err != nil || n < 1 {
			r.bad("n_requests_per_stage", "counts such as 4800;12000")
		}
		_, length, _ := strings.Cut(loads[i], "x")
		s, err := strconv.ParseFloat(length, 64)
		if err != nil || !(s > 0 && s < 1e6) {
			r.bad("stages_rate_x_seconds", "rates and seconds such as 8x600;20x600")
		}
		all = append(all, Stage{n, s})
	}
	return all
}
