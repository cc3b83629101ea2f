package reports

import (
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-2cee110a/triage/sim/trust"
)

// TrustReport writes the errors of a calibration in one format.
type TrustReport struct {
	Name  string
	Doc   string
	Write func(w io.Writer, t *trust.Table) error
}

// The names are those of FidelityCatalog.
var trustCatalog = []TrustReport{
	{"table", "text for a terminal", func(w io.Writer, t *trust.Table) error { return writeTables(w, trustHeader(t), trustTables(t)) }},
	{"md", "Markdown", func(w io.Writer, t *trust.Table) error { return markdownTables(w, trustHeader(t), trustTables(t)) }},
	{"csv", "a row a group of stages", TrustCSV},
	{"json", "schema " + trust.SchemaName, func(w io.Writer, t *trust.Table) error { return t.Write(w) }},
}

// TrustCatalog returns every report of a calibration's errors.
func TrustCatalog() []TrustReport { return append([]TrustReport(nil), trustCatalog...) }

func trustHeader(t *trust.Table) []string {
	return []string{fmt.Sprintf("errors of the calibration in this program, over %d files of measurements, %s", t.Files, short(t.Data))}
}

func trustTables(t *trust.Table) []fidelityTable {
	return []fidelityTable{
		trustTable(t, "by regime", []string{"regime"}, nil),
		trustTable(t, "by class of models and GPU", []string{"regime", "class", "gpu"}, func(g *trust.Group) []string { return []string{g.Class, gpuText(g)} }),
		trustTable(t, "by model and GPU", []string{"regime", "model", "gpu"}, func(g *trust.Group) []string { return []string{g.Model, gpuText(g)} }),
	}
}

func gpuText(g *trust.Group) string {
	if g.Calibrated {
		return g.GPU
	}
	return g.GPU + " (extrapolated)"
}

// trustTable has a row a total over such fields; name gives the cells that name it beside the regime.
func trustTable(t *trust.Table, title string, of []string, name func(*trust.Group) []string) fidelityTable {
	out := fidelityTable{title: title, note: "Mean and median absolute error of stage means. Prompts in tokens; in flight: the most requests at once, by stage.",
		labels: len(of), head: slices.Concat(of, []string{"stages", "TTFT", "TPOT", "E2E", "served/s", "prompts", "in flight"})}
	for i := range t.Totals {
		g := &t.Totals[i]
		if !slices.Equal(g.Of, of) {
			continue
		}
		row := []string{g.Regime}
		if name != nil {
			row = append(row, name(g)...)
		}
		out.rows = append(out.rows, append(row, strconv.Itoa(g.Stages), trustCell(g.TTFT), trustCell(g.TPOT), trustCell(g.E2E), trustCell(g.Served),
			spanCell(g.Prompt), spanCell(g.InFlight)))
	}
	return out
}

func trustCell(e trust.Errors) string {
	if e.N == 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f/%.1f %%", e.Mean*100, e.Median*100)
}

func spanCell(s trust.Span) string {
	if s[0] == s[1] {
		return group(int64(s[0]))
	}
	return group(int64(s[0])) + " to " + group(int64(s[1]))
}

// TrustCSV writes a row a group and total.
func TrustCSV(w io.Writer, t *trust.Table) error {
	out := csv.NewWriter(w)
	out.Write([]string{"of", "regime", "gpu", "class", "model", "weights", "tp", "calibrated", "stages", "metric", "n", "mean", "median", "bias"}) // the writer keeps the first error
	for _, g := range slices.Concat(t.Rows, t.Totals) {
		tp := ""
		if g.TP > 0 {
			tp = strconv.Itoa(g.TP)
		}
		for _, m := range []struct {
			name string
			e    trust.Errors
		}{{"ttft", g.TTFT}, {"tpot", g.TPOT}, {"e2e", g.E2E}, {"served_per_s", g.Served}} {
			if m.e.N > 0 {
				out.Write([]string{strings.Join(g.Of, "+"), g.Regime, g.GPU, g.Class, g.Model, g.Weights, tp, fmt.Sprint(g.Calibrated), strconv.Itoa(g.Stages), m.name,
					strconv.Itoa(m.e.N), csvFloat(m.e.Mean), csvFloat(m.e.Median), csvFloat(m.e.Bias)})
			}
		}
	}
	out.Flush()
	return out.Error()
}
