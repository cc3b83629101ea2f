package reports

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/seed-2cee110a/triage/traces"
)

// request is a row of a trace made by hand.
type request struct {
	atMs           int64
	prompt, output int32
	blocks         []int64 // nil: identity unknown
}

// traceOf makes a trace with blocks of 10 tokens.
func traceOf(t *testing.T, requests ...request) *traces.Trace {
	t.Helper()
	b := traces.NewBuilder(traces.Meta{SourceFormat: "hand", BlockSize: 10, BlockTail: traces.TailCeil, IdentityKind: "chain"})
	for i, q := range requests {
		r := traces.NewRecord()
		r.Line, r.ArrivalNs, r.PromptTokens, r.OutputTokens, r.Blocks = int64(i+1), q.atMs*1e6, q.prompt, q.output, q.blocks
		if err := b.Add(r); err != nil {
			t.Fatal(err)
		}
	}
	tr, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	tr.Name = "hand.jsonl"
	return tr
}

// Four requests in 2 s, three of them at the same instant. Of 30 + 20 + 10 = 60 identified prompt tokens, the second
// request finds its first block of 10 and its second of 10 cached: 20 / 60. The third starts with another block.
func TestInspect(t *testing.T) {
	info := Inspect(traceOf(t,
		request{0, 30, 4, []int64{1, 2, 3}},
		request{2000, 20, 1, []int64{1, 2}},
		request{2000, 10, 1, []int64{9}},
		request{2000, 100, traces.Unknown, nil}))
	want := TraceInfo{
		Name: "hand.jsonl", Format: "hand", Requests: 4, SpanS: 2,
		Rate:   RateInfo{Mean: 2, Peak1: 3, Peak60: number(math.NaN())},
		Prompt: Spread{Known: 4, Total: 160, Mean: 40, P50: 20, P90: 100, P99: 100, Max: 100},
		Output: Spread{Known: 3, Total: 6, Mean: 2, P50: 1, P90: 4, P99: 4, Max: 4},
		Ties:   TieInfo{Requests: 3, Largest: 3},
		Identity: Identity{Known: 3, Kind: "chain", BlockSize: 10, BlockTail: "ceil", HitRatio: number(20.0 / 60),
			Groups: 2, TopShare: number(2.0 / 3)},
		Adapters: AdapterInfo{BaseShare: 1},
	}
	ignore := cmpopts.IgnoreFields(TraceInfo{}, "Digest", "MemoryBytes", "Warnings")
	near := cmp.Comparer(func(a, b number) bool {
		return math.IsNaN(float64(a)) && math.IsNaN(float64(b)) || math.Abs(float64(a-b)) < 1e-12
	})
	if diff := cmp.Diff(want, info, ignore, near); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if len(info.Warnings) == 0 {
		t.Error("no warning about the request without identity")
	}
}

// Of five requests two are for b and two for a, which comes later: b is the top one, and the fifth is for none.
func TestInspectAdapters(t *testing.T) {
	b := traces.NewBuilder(traces.Meta{Overlays: "slo=x;adapters=how"})
	for i, adapter := range []string{"b", "", "a", "a", "b"} {
		r := traces.NewRecord()
		r.Line, r.PromptTokens, r.Adapter = int64(i+1), 1, adapter
		if err := b.Add(r); err != nil {
			t.Fatal(err)
		}
	}
	tr, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	want := AdapterInfo{Count: 2, Top: "b", TopShare: 0.4, BaseShare: 0.2, Overlay: "how"}
	if got := Inspect(tr).Adapters; got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if got, want := Inspect(tr).Adapters.text(), "2; 40 % of requests are for b, the most, and 20 % for the base model; drawn by how"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestInspectWithoutIdentityClaimsNothing(t *testing.T) {
	info := Inspect(traceOf(t, request{0, 30, 4, nil}, request{0, 20, 1, nil}))
	var text, doc bytes.Buffer
	if err := info.Text(&text); err != nil {
		t.Fatal(err)
	}
	if err := info.JSON(&doc); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(text.String(), "identity unknown") || strings.Contains(text.String(), "NaN") {
		t.Errorf("got\n%s", text.String())
	}
	var got struct {
		Identity struct {
			HitRatio *float64 `json:"infinite_cache_hit_ratio"`
		}
		Rate struct{ Mean *float64 } `json:"requests_per_s"`
	}
	if err := json.Unmarshal(doc.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if got.Identity.HitRatio != nil || got.Rate.Mean != nil {
		t.Errorf("hit ratio %v, mean rate of a span of 0 s %v: want null", got.Identity.HitRatio, got.Rate.Mean)
	}
}
