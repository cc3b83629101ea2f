// Package promsignals reads the metrics of vLLM and SGLang as signals of package policies, and scrapes them into a
// policies.Pool.
//
// A number that an engine does not report, or reports as NaN, has no Have bit: missing is not zero. A count that
// cannot be, such as a negative one, is an error, and so is a metric that is read in another format; lines of other
// metrics may be anything. A usage is 1 up to 1.01, which rounding can make of it, and missing beyond.
//
// A server of several engines (vLLM's label engine, SGLang's dp_rank) is one replica: its counts and capacities are
// summed, and its KV usage is the mean, weighted by capacity if each has told it. A number that not all of them report
// is missing. Options can select one engine or one model instead. Of SGLang's ranks of one engine (tp_rank, pp_rank),
// which share its requests, the lowest speaks for it: 0, unless the rank is of several engines.
//
// vllm:lora_requests_info names adapters with requests in flight, running or waiting, and the slots for adapters. An
// adapter that is loaded and idle is not in it, so that Signals.Resident is off. Of each engine the newest list counts,
// by the value of the sample, which is a time; and of the server all of them.
package promsignals

import (
	"cmp"
	"errors"
	"math"
	"slices"
	"strconv"

	"github.com/seed-2cee110a/triage/policies"
)

// Options selects what to read. The zero value reads everything.
type Options struct {
	Model  string // only samples of this label model_name
	Engine string // only samples of this label engine, or dp_rank
}

// Metrics is what a page of metrics says.
type Metrics struct {
	Signals policies.Signals // without times
	Running []string         // adapters with a request running, sorted
	Waiting []string         // adapters with a request waiting, sorted
	Engines int
}

// metric is a metric that is read. A higher rank of the same number is preferred: it is its newer name.
type metric struct {
	name   string
	number quantity
	rank   int
	read   func(*sample) (float64, error)
}

// quantity is what a metric tells of an engine.
type quantity int

const (
	waiting quantity = iota
	running
	usage
	blockSize
	blocks
	numNumbers
)

// metrics has a row for each number of each engine.
// https://docs.vllm.ai/en/latest/usage/metrics and https://docs.sglang.ai/references/production_metrics.html
var metrics = []metric{
	{"vllm:num_requests_waiting", waiting, 1, count},
	{"vllm:num_requests_running", running, 1, count},
	{"vllm:kv_cache_usage_perc", usage, 2, ratio},
	{"vllm:gpu_cache_usage_perc", usage, 1, ratio}, // its older name
	{"vllm:cache_config_info", blockSize, 1, info("block_size")},
	{"vllm:cache_config_info", blocks, 1, info("num_gpu_blocks")},
	{"sglang:num_queue_reqs", waiting, 1, count},
	{"sglang:num_running_reqs", running, 1, count},
	{"sglang:token_usage", usage, 1, ratio},
	{"sglang:cache_config_info", blockSize, 1, info("page_size")},
	{"sglang:cache_config_info", blocks, 1, info("num_pages")},
}

// wanted tells whether a metric of that name is read.
func wanted(name string) bool {
	return name == loraInfo || slices.ContainsFunc(metrics, func(m metric) bool { return m.name == name })
}

// engine is one engine of the page. A number is NaN and of rank 0 until it is read.
type engine struct {
	name, model string
	numbers     [numNumbers]float64
	ranks       [numNumbers]int
	shards      [numNumbers]int // of the engine, which the numbers are of
}

// Parse reads a page in Prometheus's text format.
func Parse(page []byte, o Options) (Metrics, error) {
	var m Metrics
	var engines []*engine
	var lists loraLists
	err := each(page, wanted, func(s *sample) error {
		if o.Model != "" && s.get("model_name") != "" && s.get("model_name") != o.Model {
			return nil
		}
		if s.name == loraInfo {
			if e := engineOf(s); o.Engine == "" || e == "" || e == o.Engine {
				return lists.add(s)
			}
			return nil
		}
		for i := range metrics {
			if metrics[i].name != s.name || o.Engine != "" && engineOf(s) != o.Engine {
				continue
			}
			if err := read(&engines, s, &metrics[i]); err != nil {
				return err
			}
		}
		return nil
	})
	switch {
	case err != nil:
		return Metrics{}, err
	case len(engines) == 0:
		return Metrics{}, errors.New("no metric of vLLM or SGLang, want such as vllm:num_requests_waiting or sglang:num_queue_reqs")
	}
	m.Engines = len(engines)
	m.sum(engines)
	lists.join(&m)
	return m, nil
}

