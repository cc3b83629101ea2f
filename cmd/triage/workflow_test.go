package main

import (
	"bytes"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"github.com/seed-2cee110a/triage/policies"
)

// workflowFile is what the tests look at of the workflow.
type workflowFile struct {
	On struct {
		PullRequest struct{ Paths []string } `yaml:"pull_request"`
	}
	Jobs map[string]struct{ Steps []workflowStep }
}

type workflowStep struct {
	Uses, Run, If string
	With          map[string]any
}

func readWorkflow(t *testing.T) (f workflowFile, steps []workflowStep) {
	t.Helper()
	if err := yaml.Unmarshal(workflow, &f); err != nil {
		t.Fatal(err)
	}
	return f, f.Jobs["gate"].Steps
}

// commands are the lines of all steps that begin with a word, without it.
func commands(steps []workflowStep, word string) (out []string) {
	for _, s := range steps {
		for line := range strings.Lines(s.Run) {
			if rest, ok := strings.CutPrefix(strings.TrimSpace(line), word+" "); ok {
				out = append(out, rest)
			}
		}
	}
	return out
}

// The commands of the workflow work as they stand, with the demo trace for the one it speaks of and weights and gates
// beside it; the result can then be the baseline.
func TestWorkflowRuns(t *testing.T) {
	_, steps := readWorkflow(t)
	t.Chdir(t.TempDir())
	weights, err := policies.WeightsFile{Config: policies.DefaultScore()}.Encode()
	if err != nil {
		t.Fatal(err)
	}
	gates := "version: 1\npolicy: score\nbaseline: baselines/main\ngates:\n  - {name: a, expr: rejected == 0}\n" +
		"  - {name: b, expr: ttft.mean <= baseline.ttft.mean * 1.02}\n"
	for name, data := range map[string]string{"weights.json": string(weights), "gates.yaml": gates} {
		if err := os.WriteFile(name, []byte(data), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("GITHUB_STEP_SUMMARY", "step.md")
	ours := commands(steps, "triage")
	if len(ours) != 2 || !strings.HasPrefix(ours[0], "replay ") || !strings.HasPrefix(ours[1], "gate ") {
		t.Fatalf("commands %q, want replay, then gate", ours)
	}
	for _, command := range ours {
		command = strings.NewReplacer("traces/week.jsonl.gz", embedded, `"$GITHUB_STEP_SUMMARY"`, "step.md").Replace(command)
		var stdout, stderr bytes.Buffer
		if code := run(strings.Fields(command), &stdout, &stderr); code != exitOK {
			t.Errorf("%s: exit code %d: %s", command, code, &stderr)
		}
	}
	for _, name := range []string{"gates.xml", "step.md", "result/result.json"} {
		if _, err := os.Stat(name); err != nil {
			t.Error(err)
		}
	}
	if err := os.CopyFS("baselines/main", os.DirFS("result")); err != nil {
		t.Fatal(err)
	}
	var stdout, stderr bytes.Buffer
	if code := run(strings.Fields("gate result -f gates.yaml --strict"), &stdout, &stderr); code != exitOK {
		t.Errorf("against its own result: exit code %d: %s%s", code, &stdout, &stderr)
	}
}

// The workflow is for a repository that has weights and gates, but neither Go code nor this program.
func TestWorkflowNeedsNoSource(t *testing.T) {
	f, steps := readWorkflow(t)
	for _, s := range steps {
		if strings.Contains(s.Run, "./cmd/") || strings.Contains(s.Run, "go build") || strings.Contains(s.Run, "./triage") {
			t.Errorf("the step %q needs the source", s.Run)
		}
		if strings.HasPrefix(s.Uses, "actions/setup-go@") && (s.With["go-version"] != "1.26" || s.With["go-version-file"] != nil) {
			t.Errorf("Go is set up with %v, want a version", s.With)
		}
	}
	if got, want := commands(steps, "go"), "install "+module+"/cmd/triage@latest"; len(got) != 1 || got[0] != want {
		t.Errorf("go commands %q, want %q", got, want)
	}
	for _, path := range []string{"weights.json", "gates.yaml", ".github/workflows/replay.yml"} {
		if !slices.Contains(f.On.PullRequest.Paths, path) {
			t.Errorf("a pull request that changes %s is not checked (%q)", path, f.On.PullRequest.Paths)
		}
	}
}

// What the gate had to say is kept when it failed, and only a run whose gates passed makes a baseline.
func TestWorkflowKeepsResults(t *testing.T) {
	_, steps := readWorkflow(t)
	at := func(text string) int {
		return slices.IndexFunc(steps, func(s workflowStep) bool { return strings.Contains(s.Uses+" "+s.Run, text) })
	}
	fetch, gate, keep, upload := at("cache/restore"), at("triage gate"), at("cache/save"), at("upload-artifact")
	if fetch < 0 || gate < fetch || keep < gate || upload < gate {
		t.Fatalf("fetching is step %d, the gate %d, keeping %d, the upload %d, want them there and in order", fetch, gate, keep, upload)
	}
	if steps[upload].If != "always()" || steps[keep].If != "github.event_name != 'pull_request'" {
		t.Errorf("upload if %q, keep if %q", steps[upload].If, steps[keep].If)
	}
	paths := func(i int) []string { return strings.Fields(steps[i].With["path"].(string)) }
	if !slices.Equal(paths(fetch), paths(keep)) || !slices.Equal(paths(upload), []string{"result", "gates.xml"}) {
		t.Errorf("fetched %q, kept %q, uploaded %q", paths(fetch), paths(keep), paths(upload))
	}
}
