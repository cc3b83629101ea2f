// Package promsignals reads the metrics of vLLM and SGLang as signals of package policies, and scrapes them into a
// policies.Pool.
//
// A number that an engine does not report, or reports as NaN, has no Have bit: missing is not zero. A number that
// cannot be, such as a negative count or a usage above 1, is an error, and so is text in another format.
//
// A server of several engines (vLLM's label engine, SGLang's dp_rank) is one replica: its counts and capacities are
// summed, and its KV usage is the mean, weighted by capacity if each has told it. A number that not all of them report
// is missing. Options can select one engine or one model instead.
//
// vllm:lora_requests_info names adapters with requests in flight. An adapter that is loaded and idle is not in it.
package promsignals

import (
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-2cee110a/triage/policies"
)

// Options selects what to read. The zero value reads everything.
type Options struct {
	Model  string // only samples of this label model_name
	Engine string // only samples of this label engine, or dp_rank
}

// Metrics is what a page of metrics says.
type Metrics struct {
	Signals  policies.Signals // without times
	Running  []string         // adapters with a request running, sorted
	Waiting  []string         // adapters with a request waiting, sorted
	Engines  int
	loraTime float64
}

// metric is a metric that is read. A higher rank of the same number is preferred: it is its newer name.
type metric struct {
	name   string
	number number
	rank   int
	read   func(*sample) (float64, error)
}

// number is what a metric tells of an engine.
type number int

const (
	waiting number = iota
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

const loraInfo = "vllm:lora_requests_info"

// engine is one engine of the page. A number is NaN and of rank 0 until it is read.
type engine struct {
	name, model string
	numbers     [numNumbers]float64
	ranks       [numNumbers]int
}

// Parse reads a page in Prometheus's text format.
func Parse(page []byte, o Options) (Metrics, error) {
	var m Metrics
	var engines []*engine
	err := each(page, func(s *sample) error {
		if o.Model != "" && s.get("model_name") != "" && s.get("model_name") != o.Model {
			return nil
		}
		if s.name == loraInfo {
			m.adapters(s)
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
	e := find(engines, engineOf(s), s.get("model_name"))
	switch {
	case e.ranks[m.number] > m.rank:
		return nil
	case e.ranks[m.number] == m.rank:
		return s.errorf("given twice for engine %q, want it once", e.name)
	}
	e.numbers[m.number], e.ranks[m.number] = x, m.rank
	return nil
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
	total := func(n number) float64 {
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

// adapters takes the newest list: the value is the time at which it was current.
func (m *Metrics) adapters(s *sample) {
	if m.Signals.Have&policies.HasAdapters != 0 && !(s.value > m.loraTime) || math.IsNaN(s.value) {
		return
	}
	m.Signals.Have |= policies.HasAdapters
	m.loraTime = s.value
	m.Running, m.Waiting = names(s.get("running_lora_adapters")), names(s.get("waiting_lora_adapters"))
}

func names(list string) []string {
	var all []string
	for name := range strings.SplitSeq(list, ",") {
		if name = strings.TrimSpace(name); name != "" {
			all = append(all, name)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func count(s *sample) (float64, error) {
	if s.value < 0 || s.value > math.MaxInt32 {
		return 0, s.errorf("%v, want a count of at least 0", s.value)
	}
	return math.Trunc(s.value), nil
}

func ratio(s *sample) (float64, error) {
	if s.value < 0 || s.value > 1 {
		return 0, s.errorf("%v, want a ratio of 0..1", s.value)
	}
	return s.value, nil
}

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