func engineOf(s *sample) string {
	if e := s.get("engine"); e != "" {
		return e
	}
	return s.get("dp_rank")
}

// read files a sample with its engine.
func read(engines *[]*engine, s *sample, m *metric) error {
	x, err := m.read(s)
	if err != nil {
		return err
	}
	e, shard := find(engines, engineOf(s), s.get("model_name")), shardOf(s)
	rank, was := &e.ranks[m.number], &e.shards[m.number]
	switch order := cmp.Or(cmp.Compare(m.rank, *rank), cmp.Compare(*was, shard)); {
	case order < 0:
		return nil
	case order == 0:
		return s.errorf("given twice for engine %q, want it once", e.name)
	}
	e.numbers[m.number], *rank, *was = x, m.rank, shard
	return nil
}

// shardOf is the place of an engine's part among those that share its requests; 0 if it has none.
func shardOf(s *sample) int {
	pp, _ := strconv.ParseUint(s.get("pp_rank"), 10, 16) // a label that is no number is read as 0
	tp, _ := strconv.ParseUint(s.get("tp_rank"), 10, 16)
	return int(pp<<16 | tp)
}

// find returns the engine of that name, a new one if there is none. vllm:cache_config_info has no model.
func find(engines *[]*engine, name, model string) *engine {
	for _, e := range *engines {
		if e.name == name && (e.model == model || e.model == "" || model == "") {
			if e.model == "" {
				e.model = model
			}
			return e
		}
	}
	e := &engine{name: name, model: model}
	for i := range e.numbers {
		e.numbers[i] = math.NaN()
	}
	*engines = append(*engines, e)
	return e
}

// sum makes the signals of the engines' numbers.
func (m *Metrics) sum(engines []*engine) {
	total := func(n quantity) float64 {
		var sum float64
		for _, e := range engines {
			sum += e.numbers[n]
		}
		return sum // NaN if one is
	}
	s := &m.Signals
	if x := total(waiting); x <= math.MaxInt32 {
		s.Waiting, s.Have = int32(x), s.Have|policies.HasWaiting
	}
	if x := total(running); x <= math.MaxInt32 {
		s.Running, s.Have = int32(x), s.Have|policies.HasRunning
	}
	var capacity, used, mean float64
	for _, e := range engines {
		tokens := e.numbers[blockSize] * e.numbers[blocks]
		capacity += tokens
		used += float64(tokens * e.numbers[usage])
		mean += e.numbers[usage] / float64(len(engines))
	}
	if capacity > 0 && capacity < 1<<53 {
		s.KVTokens, s.Have = int64(capacity), s.Have|policies.HasKVTokens
		s.BlockSize = commonBlock(engines)
		mean = used / capacity
	}
	if !math.IsNaN(mean) {
		s.KVUsed, s.Have = min(mean, 1), s.Have|policies.HasKVUsed
	}
}

// commonBlock is the block size of all engines, 0 if they differ.
func commonBlock(engines []*engine) int32 {
	for _, e := range engines {
		if e.numbers[blockSize] != engines[0].numbers[blockSize] {
			return 0
		}
	}
	return int32(engines[0].numbers[blockSize])
}

func count(s *sample) (float64, error) {
	if s.value < 0 || s.value > math.MaxInt32 {
		return 0, s.errorf("%v, want a count of at least 0", s.value)
	}
	return math.Trunc(s.value), nil
}

// ratio is NaN, missing, for what is none.
func ratio(s *sample) (float64, error) {
	if s.value < 0 || s.value > maxRatio {
		return math.NaN(), nil
	}
	return min(s.value, 1), nil
}

// maxRatio is what rounding and blocks that are counted twice for an instant make of 1.
const maxRatio = 1.01

// info reads a number from a label: NaN if it is missing or None, as vLLM's is before the cache is laid out.
func info(name string) func(*sample) (float64, error) {
	return func(s *sample) (float64, error) {
		text := s.get(name)
		if text == "" || text == "None" {
			return math.NaN(), nil
		}
		x, err := strconv.ParseInt(text, 10, 32)
		if err != nil || x < 1 {
			return 0, s.errorf("label %s is %q, want a whole number, at least 1", name, text)
		}
		return float64(x), nil
	}
}
