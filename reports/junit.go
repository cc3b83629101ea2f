package reports

import (
	"encoding/xml"
	"io"
	"strings"
	"unicode"
)

type junitSuites struct {
	XMLName  xml.Name     `xml:"testsuites"`
	Tests    int          `xml:"tests,attr"`
	Failures int          `xml:"failures,attr"`
	Skipped  int          `xml:"skipped,attr"`
	Suites   []junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Errors   int         `xml:"errors,attr"`
	Skipped  int         `xml:"skipped,attr"`
	Cases    []junitCase `xml:"testcase"`
}

type junitCase struct {
	Name    string      `xml:"name,attr"`
	Class   string      `xml:"classname,attr"`
	File    string      `xml:"file,attr"`
	Line    int         `xml:"line,attr"`
	Failure *junitCause `xml:"failure"`
	Skipped *junitCause `xml:"skipped"`
	Output  string      `xml:"system-out,omitempty"`
}

type junitCause struct {
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

// JUnit writes the gates for a CI that reads JUnit XML: a suite for the trace, a case a gate. A gate that is
// inconclusive counts as skipped.
func JUnit(w io.Writer, g *Gated) error {
	s := junitSuite{Name: printable(g.Scenario), Tests: len(g.Gates)}
	for _, r := range g.Gates {
		c := junitCase{Name: printable(r.Name), Class: printable(g.Scenario + "." + r.Policy), File: printable(g.File), Line: r.Line}
		if r.Policy == "" {
			c.Class = printable(g.Scenario)
		}
		cause := &junitCause{Message: printable(r.Expr), Text: printable(r.Detail)}
		switch r.Verdict {
		case Fail:
			c.Failure = cause
			s.Failures++
		case Inconclusive:
			c.Skipped = cause
			s.Skipped++
		default:
			c.Output = printable(r.Detail)
		}
		s.Cases = append(s.Cases, c)
	}
	all := junitSuites{Tests: s.Tests, Failures: s.Failures, Skipped: s.Skipped, Suites: []junitSuite{s}}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	e := xml.NewEncoder(w)
	e.Indent("", "  ")
	if err := e.Encode(all); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

// printable drops control characters, which XML cannot hold.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, text)
}
