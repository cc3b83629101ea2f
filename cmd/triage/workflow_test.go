package main

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

// The commands of the workflow work as they stand, with the demo trace for the one it speaks of and gates beside it.
func TestWorkflowRuns(t *testing.T) {
	var doc struct {
		Jobs map[string]struct {
			Steps []struct{ Run string }
		}
	}
	if err := yaml.Unmarshal(workflow, &doc); err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	if err := os.WriteFile("gates.yaml", []byte("version: 1\npolicy: score\ngates:\n  - {name: a, expr: rejected == 0}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Setenv("GITHUB_STEP_SUMMARY", "step.md")
	n := 0
	for _, step := range doc.Jobs["gate"].Steps {
		command, ok := strings.CutPrefix(step.Run, "./triage ")
		if !ok {
			continue
		}
		n++
		command = strings.NewReplacer("traces/week.parquet", "demo", `"$GITHUB_STEP_SUMMARY"`, "step.md").Replace(command)
		var stdout, stderr bytes.Buffer
		if code := run(strings.Fields(command), &stdout, &stderr); code != exitOK {
			t.Errorf("%s: exit code %d: %s", command, code, &stderr)
		}
	}
	if n != 2 {
		t.Errorf("%d commands, want replay and gate", n)
	}
	for _, name := range []string{"gates.xml", "step.md"} {
		if _, err := os.Stat(name); err != nil {
			t.Error(err)
		}
	}
}
