package tune

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-2cee110a/triage/policies"
)

// A file and the same grids as flags make the same space, in the order written.
func TestParseFile(t *testing.T) {
	f, err := ParseFile("tune.yaml", []byte(`# a study
policy: score:margin=0.1
objective: ttft.p90 + 10 * rejected_ratio
grid:
  q: [0, 0.30, 1e1]
  fit: [spill, off]
  aff: log:0.1..10:3
  sent: [on, off]
  ttl: 60s
`))
	if err != nil {
		t.Fatal(err)
	}
	base := spec(t, f.PolicyText())
	axes, err := f.Axes(base)
	if err != nil {
		t.Fatal(err)
	}
	space, err := NewSpace(base, axes)
	if err != nil {
		t.Fatal(err)
	}
	want, err := ParseSpace(base, []string{"q=0,0.3,10", "fit=spill,off", "aff=0.1,1,10", "sent=on,off", "ttl=1m0s"})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want.Grids(), space.Grids()); d != "" {
		t.Error(d)
	}
	if f.ObjectiveText() != "ttft.p90 + 10 * rejected_ratio" {
		t.Errorf("objective %q", f.ObjectiveText())
	}
}

// Errors name file, line and column.
func TestParseFileRefuses(t *testing.T) {
	for _, test := range []struct{ name, text, want string }{
		{"an unknown field", "policy: score\ngird: {q: [1]}\n", `f.yaml:2:1: unknown field "gird"`},
		{"no YAML", "grid:\n  q: [1\n", "f.yaml:2:6: sequence end token"},
		{"a knob twice", "grid:\n  q: 1\n  q: 2\n", `f.yaml:3:3: mapping key "q" already defined`},
		{"a list of grids", "grid: [1]\n", "f.yaml:1:7: grid is a list, want knob: [values]"},
		{"a mapping for a value", "policy:\n  score: 1\n", "f.yaml:2:8: found a mapping, want one value"},
		{"a list in a list", "grid:\n  q: [1, [2]]\n", "f.yaml:2:10: found a list, want one value"},
		{"an unknown knob", "grid:\n  q: 1\n  af: [1]\n", `f.yaml:3:3: grid af: unknown knob "af"`},
		{"a refused value", "grid:\n  q: [1, -1]\n", `f.yaml:2:3: grid q: q is "-1", want 0..1e9`},
		{"an empty list", "grid:\n  q: []\n", "f.yaml:2:3: grid q: q has no values"},
		{"a bad scale", "grid:\n  q: log:0..1:3\n", "f.yaml:2:6: grid q: log:0..1:3: it starts at 0, want more than 0"},
	} {
		f, err := ParseFile("f.yaml", []byte(test.text))
		if err == nil {
			_, err = f.Axes(spec(t, "score"))
		}
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got %v, want %s", test.name, err, test.want)
		}
	}
}

func spec(t testing.TB, text string) policies.Spec {
	t.Helper()
	s, err := policies.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}
