package reports

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// gatedOf has n gates of each verdict, with characters that markup would stumble over.
func gatedOf(t *testing.T, n map[Verdict]int) *Gated {
	t.Helper()
	g := &Gated{File: "ci/gates.yaml", Scenario: "<conv>.jsonl", Result: kept(t, sample(t)), Notes: []string{"a|b differs"}}
	for _, v := range []Verdict{Pass, Fail, Inconclusive} {
		for i := range n[v] {
			g.Gates = append(g.Gates, GateResult{Name: fmt.Sprintf("%s %d", v, i), Policy: "score", Expr: "ttft.p90 < 0.5 && x", Verdict: v,
				Detail: "50 % & \"more\"\x01", Line: 10 + i})
		}
	}
	return g
}

// JUnit is well-formed, counts what it holds, and an inconclusive gate is skipped.
func TestJUnit(t *testing.T) {
	var b bytes.Buffer
	if err := JUnit(&b, gatedOf(t, map[Verdict]int{Pass: 3, Fail: 2, Inconclusive: 1})); err != nil {
		t.Fatal(err)
	}
	var doc junitSuites
	if err := xml.Unmarshal(b.Bytes(), &doc); err != nil {
		t.Fatalf("%v:\n%s", err, &b)
	}
	s := doc.Suites[0]
	if s.Name != "<conv>.jsonl" || s.Tests != 6 || s.Failures != 2 || s.Skipped != 1 || doc.Tests != 6 {
		t.Errorf("got %+v", doc)
	}
	failed, skipped := 0, 0
	for _, c := range s.Cases {
		if c.Failure != nil {
			failed++
			if c.Failure.Message != "ttft.p90 < 0.5 && x" || c.Failure.Text != `50 % & "more"` {
				t.Errorf("failure %+v", c.Failure)
			}
		}
		if c.Skipped != nil {
			skipped++
		}
	}
	if len(s.Cases) != 6 || failed != 2 || skipped != 1 {
		t.Errorf("%d cases, %d failed, %d skipped; want 6, 2, 1", len(s.Cases), failed, skipped)
	}
}

// The verdict comes first, and the limits of GitHub hold with any number of gates.
func TestJobSummary(t *testing.T) {
	var b bytes.Buffer
	if err := GateMarkdown(&b, gatedOf(t, map[Verdict]int{Pass: 1, Fail: 1})); err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"### Gates failed: &lt;conv&gt;.jsonl", "", "1 of 2 gates failed", "", `- a\|b differs`} {
		if got := strings.Split(b.String(), "\n")[i]; got != want {
			t.Errorf("line %d is %q, want %q", i+1, got, want)
		}
	}
	if open, shut := strings.Count(b.String(), "<details>"), strings.Count(b.String(), "</details>"); open != 2 || shut != 2 {
		t.Errorf("%d details opened, %d closed, want 2", open, shut)
	}
	many := gatedOf(t, map[Verdict]int{Fail: 9000})
	for _, test := range []struct {
		write func(io.Writer, *Gated) error
		limit int
		first string
	}{{GateMarkdown, 1 << 20, "### Gates failed"}, {GateComment, 65536, "<!-- triage gate -->\n### Gates failed"}} {
		b.Reset()
		if err := test.write(&b, many); err != nil {
			t.Fatal(err)
		}
		if b.Len() >= test.limit || b.Len() < test.limit*9/10 || !strings.HasPrefix(b.String(), test.first) || !strings.Contains(b.String(), "did not fit") {
			t.Errorf("%d bytes of a limit of %d, first %q", b.Len(), test.limit, b.String()[:40])
		}
	}
}

// GitHub shows ten annotations of a kind: nine come out and one says how many more.
func TestAnnotations(t *testing.T) {
	lines := strings.Split(strings.TrimSuffix(Annotations(gatedOf(t, map[Verdict]int{Pass: 1, Fail: 12, Inconclusive: 9})), "\n"), "\n")
	n := map[string]int{}
	for _, line := range lines {
		n[strings.Fields(line)[0]]++
	}
	if n["::error"] != 10 || n["::warning"] != 9 || len(lines) != 19 {
		t.Errorf("got %v in %d lines, want 10 errors and 9 warnings", n, len(lines))
	}
	want := "::error file=ci/gates.yaml,line=10,title=gate fail%3A fail 0 (score)::ttft.p90 < 0.5 && x%0A50 %25 & \"more\"\x01"
	if lines[0] != want || !strings.Contains(lines[9], "3 more gates") {
		t.Errorf("got %q and %q", lines[0], lines[9])
	}
}

// Every format gives the same bytes twice, and hands on what goes wrong when it is written.
func TestGateReports(t *testing.T) {
	for _, r := range GateCatalog() {
		g := gatedOf(t, map[Verdict]int{Pass: 1, Fail: 1, Inconclusive: 1})
		var a, b bytes.Buffer
		if err := errors.Join(r.Write(&a, g), r.Write(&b, g)); err != nil {
			t.Fatal(err)
		}
		if a.String() != b.String() || !strings.Contains(a.String(), "inconclusive 0") {
			t.Errorf("%s: unequal, or a gate is missing:\n%s", r.Name, &a)
		}
		if err := r.Write(full{}, g); !errors.Is(err, errFull) {
			t.Errorf("%s: got %v, want %v", r.Name, err, errFull)
		}
	}
	var b bytes.Buffer
	if err := GateJSON(&b, gatedOf(t, map[Verdict]int{Pass: 1, Inconclusive: 1})); err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Schema, Verdict string
		Gates           []struct{ Name, Verdict string }
	}
	if err := json.Unmarshal(b.Bytes(), &doc); err != nil || doc.Verdict != "inconclusive" || len(doc.Gates) != 2 || doc.Schema != GateSchemaName {
		t.Errorf("got %+v, %v", doc, err)
	}
}

// The gates of a replay are in its JSON, within the schema, and nowhere without gates.
func TestReplayJSONHasGates(t *testing.T) {
	c := sample(t)
	if strings.Contains(render(t, c, "json"), `"gates"`) {
		t.Error("a replay without gates has some")
	}
	g, err := CompileRunGates([]string{"score.ttft.mean < 1", "score.gateway_wait.p90 < 1"}, []string{"round-robin", "score", "piled"})
	if err != nil {
		t.Fatal(err)
	}
	if c.Gates, err = g.Check(c); err != nil {
		t.Fatal(err)
	}
	c.Config.CostScale = 1.05
	text := render(t, c, "json")
	for _, want := range []string{`"verdict": "pass"`, `"verdict": "inconclusive"`, `"detail": "score.ttft.mean = 0.84"`, `"cost_scale": 1.05`} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	if err := compiled(t).Validate(doc); err != nil {
		t.Error(err)
	}
}
