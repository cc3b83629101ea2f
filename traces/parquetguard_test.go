package traces

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// packedRow is a row with the columns that every file must have, one of them with a dictionary.
type packedRow struct {
	At     int64  `parquet:"arrival_ns"`
	Prompt int32  `parquet:"prompt_tokens"`
	Model  string `parquet:"model,dict"`
}

// packedParquet is a file of a few rows under a codec.
func packedParquet(t interface{ Fatal(...any) }, codec compress.Codec) []byte {
	var file bytes.Buffer
	w := parquet.NewGenericWriter[packedRow](&file, append(parquetOptions(Meta{}), parquet.Compression(codec))...)
	for i := range 100 {
		if _, err := w.Write([]packedRow{{At: int64(i), Prompt: 5, Model: "m"}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

// editFooter changes what a file says of itself at its end.
func editFooter(t *testing.T, file []byte, edit func(*format.FileMetaData)) []byte {
	t.Helper()
	start := len(file) - 8 - int(binary.LittleEndian.Uint32(file[len(file)-8:]))
	var m format.FileMetaData
	protocol := new(thrift.CompactProtocol)
	if err := thrift.Unmarshal(protocol, file[start:len(file)-8], &m); err != nil {
		t.Fatal(err)
	}
	edit(&m)
	footer, err := thrift.Marshal(protocol, m)
	if err != nil {
		t.Fatal(err)
	}
	out := append(bytes.Clone(file[:start]), footer...)
	return append(binary.LittleEndian.AppendUint32(out, uint32(len(footer))), parquetMagic...)
}

// editPage changes the header of the first page of a file's first column, and moves what follows.
func editPage(t *testing.T, file []byte, edit func(*format.PageHeader)) []byte {
	t.Helper()
	protocol := new(thrift.CompactProtocol)
	r := protocol.NewReaderFromBytes(file[4:])
	var h format.PageHeader
	if err := thrift.NewDecoder(r).Decode(&h); err != nil {
		t.Fatal(err)
	}
	old := r.BytesRead()
	edit(&h)
	header, err := thrift.Marshal(protocol, h)
	if err != nil {
		t.Fatal(err)
	}
	grown := len(header) - old
	out := append(append([]byte("PAR1"), header...), file[4+old:]...)
	return editFooter(t, out, func(m *format.FileMetaData) {
		columns := m.RowGroups[0].Columns
		columns[0].MetaData.TotalCompressedSize += int64(grown)
		for i := 1; i < len(columns); i++ {
			c := &columns[i].MetaData
			c.DataPageOffset += int64(grown)
			if c.DictionaryPageOffset != 0 {
				c.DictionaryPageOffset += int64(grown)
			}
		}
	})
}

// The four codecs are read; a file under one of them that is said to be under another is an error, never a panic.
func TestParquetCodecs(t *testing.T) {
	for _, codec := range []compress.Codec{&parquet.Uncompressed, &parquet.Snappy, &parquet.Gzip, &parquet.Zstd} {
		file := packedParquet(t, codec)
		if tr, err := load("f", bytes.NewReader(file), Options{}); err != nil || tr.Len() != 100 {
			t.Errorf("%v: %v", codec, err)
		}
		for other := format.Uncompressed; other <= format.Lz4Raw; other++ {
			if other == codec.CompressionCodec() {
				continue
			}
			said := editFooter(t, file, func(m *format.FileMetaData) {
				for i := range m.RowGroups[0].Columns {
					m.RowGroups[0].Columns[i].MetaData.Codec = other
				}
			})
			_, err := load("f", bytes.NewReader(said), Options{})
			want := fmt.Sprintf("f: column arrival_ns is compressed with %v, want UNCOMPRESSED, SNAPPY, GZIP or ZSTD", other)
			switch _, known := codecs[other]; {
			case err == nil:
				t.Errorf("%v said to be %v is read", codec, other)
			case !known && err.Error() != want:
				t.Errorf("%v said to be %v\n got %v\nwant %s", codec, other, err, want)
			}
		}
	}
}

// Sizes that the bytes of the file cannot have are errors before anything is unpacked.
func TestParquetSizes(t *testing.T) {
	column := func(edit func(*format.ColumnMetaData)) func([]byte) []byte {
		return func(file []byte) []byte {
			return editFooter(t, file, func(m *format.FileMetaData) { edit(&m.RowGroups[0].Columns[0].MetaData) })
		}
	}
	page := func(edit func(*format.PageHeader)) func([]byte) []byte {
		return func(file []byte) []byte { return editPage(t, file, edit) }
	}
	for _, tc := range []struct {
		name string
		edit func([]byte) []byte
		want string
	}{
		{"chunk unpacked", column(func(c *format.ColumnMetaData) { c.TotalUncompressedSize = 1 << 40 }), "bytes unpacked, want at most"},
		{"chunk negative", column(func(c *format.ColumnMetaData) { c.TotalUncompressedSize = -1 }), "has -1 bytes unpacked"},
		{"chunk beyond the file", column(func(c *format.ColumnMetaData) { c.TotalCompressedSize = 1 << 40 }), "has 1099511627776 bytes from byte 4, but the file has"},
		{"page beyond the chunk", page(func(h *format.PageHeader) { h.CompressedPageSize = 1 << 30 }), "has a page of 1073741824 bytes at byte 4, where"},
		{"page unpacked", page(func(h *format.PageHeader) { h.UncompressedPageSize = 1 << 30 }), "has a page of 1073741824 bytes unpacked at byte 4, want at most"},
		{"page too small for its data", page(func(h *format.PageHeader) { h.UncompressedPageSize = 9 }), "has a page of 9 bytes unpacked at byte 4, but its data is of"},
		{"values", page(func(h *format.PageHeader) { h.DataPageHeaderV2.V.NumValues = 1 << 30 }), "has a page of 1073741824 values at byte 4, want at most"},
	} {
		_, err := load("f", bytes.NewReader(tc.edit(packedParquet(t, &parquet.Zstd))), Options{})
		if err == nil || !strings.HasPrefix(err.Error(), "f: column arrival_ns ") || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s\n got %v\nwant %s", tc.name, err, tc.want)
		}
	}
	same := page(func(*format.PageHeader) {})(packedParquet(t, &parquet.Zstd))
	if _, err := load("f", bytes.NewReader(same), Options{}); err != nil {
		t.Errorf("written again without a change: %v", err)
	}
}

// What is no whole Parquet file, and no other either.
func TestParquetShape(t *testing.T) {
	one, other := packedParquet(t, &parquet.Zstd), packedParquet(t, &parquet.Snappy)
	moved := editFooter(t, one, func(m *format.FileMetaData) {
		for i := range m.RowGroups[0].Columns {
			m.RowGroups[0].Columns[i].MetaData.DataPageOffset += 10
		}
	})
	long := bytes.Clone(one)
	binary.LittleEndian.PutUint32(long[len(long)-8:], 1<<31)
	several := "these are several Parquet files one after another"
	for _, tc := range []struct {
		name string
		file []byte
		want string
	}{
		{"twice the same", append(bytes.Clone(one), one...), "f: " + several},
		{"two", append(bytes.Clone(other), one...), "f: " + several},
		{"moved", moved, "f: the first row group starts at byte 14, want 4: " + several},
		{"short", one[:11], "f: the Parquet data is broken or incomplete: 11 bytes are too short to be Parquet"},
		{"cut", one[:len(one)-1], "f: the Parquet data is broken or incomplete: it ends with"},
		{"footer", long, "f: the Parquet data is broken or incomplete: its footer is said to have 2147483648 bytes, but the file has"},
	} {
		if _, err := load("f", bytes.NewReader(tc.file), Options{}); err == nil || !strings.HasPrefix(err.Error(), tc.want) {
			t.Errorf("%s\n got %v\nwant %s", tc.name, err, tc.want)
		}
	}
}

// looseRow has the numbers that a row need not have, free to be anything.
type looseRow struct {
	At     *int64 `parquet:"arrival_ns,optional"`
	Line   *int64 `parquet:"src_line,optional"`
	Prompt *int32 `parquet:"prompt_tokens,optional"`
	Output *int32 `parquet:"output_tokens,optional"`
	Think  *int64 `parquet:"think_ns,optional"`
	TTFT   *int64 `parquet:"ttft_ns_obs,optional"`
	E2E    *int64 `parquet:"e2e_ns_obs,optional"`
	Parent *int64 `parquet:"parent_row,optional"`
}

// Numbers are at least 0; null is allowed where a source may not know them, and nowhere else.
func TestParquetNumbers(t *testing.T) {
	for _, tc := range []struct {
		edit func(*looseRow)
		want string
	}{
		{func(*looseRow) {}, ""},
		{func(r *looseRow) { r.At = nil }, "f:1: arrival_ns is null, want a number"},
		{func(r *looseRow) { r.Line = nil }, "f:1: src_line is null, want a number"},
		{func(r *looseRow) { r.Line = at(-1) }, "f:1: src_line is -1, want at least 0"},
		{func(r *looseRow) { r.Prompt = nil }, "f:1: prompt_tokens is null, want a number"},
		{func(r *looseRow) { r.Output = blocks(-1) }, "f:1: output_tokens is -1, want at least 0, or null if it is unknown"},
		{func(r *looseRow) { r.Think = at(-1) }, "f:1: think_ns is -1, want at least 0, or null if it is unknown"},
		{func(r *looseRow) { r.TTFT = at(-2) }, "f:1: ttft_ns_obs is -2, want at least 0, or null if it is unknown"},
		{func(r *looseRow) { r.E2E = at(-3) }, "f:1: e2e_ns_obs is -3, want at least 0, or null if it is unknown"},
		{func(r *looseRow) { r.Parent = at(-1) }, "f:1: parent_row is -1, want at least 0, or null if it is unknown"},
	} {
		row := looseRow{At: at(0), Line: at(1), Prompt: blocks(5)}
		tc.edit(&row)
		var file bytes.Buffer
		w := parquet.NewGenericWriter[looseRow](&file, parquetOptions(Meta{})...)
		if _, err := w.Write([]looseRow{row}); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		tr, err := load("f", &file, Options{})
		if tc.want == "" {
			if err != nil || tr.extra.think.at(0) != Unknown || tr.Line[0] != 1 {
				t.Errorf("nulls: %v", err)
			}
			continue
		}
		if err == nil || err.Error() != tc.want {
			t.Errorf("got %v, want %s", err, tc.want)
		}
	}
}
