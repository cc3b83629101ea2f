package reports

import (
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/text"
)

// stack writes a table that is too wide for the page: what names a row stands on a line of its own, once for all rows in a
// row that it names, and the rest is indented below it. The last column wraps.
func (p *page) stack(t fidelityTable) {
	names := max(1, t.labels)
	label := func(row []string) string { return strings.Join(row[:names], ", ") }
	var rest [][]string
	for _, row := range append([][]string{t.head}, t.rows...) {
		rest = append(rest, slices.Clone(row[names:]))
	}
	for k := range rest[0] {
		perCent(rest, k)
	}
	widths := widest(rest)
	gap, room := "  ", 0
	for _, n := range widths {
		room += len(gap) + n
	}
	if room >= p.width {
		gap = " "
	}
	p.line(label(t.head))
	p.cells(rest[0], widths, gap)
	last := ""
	for i, row := range t.rows {
		if l := label(row); l != last {
			p.wrap("", l)
			last = l
		}
		p.cells(rest[i+1], widths, gap)
	}
}

// cells writes a row of a stacked table.
func (p *page) cells(row []string, widths []int, gap string) {
	lead := " "
	last := len(row) - 1
	for k, cell := range row[:last] {
		lead += " " + text.Pad(cell, widths[k], ' ') + gap[1:]
	}
	p.wrap(lead+" ", row[last])
}

// perCent moves the sign of a column's numbers to its head, the first row, if all have it.
func perCent(rows [][]string, k int) {
	const sign = " %"
	if slices.ContainsFunc(rows[1:], func(row []string) bool { return row[k] != "-" && !strings.HasSuffix(row[k], sign) }) {
		return
	}
	rows[0][k] += sign
	for _, row := range rows[1:] {
		row[k] = strings.TrimSuffix(row[k], sign)
	}
}

// widest returns the room that each column of cells needs: of the last, which wraps, that of its longest word.
func widest(rows [][]string) []int {
	out := make([]int, len(rows[0]))
	for _, row := range rows {
		last := len(row) - 1
		for k, cell := range slices.Concat(row[:last], strings.Fields(row[last])) {
			k = min(k, last)
			out[k] = max(out[k], text.RuneWidthWithoutEscSequences(cell))
		}
	}
	return out
}
