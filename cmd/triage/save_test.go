package main

import (
	"bytes"
	"errors"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/seed-2cee110a/triage/reports"
	"github.com/seed-2cee110a/triage/traces"
)

// The outcomes are not put in place when the folder cannot be written.
func TestKeepsBothOrNeither(t *testing.T) {
	j := newJob()
	j.read = traces.Options{Limit: 10}
	specs, err := parsePolicies(j.policies)
	if err != nil {
		t.Fatal(err)
	}
	results, err := j.replay(t.Context(), embedded, specs, &bytes.Buffer{})
	if err != nil {
		t.Fatal(err)
	}
	c, err := reports.Compare("triage replay demo", results...)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	var stderr bytes.Buffer
	o := output{dir: filepath.Join(dir, "no", "such"), outcomes: filepath.Join(dir, "o.csv")}
	if err := o.write(t.Context(), c, results, reports.Volatile{}, &stderr); err == nil {
		t.Fatal("want an error")
	}
	if got := names(t, dir); len(got) != 0 || stderr.Len() > 0 {
		t.Errorf("it left %v and said %q", got, &stderr)
	}
	o.dir = filepath.Join(dir, "out")
	if err := o.write(t.Context(), c, results, reports.Volatile{}, &stderr); err != nil {
		t.Fatal(err)
	}
	if got := names(t, dir); len(got) != 2 {
		t.Errorf("there is %v, want the file and the folder", got)
	}
}

// What is said to be written is, and nothing is said to be lost that was kept.
func TestCommitTellsTheTruth(t *testing.T) {
	full := func() error { return syscall.ENOSPC }
	fine := func() error { return nil }
	for _, test := range []struct {
		name   string
		all    []pending
		stderr string
		lost   bool // the error says that nothing was kept
	}{
		{"the first fails", []pending{{"a", full}, {"b", fine}}, "", true},
		{"the second fails", []pending{{"a", fine}, {"b", full}}, "wrote a\n", false},
	} {
		var stderr bytes.Buffer
		err := commit(t.Context(), test.all, &stderr)
		if !errors.Is(err, syscall.ENOSPC) || strings.Contains(err.Error(), "nothing was kept") != test.lost || stderr.String() != test.stderr {
			t.Errorf("%s: got %v and %q, want %q", test.name, err, &stderr, test.stderr)
		}
	}
}
