package traces

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// openShared opens a trace that lies beside the checkout.
func openShared(t *testing.T, name string) *Trace {
	t.Helper()
	path := filepath.Join("../../shared/traces", name)
	if _, err := os.Stat(path); err != nil {
		t.Skip("no shared traces beside the checkout")
	}
	tr, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// The public Mooncake conversation trace (https://github.com/kvcache-ai/Mooncake, FAST25-release): row and block
// counts are those of the file, counted without this package.
func TestConversation(t *testing.T) {
	tr := openShared(t, "mooncake/conversation_trace.jsonl.gz")
	if tr.Len() != 12031 || tr.UniqueBlocks() != 182790 {
		t.Errorf("%d requests, %d blocks; want 12031, 182790", tr.Len(), tr.UniqueBlocks())
	}
	if got := tr.InfiniteHitRatio(); math.Abs(got-0.3736) > 0.00005 {
		t.Errorf("infinite hit ratio %.5f, want 0.3736", got)
	}
	if tr.Forest.Walks[0] != 12031 || tr.Forest.End[0] != 512 {
		t.Errorf("the first node ends at %d and has %d walks, want 512 and all", tr.Forest.End[0], tr.Forest.Walks[0])
	}
	a, b := slices.Index(tr.Line, 7728), slices.Index(tr.Line, 7733)
	if a < 0 || b < 0 || tr.ArrivalNs[a] != tr.ArrivalNs[b] || tr.Leaf[a] != tr.Leaf[b] || tr.Prompt[a] != tr.Prompt[b] {
		t.Errorf("lines 7728 and 7733 are rows %d and %d, want two equal requests", a, b)
	}
	if tr.Meta.BlockTail != TailCeil || tr.Meta.BlockSize != 512 {
		t.Errorf("meta %+v", tr.Meta)
	}
	for _, format := range []string{"mooncake", "parquet"} {
		again := read(t, write(t, format, tr), Options{})
		if again.Digest != tr.Digest || !slices.Equal(again.Forest.Hash, tr.Forest.Hash) {
			t.Errorf("as %s: digest %s, want %s", format, again.Digest, tr.Digest)
		}
	}
}

// The public Azure code trace of 2023 (https://github.com/Azure/AzurePublicDataset).
func TestAzureCode(t *testing.T) {
	tr := openShared(t, "azure2023/AzureLLMInferenceTrace_code.csv.gz")
	if tr.Len() != 8819 || slices.Max(tr.Prompt) != 7437 || slices.Max(tr.Leaf) != -1 {
		t.Errorf("%d requests up to %d tokens, leaf %d", tr.Len(), slices.Max(tr.Prompt), slices.Max(tr.Leaf))
	}
	// The first two rows are 18:17:03.9799600 and 18:17:04.0319600.
	if tr.ArrivalNs[1] != 52_000_000 || tr.Meta.T0UnixNs != 1700158623_979960000 {
		t.Errorf("second arrival %d, t0 %d", tr.ArrivalNs[1], tr.Meta.T0UnixNs)
	}
	if !slices.Contains(tr.Notes, "8819 of 8819 requests have no prefix identity: hits and affinity are unknown for them") {
		t.Errorf("notes %q", tr.Notes)
	}
	if !math.IsNaN(tr.InfiniteHitRatio()) {
		t.Errorf("infinite hit ratio %v, want none", tr.InfiniteHitRatio())
	}
}

func TestAzureCopy(t *testing.T) {
	tr := openShared(t, "azure2023/inference-perf_example_trace.csv")
	if tr.Len() != 20 || tr.Prompt[0] != 374 || tr.Output[0] != 44 {
		t.Errorf("%d requests, the first %d and %d tokens; want 20, 374, 44", tr.Len(), tr.Prompt[0], tr.Output[0])
	}
}

// truth is the answer key of the sample logs.
type truth struct {
	Records []struct {
		Arrival int64 `json:"arrival_ns_rel"`
		Prompt  int32 `json:"prompt_tokens"`
		Output  int32 `json:"output_tokens"`
		HTTP    int   `json:"http"`
	}
}

func TestSampleLogs(t *testing.T) {
	for _, tc := range []struct {
		file   string
		status []int // of the requests that the encoding keeps
	}{
		{"mooncake.jsonl", []int{200, 499}},
		{"azure.csv", []int{200}},
	} {
		tr := openShared(t, filepath.Join("log-formats", tc.file))
		content, err := os.ReadFile("../../shared/traces/log-formats/truth.json")
		if err != nil {
			t.Fatal(err)
		}
		var key truth
		if err := json.Unmarshal(content, &key); err != nil {
			t.Fatal(err)
		}
		var want, got [][3]int64
		for _, r := range key.Records {
			if slices.Contains(tc.status, r.HTTP) {
				want = append(want, [3]int64{r.Arrival, int64(r.Prompt), int64(max(r.Output, 1))})
			}
		}
		for r := range tr.Records() {
			got = append(got, [3]int64{r.ArrivalNs, int64(r.PromptTokens), int64(r.OutputTokens)})
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s: %s", tc.file, d)
		}
	}
}
