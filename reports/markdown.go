package reports

import (
	"fmt"
	"io"
	"strings"
)

// Markdown writes the comparison for a pull request or a chat.
func Markdown(w io.Writer, c *Comparison) error {
	var b strings.Builder
	for _, h := range header(c) {
		fmt.Fprintf(&b, "- **%s** %s\n", h.name, h.text)
	}
	fmt.Fprintf(&b, "\n%s\n", markdownRuns(c))
	markdownNote(&b, strings.ReplaceAll(gainNote(c), "*", `\*`))
	markdownList(&b, findingList(c))
	if c.byTenant() {
		fmt.Fprintf(&b, "\n%s\n\n%s\n", tenantTitle, markdownTenants(c))
		markdownNote(&b, retryNote(c))
	}
	fmt.Fprintf(&b, "\n%s\n\n%s\n", affinityTitle(c), markdownAffinity(c))
	markdownNote(&b, thinNote(c))
	markdownList(&b, warningList(c))
	b.WriteString("\n**try next**\n\n")
	for _, n := range next(c) {
		fmt.Fprintf(&b, "- `%s` %s\n", n.command, n.why)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func markdownNote(b *strings.Builder, text string) {
	if text != "" {
		fmt.Fprintf(b, "\n%s\n", text)
	}
}

func markdownList(b *strings.Builder, s section) {
	if len(s.items) == 0 {
		return
	}
	fmt.Fprintf(b, "\n**%s**\n\n", s.title)
	for _, item := range s.items {
		fmt.Fprintf(b, "- %s\n", item)
	}
}

func markdownRuns(c *Comparison) string {
	ttft, e2e := ttftUnit(c), e2eUnit(c)
	t := &markdownTable{}
	head := []string{"policy", "TTFT mean " + ttft.name, "p50", "p90", "p99", "TPOT mean ms", "E2E p90 " + e2e.name, "hit ratio",
		"imbalance", "rejected", "preemptions"}
	if c.adapters() {
		head = append(head, "adapter loads per 1,000")
	}
	if c.stale() {
		head = append(head, "signal age s p50/p95")
	}
	t.row(append(head, "TTFT vs base")...)
	for i, r := range c.Runs {
		cells := []string{r.Policy, ttft.cell(r.TTFT.Mean), ttft.cell(r.TTFT.P50), ttft.cell(r.TTFT.P90), ttft.cell(r.TTFT.P99),
			milliseconds.cell(r.TPOT.Mean), e2e.cell(r.E2E.P90), ratio(r.HitRatio), ratio(r.Imbalance),
			group(int64(r.Rejected)), group(r.Preemptions)}
		if c.adapters() {
			cells = append(cells, loadsCell(&r))
		}
		if c.stale() {
			cells = append(cells, ageCell(&r))
		}
		t.row(append(cells, strings.ReplaceAll(gainCell(c, i), "*", `\*`))...)
	}
	return t.String()
}

func markdownAffinity(c *Comparison) string {
	t := &markdownTable{}
	names := bucketNames(c)
	t.row(append([]string{"policy"}, names...)...)
	for _, r := range c.Runs {
		cells := []string{r.Policy}
		for _, name := range names {
			b := bucket(r.Affinity, name)
			cells = append(cells, timesCell(ttftUnit(c), b, " / ")+", "+sizeCell(b))
		}
		t.row(cells...)
	}
	return t.String()
}

// markdownTable collects rows; the first is the header, columns after the first are numbers.
type markdownTable struct{ rows []string }

func (t *markdownTable) row(cells ...string) {
	for i, cell := range cells {
		cells[i] = strings.ReplaceAll(cell, "|", `\|`)
	}
	t.rows = append(t.rows, "| "+strings.Join(cells, " | ")+" |")
	if len(t.rows) == 1 {
		t.rows = append(t.rows, "| --- |"+strings.Repeat(" ---: |", len(cells)-1))
	}
}

func (t *markdownTable) String() string { return strings.Join(t.rows, "\n") }
