package promsignals

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/seed-2cee110a/triage/policies"
)

const vllm = `# HELP vllm:num_requests_running Number of requests in model execution batches.
# TYPE vllm:num_requests_running gauge
vllm:num_requests_running{engine="0",model_name="Qwen/Qwen3-32B"} 12.0
# HELP vllm:num_requests_waiting Number of requests waiting to be processed.
# TYPE vllm:num_requests_waiting gauge
vllm:num_requests_waiting{engine="0",model_name="Qwen/Qwen3-32B"} 3.0
# HELP vllm:kv_cache_usage_perc KV-cache usage. 1 means 100 percent usage.
# TYPE vllm:kv_cache_usage_perc gauge
vllm:kv_cache_usage_perc{engine="0",model_name="Qwen/Qwen3-32B"} 0.4231
# HELP vllm:num_preemptions_total Cumulative number of preemption from the engine.
# TYPE vllm:num_preemptions_total counter
vllm:num_preemptions_total{engine="0",model_name="Qwen/Qwen3-32B"} 0.0
vllm:time_to_first_token_seconds_bucket{engine="0",le="+Inf",model_name="Qwen/Qwen3-32B"} 1.2e+01
# HELP vllm:cache_config_info Information of the LLMEngine CacheConfig
# TYPE vllm:cache_config_info gauge
vllm:cache_config_info{block_size="16",cache_dtype="auto",engine="0",gpu_memory_utilization="0.9",num_gpu_blocks="19208",num_gpu_blocks_override="None"} 1.0
# HELP vllm:lora_requests_info Running stats on lora requests.
# TYPE vllm:lora_requests_info gauge
vllm:lora_requests_info{max_lora="4",running_lora_adapters="old",waiting_lora_adapters=""} 1.7596400000e+09
vllm:lora_requests_info{max_lora="4",running_lora_adapters="sql,chat,sql",waiting_lora_adapters="code"} 1.7596400012e+09
vllm:lora_requests_info{max_lora="4",running_lora_adapters="older",waiting_lora_adapters=""} 1.7596300000e+09
`

const sglang = `# HELP sglang:num_running_reqs The number of running requests.
# TYPE sglang:num_running_reqs gauge
sglang:num_running_reqs{engine_type="unified",model_name="meta-llama/Llama-3.1-8B-Instruct",pp_rank="0",tp_rank="0"} 7.0
sglang:num_queue_reqs{engine_type="unified",model_name="meta-llama/Llama-3.1-8B-Instruct",pp_rank="0",tp_rank="0"} 0.0
sglang:token_usage{engine_type="unified",model_name="meta-llama/Llama-3.1-8B-Instruct",pp_rank="0",tp_rank="0"} 0.28
sglang:cache_config_info{num_pages="400000",page_size="1"} 1.0
`

const all = policies.HasWaiting | policies.HasRunning | policies.HasKVUsed | policies.HasKVTokens

