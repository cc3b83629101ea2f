package reports

import (
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// Width is how many columns text takes unless a Comparison says otherwise.
const Width = 80

// columns is how wide text for a terminal may be.
func (c *Comparison) columns() int {
	if c.Width > 0 {
		return c.Width
	}
	return Width
}

// labelWidth is where long policy labels wrap, if there is room.
const labelWidth = 24

// layout is how much room a table takes.
type layout struct {
	label int    // where long policy labels wrap
	gap   int    // spaces between columns
	slash string // between two numbers of a cell
	spare bool   // leave out columns in which every run has 0
}

// layouts from wide to narrow.
var layouts = []layout{
	{labelWidth, 2, " / ", false},
	{labelWidth, 2, "/", false},
	{labelWidth, 1, "/", false},
	{labelWidth, 1, "/", true},
	{18, 1, "/", true},
	{14, 1, "/", true},
	{11, 1, "/", true},
}

// fit renders a table in the widest layout that needs at most n columns, or else in the narrowest.
func fit(n int, make func(layout) table.Writer) string {
	var out string
	for _, l := range layouts {
		if out = spaced(make(l), l.gap).Render(); broadest(out) <= n {
			break
		}
	}
	return out
}

// broadest returns the columns of the longest line.
func broadest(lines string) int {
	n := 0
	for line := range strings.SplitSeq(lines, "\n") {
		n = max(n, text.RuneWidthWithoutEscSequences(line))
	}
	return n
}

// plain makes a table render without lines.
func plain(t table.Writer) table.Writer { return spaced(t, 2) }

// spaced makes a table render without lines, with a gap between columns.
func spaced(t table.Writer, gap int) table.Writer {
	style := table.StyleDefault
	style.Box.PaddingLeft, style.Box.PaddingRight = "", strings.Repeat(" ", gap)
	style.Options = table.OptionsNoBordersAndSeparators
	style.Format.Header = text.FormatDefault
	t.SetStyle(style)
	t.SuppressTrailingSpaces()
	return t
}
