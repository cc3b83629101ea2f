package traces

import (
	"bytes"
	"flag"
	"os"
	"testing"
)

var update = flag.Bool("update", false, "write files of test data again")

// The embedded trace is what its preset makes, byte for byte, and small.
func TestDemo(t *testing.T) {
	p, err := PresetByName("demo")
	if err != nil {
		t.Fatal(err)
	}
	made, err := Generate(p.Params)
	if err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	if err := Write("parquet", &file, made); err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile("demo.parquet", file.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	embedded, err := Open("demo", Options{})
	if err != nil {
		t.Fatal(err)
	}
	if embedded.Digest != made.Digest {
		t.Errorf("embedded digest %s, preset makes %s: run go generate", embedded.Digest, made.Digest)
	}
	if !bytes.Equal(demo, file.Bytes()) {
		t.Errorf("the embedded file has other bytes than a new one: run go generate")
	}
	if len(demo) > 300_000 {
		t.Errorf("the embedded file has %d bytes, want at most 300000", len(demo))
	}
}
