package traces

import (
	"bytes"
	"os"
	"regexp"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"
)

// place is how every error starts: the file, and the line or row if it is about one.
var place = regexp.MustCompile(`^file:(\d+:)? `)

// fuzzRead reads anything: there is no panic, an error names its place, and a trace survives a round trip.
func fuzzRead(t *testing.T, format string, content []byte) {
	tr, err := load("file", bytes.NewReader(content), Options{Format: format})
	if err != nil {
		if !place.MatchString(err.Error()) {
			t.Errorf("the error names no place: %v", err)
		}
		return
	}
	var file bytes.Buffer
	if err := Write("parquet", &file, tr); err != nil {
		t.Fatal(err)
	}
	again, err := load("again", &file, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if again.Digest != tr.Digest {
		t.Errorf("written and read again, the digest is %s, was %s", again.Digest, tr.Digest)
	}
}

func seed(f *testing.F, names ...string) {
	for _, name := range names {
		content, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(content)
	}
}

func FuzzMooncake(f *testing.F) {
	seed(f, "testdata/small.jsonl")
	f.Add([]byte(`{"timestamp":1e3,"input_length":4,"output_length":0,"hash_ids":[18446744073709551615]}`))
	f.Fuzz(func(t *testing.T, content []byte) {
		fuzzRead(t, "mooncake", content)
		for l := range bytes.SplitSeq(content, []byte{'\n'}) {
			checkScan(t, l)
		}
	})
}

func FuzzAzure(f *testing.F) {
	seed(f, "testdata/small.csv")
	f.Fuzz(func(t *testing.T, content []byte) { fuzzRead(t, "azure", content) })
}

func FuzzParquet(f *testing.F) {
	tr, err := Open("testdata/small.jsonl", Options{})
	if err != nil {
		f.Fatal(err)
	}
	var file bytes.Buffer
	if err := Write("parquet", &file, tr); err != nil {
		f.Fatal(err)
	}
	f.Add(file.Bytes())
	f.Add(compactFile(f, Meta{BlockSize: 4, BlockTail: TailCeil}, 2, []compactRow{
		{Prompt: 8, Blocks: []int64{5, 6}},
		{Prompt: 12, Blocks: []int64{7}, PrefixRow: at(0), PrefixBlocks: blocks(2)},
		{Prompt: 14, Tail: at(9), PrefixRow: at(1), PrefixBlocks: blocks(3)},
	}))
	for _, codec := range []compress.Codec{&parquet.Uncompressed, &parquet.Snappy, &parquet.Gzip, &parquet.Lz4Raw} {
		f.Add(packedParquet(f, codec))
	}
	f.Fuzz(func(t *testing.T, content []byte) { fuzzRead(t, "parquet", content) })
}

// FuzzDetect reads content whose format nobody names.
func FuzzDetect(f *testing.F) {
	seed(f, "testdata/small.jsonl", "testdata/small.csv")
	f.Add([]byte("[{\n"))
	f.Add([]byte("row,policy,arrival_s,replica\n"))
	f.Add([]byte{0x1f, 0x8b, 8, 0})
	f.Fuzz(func(t *testing.T, content []byte) { fuzzRead(t, "", content) })
}
