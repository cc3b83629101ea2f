package reports

import (
	"fmt"
	"io"
	"strings"
)

// Report writes a comparison in one format.
type Report struct {
	Name  string
	Doc   string
	Write func(w io.Writer, c *Comparison) error
}

var catalog = []Report{
	{"table", "text for a terminal, with findings in words", Text},
	{"md", "Markdown", Markdown},
	{"csv", "a row a run, seconds", CSV},
	{"json", "schema " + SchemaName + ", seconds", JSON},
	{"bench", "Go benchmark lines for benchstat -col policy", Bench},
}

// Catalog returns every report.
func Catalog() []Report { return append([]Report(nil), catalog...) }

// Names returns the names of all reports, joined for a message.
func Names() string {
	names := make([]string, len(catalog))
	for i, r := range catalog {
		names[i] = r.Name
	}
	return strings.Join(names, ", ")
}

// Lookup returns the report of that name.
func Lookup(name string) (Report, error) {
	for _, r := range catalog {
		if r.Name == name {
			return r, nil
		}
	}
	return Report{}, fmt.Errorf("unknown format %q (have %s)", name, Names())
}
