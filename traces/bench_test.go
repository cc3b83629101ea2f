package traces

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"testing"
)

const conversation = "../../shared/traces/mooncake/conversation_trace.jsonl.gz"

// unpacked returns the conversation trace as JSON lines.
func unpacked(tb testing.TB) []byte {
	tb.Helper()
	f, err := os.Open(conversation)
	if err != nil {
		tb.Skip(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		tb.Fatal(err)
	}
	all, err := io.ReadAll(z)
	if err != nil {
		tb.Fatal(err)
	}
	return all
}

func benchmarkLoad(b *testing.B, content []byte) {
	b.SetBytes(int64(len(content)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := load("bench", bytes.NewReader(content), Options{}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkReadMooncake(b *testing.B) { benchmarkLoad(b, unpacked(b)) }

func BenchmarkReadParquet(b *testing.B) {
	t, err := load("conversation", bytes.NewReader(unpacked(b)), Options{})
	if err != nil {
		b.Fatal(err)
	}
	var file bytes.Buffer
	if err := Write("parquet", &file, t); err != nil {
		b.Fatal(err)
	}
	benchmarkLoad(b, file.Bytes())
}

// BenchmarkMooncakeLine compares the two ways to take a line apart.
func BenchmarkMooncakeLine(b *testing.B) {
	lines := bytes.Split(bytes.TrimSpace(unpacked(b)), []byte{'\n'})
	size := int64(0)
	for _, l := range lines {
		size += int64(len(l))
	}
	var row mooncakeRow
	b.Run("scan", func(b *testing.B) {
		b.SetBytes(size)
		for b.Loop() {
			for _, l := range lines {
				if !row.scan(l) {
					b.Fatalf("%s", l)
				}
			}
		}
	})
	b.Run("decode", func(b *testing.B) {
		b.SetBytes(size)
		for b.Loop() {
			for _, l := range lines {
				if err := row.decode(l); err != nil {
					b.Fatal(err)
				}
			}
		}
	})
}