func TestParse(t *testing.T) {
	for _, tc := range []struct {
		name string
		page string
		o    Options
		want Metrics
	}{
		{"vLLM", vllm, Options{}, Metrics{Engines: 1, Running: []string{"chat", "sql"}, Waiting: []string{"code"},
			Signals: policies.Signals{Have: all | policies.HasAdapters, Waiting: 3, Running: 12, KVUsed: 0.4231, KVTokens: 307_328, BlockSize: 16, MaxAdapters: 4}}},
		{"SGLang", sglang, Options{}, Metrics{Engines: 1,
			Signals: policies.Signals{Have: all, Running: 7, KVUsed: 0.28, KVTokens: 400_000, BlockSize: 1}}},
		{"the older name", `vllm:gpu_cache_usage_perc 0.5`, Options{}, Metrics{Engines: 1,
			Signals: policies.Signals{Have: policies.HasKVUsed, KVUsed: 0.5}}},
		{"both names, the newer counts", "vllm:kv_cache_usage_perc 0.5\nvllm:gpu_cache_usage_perc 0.25", Options{}, Metrics{Engines: 1,
			Signals: policies.Signals{Have: policies.HasKVUsed, KVUsed: 0.5}}},
		{"both names, the older first", "vllm:gpu_cache_usage_perc 0.25\nvllm:kv_cache_usage_perc 0.5", Options{}, Metrics{Engines: 1,
			Signals: policies.Signals{Have: policies.HasKVUsed, KVUsed: 0.5}}},
		{"missing is not zero", `vllm:num_requests_waiting 0`, Options{}, Metrics{Engines: 1, Signals: policies.Signals{Have: policies.HasWaiting}}},
		{"NaN is missing", "vllm:num_requests_waiting NaN\nvllm:num_requests_running 2\nvllm:kv_cache_usage_perc NaN", Options{}, Metrics{Engines: 1,
			Signals: policies.Signals{Have: policies.HasRunning, Running: 2}}},
		{"a cache that is not laid out", `vllm:cache_config_info{block_size="16",num_gpu_blocks="None"} 1`, Options{}, Metrics{Engines: 1}},
		{"a timestamp and an exemplar", "vllm:num_requests_waiting 4 1700000000000\nvllm:num_requests_running 5 # {trace=\"a\"} 1 2", Options{}, Metrics{Engines: 1,
			Signals: policies.Signals{Have: policies.HasWaiting | policies.HasRunning, Waiting: 4, Running: 5}}},
		// used (0.5*1000*16 + 0.1*3000*16) of 4000*16 tokens: 800/4000
		{"two engines", two, Options{}, Metrics{Engines: 2,
			Signals: policies.Signals{Have: all, Waiting: 5, Running: 30, KVUsed: 0.2, KVTokens: 64_000, BlockSize: 16}}},
		{"one of two engines", two, Options{Engine: "1"}, Metrics{Engines: 1,
			Signals: policies.Signals{Have: all, Waiting: 4, Running: 10, KVUsed: 0.1, KVTokens: 48_000, BlockSize: 16}}},
		// without capacities the mean of 0.5 and 0.1; the waiting requests of one engine are not all
		{"two engines, half told", strings.ReplaceAll(strings.Replace(two, "vllm:num_requests_waiting{engine=\"0\"} 1\n", "", 1), "cache_config_info", "x"), Options{}, Metrics{Engines: 2,
			Signals: policies.Signals{Have: policies.HasRunning | policies.HasKVUsed, Running: 30, KVUsed: 0.3}}},
		{"a usage a little above 1 is 1 in the mean too", "vllm:kv_cache_usage_perc{engine=\"0\"} 1.01\nvllm:kv_cache_usage_perc{engine=\"1\"} 0.5", Options{}, Metrics{Engines: 2,
			Signals: policies.Signals{Have: policies.HasKVUsed, KVUsed: 0.75}}},
		{"data parallel SGLang", "sglang:num_queue_reqs{dp_rank=\"0\"} 1\nsglang:num_queue_reqs{dp_rank=\"1\"} 2", Options{}, Metrics{Engines: 2,
			Signals: policies.Signals{Have: policies.HasWaiting, Waiting: 3}}},
		{"ranks of one SGLang engine", "sglang:num_queue_reqs{tp_rank=\"1\"} 9\nsglang:num_queue_reqs{tp_rank=\"0\"} 2\nsglang:num_queue_reqs{tp_rank=\"0\",pp_rank=\"1\"} 8\nsglang:num_queue_reqs{tp_rank=\"3\"} 7", Options{}, Metrics{Engines: 1,
			Signals: policies.Signals{Have: policies.HasWaiting, Waiting: 2}}},
		{"ranks of two SGLang engines", "sglang:num_queue_reqs{dp_rank=\"0\",tp_rank=\"0\"} 1\nsglang:num_queue_reqs{dp_rank=\"1\",tp_rank=\"5\"} 9\nsglang:num_queue_reqs{dp_rank=\"1\",tp_rank=\"4\"} 2", Options{}, Metrics{Engines: 2,
			Signals: policies.Signals{Have: policies.HasWaiting, Waiting: 3}}},
		{"one of two models", "vllm:num_requests_waiting{model_name=\"a\"} 1\nvllm:num_requests_waiting{model_name=\"b\"} 2", Options{Model: "b"}, Metrics{Engines: 1,
			Signals: policies.Signals{Have: policies.HasWaiting, Waiting: 2}}},
		{"escapes", `vllm:num_requests_waiting{ model_name = "a\"},\\\n" , engine="0",} 6`, Options{Model: "a\"},\\\n"}, Metrics{Engines: 1,
			Signals: policies.Signals{Have: policies.HasWaiting, Waiting: 6}}},
		{"different blocks", "vllm:cache_config_info{engine=\"0\",block_size=\"16\",num_gpu_blocks=\"10\"} 1\nvllm:cache_config_info{engine=\"1\",block_size=\"32\",num_gpu_blocks=\"10\"} 1", Options{},
			Metrics{Engines: 2, Signals: policies.Signals{Have: policies.HasKVTokens, KVTokens: 480}}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := Parse([]byte(tc.page), tc.o)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got, cmpopts.EquateApprox(0, 1e-15)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

const two = `vllm:num_requests_waiting{engine="0"} 1
vllm:num_requests_waiting{engine="1"} 4
vllm:num_requests_running{engine="0"} 20
vllm:num_requests_running{engine="1"} 10
vllm:kv_cache_usage_perc{engine="0"} 0.5
vllm:kv_cache_usage_perc{engine="1"} 0.1
vllm:cache_config_info{engine="0",block_size="16",num_gpu_blocks="1000"} 1
vllm:cache_config_info{engine="1",block_size="16",num_gpu_blocks="3000"} 1
`

func TestParseRefuses(t *testing.T) {
	for page, want := range map[string]string{
		"": "no metric of vLLM or SGLang, want such as vllm:num_requests_waiting",
		"# only comments\nprocess_cpu_seconds_total 3":             "no metric of vLLM or SGLang",
		"x 1\nvllm:num_requests_waiting -1":                        "line 2: vllm:num_requests_waiting: -1, want a count of at least 0",
		"vllm:num_requests_running +Inf":                           "line 1: vllm:num_requests_running: +Inf, want a count of at least 0",
		`vllm:cache_config_info{block_size="0"} 1`:                 `line 1: vllm:cache_config_info: label block_size is "0", want a whole number, at least 1`,
		`vllm:cache_config_info{num_gpu_blocks="many"} 1`:          `label num_gpu_blocks is "many"`,
		"vllm:num_requests_waiting 1\nvllm:num_requests_waiting 2": `line 2: vllm:num_requests_waiting: given twice for engine "", want it once`,
		"<html>":                                  "no metric of vLLM or SGLang",
		"vllm:num_requests_waiting":               `line 1: 0 fields after the name, want a value`,
		"vllm:num_requests_waiting ":              `line 1: 0 fields after the name, want a value`,
		"vllm:num_requests_waiting 1_0":           `line 1: value "1_0", want a number`,
		"vllm:num_requests_waiting 0x1p3":         `line 1: value "0x1p3", want a number`,
		"vllm:num_requests_waiting 1 1_0":         `line 1: timestamp "1_0", want a number`,
		"vllm:num_requests_waiting three":         `line 1: value "three", want a number`,
		"vllm:num_requests_waiting 1 2 3":         `line 1: 3 fields after the name, want a value`,
		"vllm:num_requests_waiting 1 soon":        `line 1: timestamp "soon", want a number`,
		`vllm:num_requests_waiting{a="b} 1`:       `line 1: a label value without an end`,
		`vllm:num_requests_waiting{a="b\`:         `line 1: a label value without an end`,
		`vllm:num_requests_waiting{a=b} 1`:        `line 1: a broken label, want name="value"`,
		`vllm:num_requests_waiting{9="b"} 1`:      `line 1: a broken label`,
		`vllm:num_requests_waiting{a="b"c="d"} 1`: `line 1: no , or } after a label`,
		`vllm:num_requests_waiting{a="b"`:         `line 1: no , or } after a label`,
	} {
		if m, err := Parse([]byte(page), Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %+v, error %v, want %s", page, m, err, want)
		}
	}
}

// A usage that no cache can have is missing, and nothing else is; a little more than all is all.
func TestParseUsage(t *testing.T) {
	for text, want := range map[string]float64{"1.01": 1, "1.0000001": 1, "1": 1, "0": 0, "1.011": -1, "-0.1": -1, "-Inf": -1, "+Inf": -1} {
		for _, name := range []string{"vllm:kv_cache_usage_perc", "vllm:gpu_cache_usage_perc", "sglang:token_usage"} {
			m, err := Parse([]byte(name+" "+text+"\nvllm:num_requests_waiting 2\n"), Options{})
			if err != nil {
				t.Fatalf("%s %s: %v", name, text, err)
			}
			wanted := policies.Signals{Have: policies.HasWaiting, Waiting: 2}
			if want >= 0 {
				wanted.Have, wanted.KVUsed = wanted.Have|policies.HasKVUsed, want
			}
			if m.Signals != wanted {
				t.Errorf("%s %s: %+v, want %+v", name, text, m.Signals, wanted)
			}
		}
	}
}

// Whatever stands in lines of other metrics, the page says the same.
func TestParseForeign(t *testing.T) {
	want, err := Parse([]byte(vllm), Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"<html>", "x", "x y", "x 1 2 3", `x{a="b`, `x{a=b} 1`, "9x 1", `{"vllm:num_requests_waiting"} 9`, "vllm:num_requests_waiting_total three", "\xff\x00", "vllm:x{ 1"} {
		page := line + "\n" + strings.ReplaceAll(vllm, "\n", "\n"+line+"\n")
		got, err := Parse([]byte(page), Options{})
		if err != nil {
			t.Errorf("with %q: %v", line, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("with %q (-without +with):\n%s", line, diff)
		}
	}
}

// Of each engine the newest adapters count, and only of the engines that are asked for. A list of no engine is of all.
func TestParseAdapters(t *testing.T) {
	page := `vllm:num_requests_waiting{engine="0"} 1
vllm:num_requests_waiting{engine="1"} 4
`
	lists := `vllm:lora_requests_info{engine="0",running_lora_adapters="old",waiting_lora_adapters="older"} 1
vllm:lora_requests_info{engine="1",running_lora_adapters="gone",waiting_lora_adapters="gone"} NaN
vllm:lora_requests_info{engine="1",running_lora_adapters="sql,b",waiting_lora_adapters="c"} 2
vllm:lora_requests_info{engine="0",running_lora_adapters="chat,sql",waiting_lora_adapters=""} 5
vllm:lora_requests_info{engine="1",running_lora_adapters="oldest",waiting_lora_adapters=""} 1
`
	for _, tc := range []struct {
		name, page, engine string
		running, waiting   []string
		told               bool
	}{
		{"both", page + lists, "", []string{"b", "chat", "sql"}, []string{"c"}, true},
		{"the first", page + lists, "0", []string{"chat", "sql"}, nil, true},
		{"the second", page + lists, "1", []string{"b", "sql"}, []string{"c"}, true},
		{"of no engine", page + `vllm:lora_requests_info{running_lora_adapters="x"} 1`, "1", []string{"x"}, nil, true},
		{"of another engine", page + `vllm:lora_requests_info{engine="0",running_lora_adapters="x"} 1`, "1", nil, nil, false},
		{"none", page, "", nil, nil, false},
	} {
		m, err := Parse([]byte(tc.page), Options{Engine: tc.engine})
		if err != nil {
			t.Fatal(err)
		}
		if told := m.Signals.Have&policies.HasAdapters != 0; told != tc.told || !slices.Equal(m.Running, tc.running) || !slices.Equal(m.Waiting, tc.waiting) {
			t.Errorf("%s: told %v, running %q, waiting %q, want %v, %q, %q", tc.name, told, m.Running, m.Waiting, tc.told, tc.running, tc.waiting)
		}
	}
}

// Slots are summed over the engines if the newest list of each says them.
func TestParseAdapterSlots(t *testing.T) {
	const page = "vllm:num_requests_waiting{engine=\"0\"} 1\nvllm:num_requests_waiting{engine=\"1\"} 4\n"
	list := func(engine, slots string, time int) string {
		return fmt.Sprintf("vllm:lora_requests_info{engine=%q,max_lora=%q,running_lora_adapters=\"a\"} %d\n", engine, slots, time)
	}
	for _, tc := range []struct {
		name, page string
		want       int32
	}{
		{"both", page + list("0", "4", 1) + list("1", "8", 1), 12},
		{"an older number of one", page + list("0", "4", 2) + list("1", "8", 1) + list("0", "16", 1), 12},
		{"one does not say", page + list("0", "4", 1) + list("1", "", 1), 0},
		{"one has none yet", page + list("0", "4", 1), 0},
		{"no slots", page + list("0", "0", 1) + list("1", "0", 1), 0},
	} {
		if m, err := Parse([]byte(tc.page), Options{}); err != nil || m.Signals.MaxAdapters != tc.want {
			t.Errorf("%s: %d slots, error %v, want %d", tc.name, m.Signals.MaxAdapters, err, tc.want)
		}
	}
	_, err := Parse([]byte(page+list("0", "-1", 1)), Options{})
	if want := `line 3: vllm:lora_requests_info: label max_lora is "-1", want a whole number, at least 0`; err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}

// No page panics, and what comes out is in range.
func FuzzParse(f *testing.F) {
	for _, page := range []string{vllm, sglang, two, `vllm:num_requests_waiting{a="\\`} {
		f.Add([]byte(page))
	}
	f.Fuzz(func(t *testing.T, page []byte) {
		m, err := Parse(page, Options{})
		s := m.Signals
		if err == nil && (s.Waiting < 0 || s.Running < 0 || math.IsNaN(s.KVUsed) || s.KVUsed < 0 || s.KVUsed > 1 || s.KVTokens < 0 || s.BlockSize < 0 || s.MaxAdapters < 0) {
			t.Errorf("signals %+v of %q", s, page)
		}
	})
}
