package traces

import (
	"bytes"
	_ "embed"
)

// demo is the trace made from the preset of that name, so that the tool runs without any file.
//
//go:generate go test -run TestDemo -update
//go:embed demo.parquet
var demo []byte

func openDemo(o Options) (*Trace, error) {
	o.Format = "" // it is embedded: there is nothing to say about it
	return load("demo", bytes.NewReader(demo), o)
}
