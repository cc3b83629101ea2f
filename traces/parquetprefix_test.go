package traces

import (
	"bytes"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"
	"pgregory.net/rapid"
)

// compactRow is a row of the compact profile, as another writer makes it.
type compactRow struct {
	At           int64   `parquet:"arrival_ns"`
	Line         int64   `parquet:"src_line"`
	Model        string  `parquet:"model,optional,dict"`
	Adapter      string  `parquet:"adapter,optional,dict"`
	Tenant       string  `parquet:"tenant,optional,dict"`
	Session      string  `parquet:"session,optional,dict"`
	Prompt       int32   `parquet:"prompt_tokens"`
	Output       *int32  `parquet:"output_tokens,optional"`
	Blocks       []int64 `parquet:"blocks,optional,list" parquet-element:",delta"`
	Tail         *int64  `parquet:"tail_block,optional"`
	PrefixRow    *int64  `parquet:"prefix_row,optional"`
	PrefixBlocks *int32  `parquet:"prefix_blocks,optional"`
	Finish       string  `parquet:"finish,optional,dict"`
	Flags        int32   `parquet:"flags"`
}

// compactFile writes rows in groups of a few.
func compactFile(t interface{ Fatal(...any) }, m Meta, group int, rows []compactRow) []byte {
	var file bytes.Buffer
	w := parquet.NewGenericWriter[compactRow](&file, parquetOptions(m)...)
	for part := range slices.Chunk(rows, group) {
		if _, err := w.Write(part); err != nil {
			t.Fatal(err)
		}
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

// full is the number of a record's blocks that are not partly filled.
func full(r Record, m Meta) int { return min(len(r.Blocks), int(r.PromptTokens/m.BlockSize)) }

// drawCompact writes records with references to any earlier rows, of any length up to what they share.
func drawCompact(t *rapid.T, m Meta, records []Record) []compactRow {
	rows := make([]compactRow, len(records))
	for i, r := range records {
		n := full(r, m)
		row := compactRow{At: r.ArrivalNs, Line: r.Line, Model: r.Model, Adapter: r.Adapter, Tenant: r.Tenant,
			Session: r.Session, Prompt: r.PromptTokens, Output: known(r.OutputTokens), Blocks: slices.Clone(r.Blocks)}
		if r.Blocks != nil {
			row.Blocks = row.Blocks[:n]
		}
		if n < len(r.Blocks) {
			row.Tail = &r.Blocks[n]
		}
		if from := rapid.IntRange(-1, i-1).Draw(t, "from"); from >= 0 && r.Blocks != nil {
			before := records[from]
			shared := 0
			for shared < min(n, full(before, m)) && r.Blocks[shared] == before.Blocks[shared] {
				shared++
			}
			shared = rapid.IntRange(0, shared).Draw(t, "shared")
			row.PrefixRow, row.PrefixBlocks, row.Blocks = new(int64), new(int32), row.Blocks[shared:]
			*row.PrefixRow, *row.PrefixBlocks = int64(from), int32(shared)
		}
		rows[i] = row
	}
	return rows
}

// A compact file is the same trace as the records it was made of, whole and cut, in row groups of any size.
func TestCompactParquet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawMeta(t)
		records := drawRecords(t, m)
		for _, r := range records {
			for k := range r.Blocks {
				r.Blocks[k]++ // a tail_block of -1 would be none
			}
		}
		group := rapid.IntRange(1, 5).Draw(t, "group")
		file := compactFile(t, m, group, drawCompact(t, m, records))
		limit := rapid.IntRange(1, len(records)).Draw(t, "limit")
		for _, n := range []int{limit, len(records)} {
			want := slices.Collect(build(t, m, records[:n]).Records())
			if d := cmp.Diff(want, slices.Collect(read(t, file, Options{Limit: n}).Records())); d != "" {
				t.Fatalf("%d of %d rows: %s", n, len(records), d)
			}
		}
	})
}

// Three turns of a session and another prompt, in blocks of 4: the second turn has the first's two blocks and one more,
// the third, all of the second's, of which it names the row of the second though the first lists most of them.
func TestCompactByHand(t *testing.T) {
	tail := int64(9)
	rows := []compactRow{
		{Prompt: 8, Blocks: []int64{5, 6}},
		{At: 1, Prompt: 12, Blocks: []int64{7}, PrefixRow: at(0), PrefixBlocks: blocks(2)},
		{At: 2, Prompt: 14, Blocks: nil, Tail: &tail, PrefixRow: at(1), PrefixBlocks: blocks(3)},
		{At: 3, Prompt: 7, Blocks: []int64{}, Tail: &tail, PrefixRow: at(2), PrefixBlocks: blocks(1)},
	}
	m := Meta{BlockSize: 4, BlockTail: TailCeil}
	var got [][]int64
	for r, err := range Read("", bytes.NewReader(compactFile(t, m, 2, rows)), Options{}) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, r.Blocks)
	}
	if d := cmp.Diff([][]int64{{5, 6}, {5, 6, 7}, {5, 6, 7, 9}, {5, 9}}, got); d != "" {
		t.Error(d)
	}
}

