package reports

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/seed-2cee110a/triage/sim/fidelity"
)

// FidelityReport writes a fidelity report in one format.
type FidelityReport struct {
	Name  string
	Doc   string
	Write func(w io.Writer, r *fidelity.Report) error
}

var fidelityCatalog = []FidelityReport{
	{"table", "text for a terminal", FidelityText},
	{"md", "Markdown", FidelityMarkdown},
	{"csv", "a row a statistic, times in ms", FidelityCSV},
	{"json", "schema " + FidelitySchemaName + ", times in ms, errors as ratios", FidelityJSON},
}

// FidelityCatalog returns every report of fidelity.
func FidelityCatalog() []FidelityReport { return append([]FidelityReport(nil), fidelityCatalog...) }

// FidelityText writes tables.
func FidelityText(w io.Writer, r *fidelity.Report) error {
	return writeTables(w, fidelityHeader(r), fidelityTables(r))
}

func writeTables(w io.Writer, header []string, tables []fidelityTable) error {
	p := &page{width: Width}
	for _, h := range header {
		p.wrap("", h)
	}
	for _, t := range tables {
		p.line("\n" + t.title)
		p.note(t.note)
		out := table.NewWriter()
		out.AppendHeader(cellsOf(t.head))
		for _, row := range t.rows {
			out.AppendRow(cellsOf(row))
		}
		if flat := plain(out).Render(); broadest(flat) < p.width {
			p.line(flat)
		} else {
			p.stack(t)
		}
	}
	_, err := io.WriteString(w, p.String())
	return err
}

// FidelityMarkdown writes the same tables for a pull request.
func FidelityMarkdown(w io.Writer, r *fidelity.Report) error {
	return markdownTables(w, fidelityHeader(r), fidelityTables(r))
}

func markdownTables(w io.Writer, header []string, tables []fidelityTable) error {
	p := &page{}
	for _, h := range header {
		p.line("- " + inline(h))
	}
	for _, t := range tables {
		p.line("\n**" + t.title + "**\n")
		if t.note != "" {
			p.line(t.note + "\n")
		}
		m := &markdownTable{}
		m.row(t.head...)
		for _, row := range t.rows {
			m.row(row...)
		}
		p.line(m.String())
	}
	_, err := io.WriteString(w, p.String())
	return err
}

var fidelityColumns = []string{"experiment", "stage", "subset", "metric", "stat", "regime", "gpu", "calibrated", "model", "measured", "simulated", "error"}

// FidelityCSV writes a row a statistic that was compared.
func FidelityCSV(w io.Writer, r *fidelity.Report) error {
	out := csv.NewWriter(w)
	out.Write(fidelityColumns) // a bufio.Writer keeps the first error for Error
	for _, scores := range [][]fidelity.Score{r.Scores, r.Closed} {
		for _, s := range scores {
			out.Write([]string{s.Experiment, s.Stage, s.Subset, s.Metric, s.Stat, s.Regime, s.GPU, fmt.Sprint(s.Calibrated), s.Model,
				csvFloat(s.Measured), csvFloat(s.Simulated), csvFloat(s.Error())})
		}
	}
	out.Flush()
	return out.Error()
}

// FidelitySchemaName names the layout of the JSON of fidelity.
const FidelitySchemaName = "triage/fidelity/v1"

type fidelityJSON struct {
	Schema      string        `json:"schema"`
	Seed        uint64        `json:"seed"`
	Experiments int           `json:"experiments"`
	Played      int           `json:"played"`
	Scores      []scoreJSON   `json:"scores"`
	Closed      []scoreJSON   `json:"closed_loop"`
	Published   []rivalJSON   `json:"published"`
	Skipped     []skippedJSON `json:"skipped"`
	Unscored    []skippedJSON `json:"unscored"`
}

type scoreJSON struct {
	Experiment string `json:"experiment"`
	Stage      string `json:"stage"`
	Subset     string `json:"subset"`
	Metric     string `json:"metric"`
	Stat       string `json:"stat"`
	Regime     string `json:"regime"`
	GPU        string `json:"gpu"`
	Calibrated bool   `json:"calibrated"`
	Model      string `json:"model"`
	Measured   number `json:"measured"`
	Simulated  number `json:"simulated"`
	Error      number `json:"error"`
}

type rivalJSON struct {
	Simulator string     `json:"simulator"`
	Metric    string     `json:"metric"`
	Triage    errorsJSON `json:"triage"`
	Theirs    errorsJSON `json:"theirs"`
	Verdict   string     `json:"verdict"`
}

type errorsJSON struct {
	N      int    `json:"n"`
	Mean   number `json:"mean"`
	Median number `json:"median"`
	Bias   number `json:"bias"`
}

type skippedJSON struct {
	What   string `json:"what"`
	Rows   int    `json:"rows"`
	Reason string `json:"reason"`
}

// FidelityJSON writes everything that was compared as one document.
func FidelityJSON(w io.Writer, r *fidelity.Report) error {
	doc := fidelityJSON{Schema: FidelitySchemaName, Seed: r.Seed, Experiments: r.Experiments, Played: r.Played,
		Scores: scoresJSON(r.Scores), Closed: scoresJSON(r.Closed), Skipped: leftJSON(r.Skipped), Unscored: leftJSON(r.Unscored), Published: []rivalJSON{}}
	for _, v := range r.Rivals {
		doc.Published = append(doc.Published, rivalJSON{v.Simulator, v.Metric, errorsOf(v.Ours), errorsOf(v.Theirs), v.Verdict()})
	}
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(doc)
}

func scoresJSON(scores []fidelity.Score) []scoreJSON {
	out := []scoreJSON{}
	for _, s := range scores {
		out = append(out, scoreJSON{s.Experiment, s.Stage, s.Subset, s.Metric, s.Stat, s.Regime, s.GPU, s.Calibrated, s.Model,
			number(s.Measured), number(s.Simulated), number(s.Error())})
	}
	return out
}

func errorsOf(e fidelity.Errors) errorsJSON {
	return errorsJSON{e.N, number(e.Mean), number(e.Median), number(e.Bias)}
}

func leftJSON(all []fidelity.Skipped) []skippedJSON {
	out := []skippedJSON{}
	for _, s := range all {
		out = append(out, skippedJSON{s.What, s.Rows, s.Reason})
	}
	return out
}
