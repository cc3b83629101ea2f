package reports

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
)

// TwoReport writes two results side by side in one format.
type TwoReport struct {
	Name  string
	Doc   string
	Write func(w io.Writer, t *Two) error
}

var twoCatalog = []TwoReport{
	{"table", "text for a terminal", TwoText},
	{"md", "Markdown", TwoMarkdown},
	{"csv", "a row a policy and metric, seconds", TwoCSV},
	{"json", "schema " + TwoSchemaName + ", seconds", TwoJSON},
}

// TwoCatalog returns every report of two results.
func TwoCatalog() []TwoReport { return append([]TwoReport(nil), twoCatalog...) }

// twoNote explains the last column.
const twoNote = "interval: 95 %, paired over windows of the trace, relative to A, of the hit ratio in percentage points; ~ is no difference shown"

// cells are a row as people read it.
func (t *Two) cells(r TwoRow) []string {
	u := unit{"", 1}
	if r.Unit == "s" {
		u = unitFor(r.A, r.B)
	}
	span := "-"
	if known(r.Low, r.High) {
		unit := "%"
		if r.Metric == "hit_ratio" {
			unit = "points"
		}
		span = strings.ReplaceAll(fmt.Sprintf("%+.1f to %+.1f %s", r.Low*100, r.High*100, unit), "-0.0 ", "+0.0 ")
	}
	delta := "-"
	if known(r.Delta()) {
		delta = strings.Replace(fmt.Sprintf("%+.1f %%", r.Delta()*100), "-0.0 ", "+0.0 ", 1)
	}
	word := r.Word
	if word == "" {
		word = "-"
	}
	return []string{strings.TrimSpace(r.Metric + " " + u.name), u.cell(r.A), u.cell(r.B), delta, span, word}
}

var twoHead = []string{"A", "B", "delta", "interval", ""}

// policies returns the policies of the rows, in order.
func (t *Two) policies() []string {
	var out []string
	for _, r := range t.Rows {
		if len(out) == 0 || out[len(out)-1] != r.Policy {
			out = append(out, r.Policy)
		}
	}
	return out
}

// of returns the rows of a policy.
func (t *Two) of(policy string) []TwoRow {
	var out []TwoRow
	for _, r := range t.Rows {
		if r.Policy == policy {
			out = append(out, r)
		}
	}
	return out
}

// remarks are what to know before reading the numbers.
func (t *Two) remarks() []string {
	var out []string
	for _, n := range t.Notes {
		if !strings.HasPrefix(n, "no intervals") {
			n = "THEY DIFFER in " + n
		}
		out = append(out, n)
	}
	if len(t.OnlyA) > 0 {
		out = append(out, "only A has "+strings.Join(t.OnlyA, ", "))
	}
	if len(t.OnlyB) > 0 {
		out = append(out, "only B has "+strings.Join(t.OnlyB, ", "))
	}
	return out
}

// TwoText writes a table a policy.
func TwoText(w io.Writer, t *Two) error {
	p := &page{width: max(t.Width, Width)}
	p.wrap("A  ", t.A.Name)
	p.wrap("B  ", t.B.Name)
	for _, l := range t.trust() {
		p.lead(l, 3)
	}
	for _, n := range t.remarks() {
		p.wrap("!  ", n)
	}
	for _, policy := range t.policies() {
		out := table.NewWriter()
		out.AppendHeader(cellsOf(append([]string{policy}, twoHead...)))
		for _, r := range t.of(policy) {
			out.AppendRow(cellsOf(t.cells(r)))
		}
		alignRight(out, 4)
		p.line("\n" + plain(out).Render())
	}
	if t.Paired {
		p.line("")
		p.wrap("", twoNote)
	}
	_, err := io.WriteString(w, p.String())
	return err
}

// TwoMarkdown writes one table.
func TwoMarkdown(w io.Writer, t *Two) error {
	var b strings.Builder
	fmt.Fprintf(&b, "- **A** %s\n- **B** %s\n", inline(t.A.Name), inline(t.B.Name))
	for _, l := range t.trust() {
		fmt.Fprintf(&b, "- **%s** %s\n", l.name, inline(l.text))
	}
	for _, n := range t.remarks() {
		fmt.Fprintf(&b, "- **!** %s\n", inline(n))
	}
	m := &markdownTable{}
	m.row(append([]string{"policy", "metric"}, twoHead...)...)
	for _, r := range t.Rows {
		m.row(append([]string{inline(r.Policy)}, t.cells(r)...)...)
	}
	fmt.Fprintf(&b, "\n%s\n", m)
	if t.Paired {
		fmt.Fprintf(&b, "\n%s\n", twoNote)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// TwoCSV writes a row a policy and metric, an empty cell for what is not known. Differences are ratios: 0.05 is 5 % more.
func TwoCSV(w io.Writer, t *Two) error {
	out := csv.NewWriter(w)
	out.Write([]string{"policy", "metric", "unit", "a", "b", "delta", "low", "high", "verdict"}) // a bufio.Writer keeps the first error for Error
	for _, r := range t.Rows {
		out.Write([]string{r.Policy, r.Metric, r.Unit, csvFloat(r.A), csvFloat(r.B), csvFloat(r.Delta()), csvFloat(r.Low), csvFloat(r.High), r.Word})
	}
	out.Flush()
	return out.Error()
}

// TwoSchemaName names the layout of the JSON of two results.
const TwoSchemaName = "triage/compare/v1"

type twoJSON struct {
	Schema string       `json:"schema"`
	A      string       `json:"a"`
	B      string       `json:"b"`
	TrustA *trustJSON   `json:"trust_a,omitempty"`
	TrustB *trustJSON   `json:"trust_b,omitempty"`
	Notes  []string     `json:"notes"`
	Rows   []twoRowJSON `json:"rows"`
}

type twoRowJSON struct {
	Policy  string `json:"policy"`
	Metric  string `json:"metric"`
	Unit    string `json:"unit"`
	A       number `json:"a"`
	B       number `json:"b"`
	Delta   number `json:"delta"`
	Low     number `json:"low"`
	High    number `json:"high"`
	Verdict string `json:"verdict"`
}

// TwoJSON writes the rows as one document.
func TwoJSON(w io.Writer, t *Two) error {
	doc := twoJSON{Schema: TwoSchemaName, A: t.A.Name, B: t.B.Name, TrustA: t.A.doc.Trust, TrustB: t.B.doc.Trust, Notes: append([]string{}, t.remarks()...)}
	for _, r := range t.Rows {
		doc.Rows = append(doc.Rows, twoRowJSON{r.Policy, r.Metric, r.Unit, number(r.A), number(r.B), number(r.Delta()), number(r.Low), number(r.High), r.Word})
	}
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(doc)
}
