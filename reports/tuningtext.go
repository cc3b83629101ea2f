package reports

import (
	"fmt"
	"io"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/seed-2cee110a/triage/sim/tune"
)

// TuningReport writes the result of a search in one format.
type TuningReport struct {
	Name  string
	Doc   string
	Write func(w io.Writer, t *Tuning) error
}

var tuningCatalog = []TuningReport{
	{"table", "text for a terminal, with findings in words", TuningText},
	{"md", "Markdown", TuningMarkdown},
	{"csv", "a row a point and trace", TuningCSV},
	{"json", "schema " + TuneSchemaName, TuningJSON},
}

// TuningCatalog returns every report of a search.
func TuningCatalog() []TuningReport { return append([]TuningReport(nil), tuningCatalog...) }

// TuningText writes the result for a terminal.
func TuningText(w io.Writer, t *Tuning) error {
	p := &page{width: t.columns()}
	for _, h := range tuningHeader(t) {
		p.lead(h, 11)
	}
	p.line("\nrecommended\n  -p " + t.spec() + "\n")
	head, rows := tuningTable(t)
	p.line(fit(p.width, func(l layout) table.Writer { return textTable(head, rows, l) }))
	if note := t.apartNote(); note != "" {
		p.wrap("", note)
	}
	for _, s := range tuningSections(t) {
		p.section(s)
	}
	p.line("\ntry next")
	var steps []step
	for _, n := range tuningNext(t) {
		steps = append(steps, step{n[0], n[1]})
	}
	p.WriteString(commandsTo(p.width, steps))
	_, err := io.WriteString(w, p.String())
	return err
}

// TuningMarkdown writes the result for a pull request or a chat.
func TuningMarkdown(w io.Writer, t *Tuning) error {
	var b strings.Builder
	for _, h := range tuningHeader(t) {
		fmt.Fprintf(&b, "- **%s** %s\n", h.name, h.text)
	}
	fmt.Fprintf(&b, "\n**recommended** `-p %s`\n\n", t.spec())
	m := &markdownTable{}
	head, rows := tuningTable(t)
	m.row(head...)
	for _, r := range rows {
		for i := range r {
			r[i] = strings.ReplaceAll(r[i], "*", `\*`)
		}
		m.row(r...)
	}
	b.WriteString(m.String() + "\n")
	if note := t.apartNote(); note != "" {
		b.WriteString("\n" + strings.ReplaceAll(note, "*", `\*`) + "\n")
	}
	for _, s := range tuningSections(t) {
		fmt.Fprintf(&b, "\n**%s**\n\n", s.title)
		for _, item := range s.items {
			fmt.Fprintf(&b, "- %s\n", item)
		}
	}
	b.WriteString("\n**try next**\n\n")
	for _, n := range tuningNext(t) {
		fmt.Fprintf(&b, "- `%s` %s\n", n[0], n[1])
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func tuningSections(t *Tuning) []section {
	out := []section{{"findings", "  * ", tuningFindings(t)}}
	if w := tuningWarnings(t); len(w) > 0 {
		out = append(out, section{"warnings", "  ! ", w})
	}
	return out
}

func textTable(head []string, rows [][]string, l layout) table.Writer {
	w := table.NewWriter()
	w.AppendHeader(cellsOf(head))
	for _, r := range rows {
		r = append([]string{wrapLabel(r[0], l.label)}, r[1:]...)
		w.AppendRow(cellsOf(r))
	}
	alignRight(w, len(head)-1)
	return w
}

func cellsOf(texts []string) table.Row {
	row := make(table.Row, len(texts))
	for i, text := range texts {
		row[i] = text
	}
	return row
}

// tuningTable has a row a policy: with one trace what it does there, with several the objective on each and the regrets.
func tuningTable(t *Tuning) (head []string, rows [][]string) {
	if len(t.Study.Cases) == 1 {
		return oneTrace(t)
	}
	return severalTraces(t)
}

func oneTrace(t *Tuning) (head []string, rows [][]string) {
	u, ttft := t.unit(), t.metricUnit(tune.TTFTP90)
	head = []string{"policy", t.objectiveTitle(u), "vs best", "TTFT mean " + ttft.name, "TTFT p90 " + ttft.name, "hit", "rejected"}
	for _, r := range t.rows() {
		c := r.cells[0]
		hit := c.Metrics[tune.HitRatio]
		rows = append(rows, []string{r.label, u.cell(c.Value), t.against(c, 0), ttft.cell(c.Metrics[tune.TTFTMean]),
			ttft.cell(c.Metrics[tune.TTFTP90]), t.hit(0, hit), percent(c.Metrics[tune.Rejected])})
	}
	return head, rows
}

func severalTraces(t *Tuning) (head []string, rows [][]string) {
	u := t.unit()
	head = []string{"policy"}
	for _, c := range t.Study.Cases {
		head = append(head, strings.TrimSpace(c.Name+" "+u.name))
	}
	head = append(head, "worst regret", "mean regret")
	for _, r := range t.rows() {
		row := []string{r.label}
		for _, c := range r.cells {
			row = append(row, u.cell(c.Value))
		}
		worst, mean := t.regrets(r.cells)
		rows = append(rows, append(row, worst, mean))
	}
	return head, rows
}

// objectiveTitle keeps long expressions out of the table.
func (t *Tuning) objectiveTitle(u unit) string {
	if text := t.Study.Objective.Text; len(text) <= 16 {
		return strings.TrimSpace(text + " " + u.name)
	}
	return "objective"
}

// hit is "-" on a trace without prefix identity.
func (t *Tuning) hit(trace int, v float64) string {
	if f := t.headers[trace].Trace; f.Unidentified == f.Requests {
		return "-"
	}
	return ratio(v)
}

func (t *Tuning) metricUnit(metric int) unit {
	var values []float64
	for _, r := range t.rows() {
		for _, c := range r.cells {
			values = append(values, c.Metrics[metric])
		}
	}
	return unitFor(values...)
}
