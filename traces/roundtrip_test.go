package traces

import (
	"bytes"
	"io"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"
	"pgregory.net/rapid"
)

func write(t interface{ Fatal(...any) }, format string, tr *Trace) []byte {
	var file bytes.Buffer
	if err := Write(format, &file, tr); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

func read(t interface{ Fatal(...any) }, content []byte, o Options) *Trace {
	tr, err := load("file", bytes.NewReader(content), o)
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// Parquet gives back every column, twice the same bytes, and the trace's meta.
func TestParquetRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawMeta(t)
		m.SourceFormat, m.SourceSHA256, m.DropReasons, m.RowsDropped = "mooncake", "abc", "torn=2", 2
		m.T0UnixNs = rapid.SampledFrom([]int64{Unknown, 0, 1 << 60}).Draw(t, "t0")
		records := drawRecords(t, m)
		for i := range records {
			drawRest(t, records[:i], &records[i])
		}
		want := build(t, m, records)
		file := write(t, "parquet", want)
		got := read(t, file, Options{})
		if got.Digest != want.Digest {
			t.Fatalf("digest %s, want %s", got.Digest, want.Digest)
		}
		if d := cmp.Diff(slices.Collect(want.Records()), slices.Collect(got.Records())); d != "" {
			t.Fatalf("records differ: %s", d)
		}
		if d := cmp.Diff(want.Meta, got.Meta); d != "" {
			t.Fatalf("meta differs: %s", d)
		}
		if again := write(t, "parquet", got); !bytes.Equal(again, file) {
			t.Fatal("written again, the file has other bytes")
		}
	})
}

// drawRest fills what only writers need. 0 and Unknown must stay apart.
func drawRest(t *rapid.T, before []Record, r *Record) {
	r.ID = rapid.SampledFrom([]string{"", "r"}).Draw(t, "id")
	r.SLO = rapid.SampledFrom([]string{"", "batch"}).Draw(t, "slo")
	r.PrefixKey = rapid.SampledFrom([]string{"", "support/v2"}).Draw(t, "prefix key")
	if p := rapid.IntRange(-1, len(before)-1).Draw(t, "parent"); p >= 0 && before[p].ArrivalNs <= r.ArrivalNs {
		r.ParentRow = int64(p)
	}
	r.Turn = rapid.Int32Range(Unknown, 1).Draw(t, "turn")
	r.ThinkNs = rapid.Int64Range(Unknown, 1).Draw(t, "think")
	r.MaxTokens = rapid.Int32Range(Unknown, 1).Draw(t, "max")
	r.CachedTokensObs = rapid.Int32Range(Unknown, 1).Draw(t, "cached")
	r.TTFTNsObs = rapid.Int64Range(Unknown, 1).Draw(t, "ttft")
	r.E2ENsObs = rapid.Int64Range(Unknown, 1).Draw(t, "e2e")
	r.ReplicaObs = rapid.SampledFrom([]string{"", "r0", "r1"}).Draw(t, "replica")
	r.Finish = rapid.SampledFrom([]string{"", "stop"}).Draw(t, "finish")
	r.Flags = rapid.Int32Range(0, 2).Draw(t, "flags")
	r.Status = Status(rapid.IntRange(0, len(statusNames)-1).Draw(t, "status"))
}

// A trace with no more than Mooncake's columns comes back from Mooncake's format, and says so beforehand.
func TestMooncakeRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := Meta{T0UnixNs: Unknown, BlockSize: 4, BlockTail: TailCeil}
		records := drawRecords(t, m)
		for i := range records {
			r := &records[i]
			r.ArrivalNs += rapid.SampledFrom([]int64{0, 1, 100, 999_999}).Draw(t, "ns")
			r.OutputTokens = max(r.OutputTokens, 1)
			r.SLO = rapid.SampledFrom([]string{"", "batch"}).Draw(t, "slo")
			r.PrefixKey = rapid.SampledFrom([]string{"", "support/v2"}).Draw(t, "prefix key")
			r.PrefixKey = rapid.SampledFrom([]string{"", "support/v2"}).Draw(t, "prefix key")
		}
		want := build(t, m, records)
		got := read(t, write(t, "mooncake", want), Options{BlockSize: rapid.SampledFrom([]int{0, 4}).Draw(t, "asked for")})
		if got.Digest != want.Digest {
			t.Fatalf("digest %s, want %s", got.Digest, want.Digest)
		}
		if !slices.Equal(got.ArrivalNs, want.ArrivalNs) {
			t.Fatalf("arrivals %v, want %v", got.ArrivalNs, want.ArrivalNs)
		}
		if lost := Lost("mooncake", want); lost != nil {
			t.Fatalf("said to lose %v", lost)
		}
	})
}

func TestLost(t *testing.T) {
	r := NewRecord()
	r.PromptTokens, r.Model, r.SLO, r.MaxTokens = 5, "m", "gold", 9
	tr := build(t, Meta{}, []Record{r})
	want := []string{"max_tokens", "output_tokens (unknown ones become 1)"}
	if d := cmp.Diff(want, Lost("mooncake", tr)); d != "" {
		t.Error(d)
	}
	if lost := Lost("parquet", tr); lost != nil {
		t.Errorf("parquet loses %v", lost)
	}
}

// Row groups end in the middle of a trace without a trace of it.
func TestParquetRowGroups(t *testing.T) {
	b := NewBuilder(Meta{BlockSize: 16})
	for i := range groupRows + 100 {
		r := NewRecord()
		r.ArrivalNs, r.Line, r.PromptTokens, r.Blocks = int64(i), int64(i+1), 33, []int64{int64(i % 3), 5, int64(i)}
		if err := b.Add(r); err != nil {
			t.Fatal(err)
		}
	}
	want, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	if got := read(t, write(t, "parquet", want), Options{}); got.Digest != want.Digest || got.Len() != groupRows+100 {
		t.Errorf("%d rows with digest %s, want %s", got.Len(), got.Digest, want.Digest)
	}
}

// The list has the full blocks only; the id of a partly filled one is in a column of its own.
func TestParquetTailBlock(t *testing.T) {
	b := NewBuilder(Meta{BlockSize: 4})
	for i, prompt := range []int32{10, 8, 3} {
		r := NewRecord()
		r.Line, r.PromptTokens, r.Blocks = int64(i), prompt, []int64{5, 6, 7}[:(prompt+3)/4]
		if err := b.Add(r); err != nil {
			t.Fatal(err)
		}
	}
	tr, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	rows := rawRows(t, write(t, "parquet", tr))
	// 10 tokens are the blocks 0, 1 and half of 2; 8 the first two; 3 a part of another block.
	for i, want := range []map[string]any{
		{"blocks": []any{int64(0), int64(1)}, "tail_block": int64(2)},
		{"blocks": []any{int64(0), int64(1)}, "tail_block": nil},
		{"blocks": []any{}, "tail_block": int64(3)},
	} {
		got := map[string]any{"blocks": rows[i]["blocks"], "tail_block": rows[i]["tail_block"]}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("row %d: %s", i, d)
		}
	}
}

// rawRows reads a Parquet file without the project's reader.
func rawRows(t *testing.T, file []byte) []map[string]any {
	t.Helper()
	f, err := parquet.OpenFile(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	rows := make([]map[string]any, f.NumRows())
	for i := range rows {
		rows[i] = map[string]any{}
	}
	if _, err := parquet.NewGenericReader[map[string]any](f, f.Schema()).Read(rows); err != nil && err != io.EOF {
		t.Fatal(err)
	}
	return rows
}
