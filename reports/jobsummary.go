package reports

import (
	"fmt"
	"html"
	"io"
	"strings"

	"github.com/seed-2cee110a/triage/sim"
)

// Limits of GitHub: a job summary of a step has at most 1 MiB, a comment 65,536 characters.
const (
	SummaryLimit = 1<<20 - 1
	CommentLimit = 65536
)

// CommentMarker is a line that Markdown does not show. A workflow finds its earlier comment by it and replaces it.
const CommentMarker = "<!-- triage gate -->"

// GateMarkdown writes a job summary: the verdict first, small tables, details folded.
func GateMarkdown(w io.Writer, g *Gated) error { return g.markdown(w, "", SummaryLimit) }

// GateComment is GateMarkdown with a hidden marker, within the limit of a comment.
func GateComment(w io.Writer, g *Gated) error {
	return g.markdown(w, CommentMarker+"\n", CommentLimit)
}

// markdown writes lead and whole sections after it, as many as fit into limit bytes.
func (g *Gated) markdown(w io.Writer, lead string, limit int) error {
	const cut = "\nMore did not fit here; the JSON has it.\n"
	var out strings.Builder
	out.WriteString(lead)
	for _, s := range g.sections() {
		if out.Len()+len(s)+len(cut) > limit {
			out.WriteString(cut)
			break
		}
		out.WriteString(s)
	}
	_, err := io.WriteString(w, out.String())
	return err
}

func (g *Gated) sections() []string {
	head := map[Verdict]string{Pass: "passed", Fail: "failed", Inconclusive: "inconclusive"}[Overall(g.Gates)]
	out := []string{fmt.Sprintf("### Gates %s: %s\n\n%s\n", head, inline(g.Scenario), counted(g.Gates))}
	for _, n := range g.Notes {
		out = append(out, "\n- "+inline(n)+"\n")
	}
	out = append(out, "\n- **"+trustTitle+"** "+inline(g.Result.trustText())+"\n")
	t := &markdownTable{}
	t.rows = []string{"| gate | policy | verdict |", "| --- | --- | --- |"}
	rows := []string{"\n" + t.String() + "\n"}
	for _, r := range g.Gates {
		rows = append(rows, "| "+strings.Join([]string{inline(r.Name), inline(r.Policy), bold(r.Verdict)}, " | ")+" |\n")
	}
	out = append(out, rows...)
	out = append(out, "\n"+g.numbers()+"\n")
	for _, r := range g.Gates {
		out = append(out, fmt.Sprintf("\n<details><summary>%s: %s</summary>\n\n<code>%s</code>\n\n%s\n\n</details>\n", inline(r.Name), r.Verdict,
			inline(r.Expr), inline(r.Detail)))
	}
	return out
}

func bold(v Verdict) string {
	if v == Pass {
		return string(v)
	}
	return "**" + string(v) + "**"
}

// inline makes text safe within a line of Markdown.
func inline(text string) string {
	text = html.EscapeString(strings.Join(strings.Fields(text), " "))
	return strings.NewReplacer("|", "\\|", "*", "\\*", "_", "\\_", "`", "\\`").Replace(text)
}

// numbers has a row a run, with the baseline's above it.
func (g *Gated) numbers() string {
	t := &markdownTable{}
	t.row("run", "TTFT mean s", "p50", "p90", "p99", "TPOT mean ms", "E2E p90 s", "hit ratio", "imbalance", "rejected")
	for _, r := range g.Result.Runs {
		if g.Baseline != nil {
			if b, err := g.Baseline.run(r.Policy); err == nil {
				t.row(numbersOf("baseline "+inline(r.Policy), b)...)
			}
		}
		t.row(numbersOf(inline(r.Policy), r)...)
	}
	return t.String()
}

func numbersOf(name string, r sim.Summary) []string {
	return []string{name, significant(r.TTFT.Mean), significant(r.TTFT.P50), significant(r.TTFT.P90), significant(r.TTFT.P99),
		milliseconds.cell(r.TPOT.Mean), significant(r.E2E.P90), ratio(r.HitRatio), ratio(r.Imbalance), group(int64(r.Rejected))}
}
