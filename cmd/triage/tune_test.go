package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/seed-2cee110a/triage/sim"
)

// tired is a context that is cancelled once it has been asked so often.
type tired struct {
	context.Context
	left atomic.Int64
}

func (t *tired) Err() error {
	if t.left.Add(-1) < 0 {
		return context.Canceled
	}
	return nil
}

// An interrupted search reports and keeps the points that are done, whole files only, and ends with 130; with no point
// done it keeps nothing.
func TestTuneInterrupted(t *testing.T) {
	for _, test := range []struct {
		name  string
		asked int64
		kept  bool
	}{
		{"before the first point", 6, false},
		{"in the middle", 40, true},
	} {
		ctx := &tired{Context: context.Background()}
		ctx.left.Store(test.asked)
		dir := filepath.Join(t.TempDir(), "out")
		j := &tuneJob{cfg: sim.Default(), workers: 1, format: "table", save: output{dir: dir}}
		j.study.grids = []string{"q=lin:0..10:50"}
		j.read.Limit = 100
		var stdout, stderr bytes.Buffer
		err := j.run(ctx, []string{"demo"}, &stdout, &stderr)
		if !errors.Is(err, context.Canceled) || exitCode(failed{err}) != exitInterrupted {
			t.Fatalf("%s: got %v", test.name, err)
		}
		if !test.kept {
			if _, err := os.Stat(dir); err == nil || stdout.Len() > 0 {
				t.Errorf("%s: something is kept or printed:\n%s", test.name, stdout.String())
			}
			continue
		}
		for _, name := range []string{"sweep.parquet", "result.json", "weights.json", "manifest.json"} {
			if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Size() == 0 {
				t.Errorf("%s: %s: %v", test.name, name, err)
			}
		}
		data, err := os.ReadFile(filepath.Join(dir, "result.json"))
		if err != nil {
			t.Fatal(err)
		}
		var doc struct {
			Status       string
			Points, Done int
		}
		if err := json.Unmarshal(data, &doc); err != nil {
			t.Fatal(err)
		}
		if doc.Status != "interrupted" || doc.Points != 50 || doc.Done < 1 || doc.Done >= 50 {
			t.Errorf("%s: result.json has %+v", test.name, doc)
		}
		if !bytes.Contains(stdout.Bytes(), []byte("interrupted: only ")) {
			t.Errorf("%s: the table does not say so:\n%s", test.name, stdout.String())
		}
	}
}
