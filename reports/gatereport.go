package reports

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// GateReport writes what the gates of a file came to in one format.
type GateReport struct {
	Name  string
	Doc   string
	Write func(w io.Writer, g *Gated) error
}

var gateCatalog = []GateReport{
	{"table", "text for a terminal", GateText},
	{"md", "Markdown for a job summary or a comment", GateMarkdown},
	{"json", "schema " + GateSchemaName, GateJSON},
	{"junit", "JUnit XML, a case a gate", JUnit},
}

// GateCatalog returns every report of gates.
func GateCatalog() []GateReport { return append([]GateReport(nil), gateCatalog...) }

// GateText writes a paragraph a gate and the verdict last, where an eye looks first in a log.
func GateText(w io.Writer, g *Gated) error {
	p := &page{width: Width}
	p.wrap("result    ", fmt.Sprintf("%s, trace %s (%s)", g.Result.Name, g.Scenario, count(g.Result.doc.Trace.Requests, "request")))
	if g.Baseline != nil {
		p.wrap("baseline  ", g.Baseline.Name)
	}
	p.lead(line{trustTitle, g.Result.trustText()}, 10)
	for _, n := range g.Notes {
		p.wrap("note      ", n)
	}
	for _, r := range g.Gates {
		p.line("")
		p.wrap(fmt.Sprintf("%-14s", r.Verdict), r.title())
		p.wrap("  ", r.Expr)
		if r.Detail != "" {
			p.wrap("  ", r.Detail)
		}
	}
	p.line("\n" + counted(g.Gates))
	_, err := io.WriteString(w, p.String())
	return err
}

// GateSchemaName names the layout of the JSON of gates.
const GateSchemaName = "triage/gates/v1"

type gatedJSON struct {
	Schema   string           `json:"schema"`
	Verdict  Verdict          `json:"verdict"`
	File     string           `json:"file"`
	Result   string           `json:"result"`
	Baseline *string          `json:"baseline"` // null: none
	Trace    traceJSON        `json:"trace"`
	Trust    *trustJSON       `json:"trust,omitempty"`
	Notes    []string         `json:"notes"`
	Gates    []gateResultJSON `json:"gates"`
}

type gateResultJSON struct {
	Name    string  `json:"name"`
	Policy  *string `json:"policy"` // null: names carry labels
	Line    int     `json:"line"`
	Expr    string  `json:"expr"`
	Verdict Verdict `json:"verdict"`
	Detail  string  `json:"detail"`
}

// GateJSON writes the gates as one document.
func GateJSON(w io.Writer, g *Gated) error {
	doc := gatedJSON{Schema: GateSchemaName, Verdict: Overall(g.Gates), File: g.File, Result: g.Result.Name, Trace: g.Result.doc.Trace, Trust: g.Result.doc.Trust,
		Notes: append([]string{}, g.Notes...), Gates: []gateResultJSON{}}
	if g.Baseline != nil {
		doc.Baseline = &g.Baseline.Name
	}
	for _, r := range g.Gates {
		j := gateResultJSON{Name: r.Name, Line: r.Line, Expr: r.Expr, Verdict: r.Verdict, Detail: r.Detail}
		if r.Policy != "" {
			j.Policy = &r.Policy
		}
		doc.Gates = append(doc.Gates, j)
	}
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(doc)
}

// Annotations are GitHub workflow commands that mark the lines of the gate file: at most nine of a kind, then how many
// more there are, since GitHub shows ten.
func Annotations(g *Gated) string {
	var b strings.Builder
	for _, kind := range []struct {
		verdict Verdict
		command string
	}{{Fail, "error"}, {Inconclusive, "warning"}} {
		n := 0
		for _, r := range g.Gates {
			if r.Verdict != kind.verdict {
				continue
			}
			if n++; n <= annotated {
				fmt.Fprintf(&b, "::%s file=%s,line=%d,title=%s::%s\n", kind.command, property(g.File), r.Line,
					property("gate "+string(r.Verdict)+": "+r.title()), message(r.Expr+"\n"+r.Detail))
			}
		}
		if n > annotated {
			fmt.Fprintf(&b, "::%s file=%s::%s\n", kind.command, property(g.File), message(fmt.Sprintf("%d more gates: %s", n-annotated, kind.verdict)))
		}
	}
	return b.String()
}

// annotated is how many annotations of a kind come out one by one.
const annotated = 9

// message escapes the text of a workflow command.
func message(text string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(text)
}

// property escapes a property of a workflow command.
func property(text string) string {
	return strings.NewReplacer(":", "%3A", ",", "%2C").Replace(message(text))
}
