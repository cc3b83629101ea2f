package enginetest

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
)

var update = flag.Bool("update", false, "write the fuzz target's seeds anew")

// FuzzEngine compares the engine with its reference on a replica's settings and a trace with its happenings, each
// decoded from bytes of which any are a case.
func FuzzEngine(f *testing.F) {
	f.Fuzz(func(t *testing.T, config, trace []byte) { refPlayBytes(t, config, trace) })
}

func refPlayBytes(t refTB, config, trace []byte) *Reference {
	return refPlay(t, &refBytes{config}, &refBytes{trace}, refSmall)
}

// The seeds of the fuzz target, in testdata, have everything happen that random cases do. When a case is decoded in
// another way they may not any more, and -update finds such as do.
func TestFuzzSeeds(t *testing.T) {
	dir := filepath.Join("testdata", "fuzz", "FuzzEngine")
	if *update {
		writeSeeds(t, dir)
	}
	files, err := filepath.Glob(filepath.Join(dir, "seed-*"))
	if err != nil {
		t.Fatal(err)
	}
	var tally refTally
	for _, name := range files {
		content, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var config, trace []byte
		if _, err := fmt.Sscanf(string(content), "go test fuzz v1\n[]byte(%q)\n[]byte(%q)\n", &config, &trace); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		tally.add(refPlayBytes(t, config, trace))
	}
	t.Log(tally)
	tally.wantAll(t)
}

// writeSeeds tries random bytes and keeps those with which something happens for the first time.
func writeSeeds(t *testing.T, dir string) {
	random := rand.New(rand.NewPCG(1, 2))
	draw := func(n int) []byte {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(random.Uint32())
		}
		return b
	}
	old, _ := filepath.Glob(filepath.Join(dir, "seed-*"))
	for _, name := range old {
		os.Remove(name)
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	var tally refTally
	for range 2000 {
		config, trace := draw(40), draw(400)
		if !tally.add(refPlayBytes(t, config, trace)) {
			continue
		}
		content := fmt.Sprintf("go test fuzz v1\n[]byte(%q)\n[]byte(%q)\n", config, trace)
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("seed-%04d", tally.cases)), []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// Any bytes are a case, none as well: one that ends. The end of the bytes reads as zeros.
func TestAnyBytesAreACase(t *testing.T) {
	for n := range 60 {
		same := make([]byte, n)
		for _, b := range []byte{0, 1, 7, 255} {
			for i := range same {
				same[i] = b
			}
			refPlayBytes(t, same, same[:n/2])
			refPlayBytes(t, same[:n/2], same)
		}
	}
}