func at(row int64) *int64   { return &row }
func blocks(n int32) *int32 { return &n }

func TestCompactErrors(t *testing.T) {
	for _, tc := range []struct {
		name   string
		row    *int64
		blocks *int32
		want   string
	}{
		{"itself", at(2), blocks(1), "f:3: prefix_row is 2, want an earlier row (this is row 2)"},
		{"forward", at(3), blocks(1), "f:3: prefix_row is 3, want an earlier row (this is row 2)"},
		{"beyond the file", at(1 << 40), blocks(1), "f:3: prefix_row is 1099511627776, want an earlier row (this is row 2)"},
		{"negative", at(-2), blocks(1), "f:3: prefix_row is -2, want an earlier row (this is row 2)"},
		{"too many", at(0), blocks(3), "f:3: prefix_blocks is 3, but row 0 has 2 full blocks"},
		{"no number", at(0), nil, "f:3: prefix_row is 0, but prefix_blocks is null; want a number of blocks"},
		{"no row", nil, blocks(2), "f:3: prefix_blocks is 2, but prefix_row is null; want an earlier row"},
		{"negative number", at(0), blocks(-3), "f:3: prefix_row is 0, but prefix_blocks is -3; want a number of blocks"},
		{"unknown identity", at(1), blocks(1), "f:3: prefix_row is 1, which has no blocks: its identity is unknown"},
		{"too short", at(0), blocks(1), "f:3: 2 hash ids cannot cover 12 tokens in blocks of 4 (3 needed); a block size of 6 to 11 would fit (5 to 6 if the last, partly filled block has no id); did you mean --trace-block-size 8?"},
	} {
		rows := []compactRow{
			{Prompt: 9, Blocks: []int64{5, 6}, Tail: at(7)},
			{At: 1, Prompt: 9},
			{At: 2, Prompt: 12, Blocks: []int64{7}, PrefixRow: tc.row, PrefixBlocks: tc.blocks},
			{At: 3, Prompt: 4, Blocks: []int64{8}},
		}
		file := compactFile(t, Meta{BlockSize: 4, BlockTail: TailCeil}, 2, rows)
		if _, err := load("f", bytes.NewReader(file), Options{}); err == nil || err.Error() != tc.want {
			t.Errorf("%s\n got %v\nwant %s", tc.name, err, tc.want)
		}
		if tr, err := load("f", bytes.NewReader(file), Options{Limit: 2}); err != nil || tr.Len() != 2 {
			t.Errorf("%s: the rows before it: %v", tc.name, err)
		}
	}
}

// A long chain of rows that only point to the one before is followed once, not by each row.
func TestCompactChain(t *testing.T) {
	var p prefixes
	if err := p.add(Unknown, Unknown, []int64{5, 6}); err != nil {
		t.Fatal(err)
	}
	for row := range int64(100) {
		if err := p.add(row, 2, []int64{}); err != nil {
			t.Fatal(err)
		}
		if got := p.rows[row+1].row; got != 0 {
			t.Fatalf("row %d is resolved to row %d, want 0, which lists the blocks", row+1, got)
		}
	}
	if got := p.last(); !slices.Equal(got, []int64{5, 6}) {
		t.Errorf("blocks %v, want those of the first row", got)
	}
}

// Every file has the columns flags and finish; those of other writers are passed on.
func TestParquetFlagsAndFinish(t *testing.T) {
	f, err := parquet.OpenFile(bytes.NewReader(demo), int64(len(demo)))
	if err != nil {
		t.Fatal(err)
	}
	flags, finish := f.Root().Column("flags"), f.Root().Column("finish")
	if flags == nil || flags.Optional() || flags.Type().Kind() != parquet.Int32 {
		t.Errorf("flags is %v, want a required INT32", flags)
	}
	if finish == nil || !finish.Optional() || finish.Type().String() != "STRING" {
		t.Errorf("finish is %v, want an optional STRING", finish)
	}
	if row := rawRows(t, demo)[0]; row["flags"] != int32(0) || row["finish"] != nil {
		t.Errorf("flags %v, finish %v, want 0 and null", row["flags"], row["finish"])
	}
	file := compactFile(t, Meta{}, 2, []compactRow{{At: 1, Prompt: 5, Flags: 3, Finish: "length"}, {Prompt: 5}})
	row := rawRows(t, write(t, "parquet", read(t, file, Options{})))
	if row[1]["flags"] != int32(3) || plain(row[1]["finish"]) != "length" || row[0]["flags"] != int32(0) || row[0]["finish"] != nil {
		t.Errorf("rows %v, want flags and finish with the later request", row)
	}
	bad := compactFile(t, Meta{}, 2, []compactRow{{Prompt: 5}, {Prompt: 5, Flags: -3}})
	if _, err := load("f", bytes.NewReader(bad), Options{}); err == nil || err.Error() != "f:2: flags is -3, want at least 0" {
		t.Error(err)
	}
}
