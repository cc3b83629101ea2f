package reports

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// memberPaths lists the members of a run that a gate or a comparison reads.
func memberPaths() []string {
	var out []string
	for _, need := range traceNeeds {
		out = append(out, "trace."+need)
	}
	for _, need := range runNeeds {
		out = append(out, "run."+need)
	}
	for _, times := range timesNeeded {
		for _, need := range ofTimes {
			out = append(out, "run."+times+"."+need)
		}
	}
	return out
}

// edited is a result with one member dropped or made null.
func edited(t *testing.T, text, path string, drop bool) string {
	t.Helper()
	var doc map[string]any
	if err := json.Unmarshal([]byte(text), &doc); err != nil {
		t.Fatal(err)
	}
	at := doc
	parts := strings.Split(path, ".")
	for i, part := range parts {
		switch last := i == len(parts)-1; {
		case part == "run":
			at = doc["runs"].([]any)[1].(map[string]any)
		case last && drop:
			delete(at, part)
		case last:
			at[part] = nil
		default:
			at = at[part].(map[string]any)
		}
	}
	out, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func readText(t *testing.T, text string) (*Kept, error) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "result.json")
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return ReadKept(name)
}

// A member that is missing is refused by its name. Null is a number that is not known, and refused where there has to be one.
func TestKeptRefusesMissingMembers(t *testing.T) {
	whole := render(t, sample(t), "json")
	for _, need := range memberPaths() {
		path, nullable := strings.CutSuffix(need, "?")
		name := strings.Replace(path, "run.", "runs[1].", 1)
		if _, err := readText(t, edited(t, whole, path, true)); err == nil || !strings.Contains(err.Error(), name+" is missing") {
			t.Errorf("without %s: %v", name, err)
		}
		_, err := readText(t, edited(t, whole, path, false))
		if refused := err != nil && strings.Contains(err.Error(), name+" is empty"); refused == nullable || nullable && err != nil {
			t.Errorf("%s is null: %v", name, err)
		}
	}
}

// Every number that a gate may name is either among those that have to be there or follows from them.
func TestKeptNeedsCoverEnv(t *testing.T) {
	c := sample(t)
	for i := range c.Runs {
		c.Runs[i].GatewayWait = c.Runs[i].TTFT
	}
	whole := render(t, c, "json")
	k, err := readText(t, whole)
	if err != nil {
		t.Fatal(err)
	}
	s := scopeOf(t, k.Runs[1])
	want := slices.Sorted(maps.Keys(s.numbers))
	var got []string
	for _, need := range memberPaths() {
		path, nullable := strings.CutSuffix(need, "?")
		if !nullable || !strings.HasPrefix(path, "run.") {
			continue
		}
		k, err := readText(t, edited(t, whole, path, false))
		if err != nil {
			t.Fatal(err)
		}
		for path, v := range scopeOf(t, k.Runs[1]).numbers {
			if !known(v) && strings.Count(path, ".") < 2 && !strings.HasPrefix(path, "score.") {
				got = append(got, path)
			}
		}
	}
	got = append(got, "requests", "completed", "rejected", "rejected_ratio", "held", "preemptions") // of counts, which are never null
	for _, path := range want {
		if !strings.HasPrefix(path, "score.") && !slices.Contains(got, path) {
			t.Errorf("%s may be missing from a result unnoticed", path)
		}
	}
}
