package reports

import (
	"fmt"
	"io"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// width is how many columns prose takes; tables need more when policy labels are long or there are many numbers.
const width = 79

// wide is how many columns a line should never need.
const wide = 100

// labelWidth is where long policy labels wrap.
const labelWidth = 24

// Text writes the comparison for a terminal: header, table, affinity, findings, warnings, advice.
func Text(w io.Writer, c *Comparison) error {
	var b strings.Builder
	for _, h := range header(c) {
		wrap(&b, fmt.Sprintf("%-9s", h.name), h.text)
	}
	b.WriteByte('\n')
	b.WriteString(plain(runTable(c)).Render())
	fmt.Fprintf(&b, "\n\n%s\n", affinityTitle(c))
	b.WriteString(plain(affinityTable(c)).Render())
	b.WriteByte('\n')
	for _, s := range sections(c) {
		fmt.Fprintf(&b, "\n%s\n", s.title)
		for _, item := range s.items {
			wrap(&b, s.bullet, item)
		}
	}
	b.WriteString("\ntry next\n" + commands(next(c)))
	_, err := io.WriteString(w, b.String())
	return err
}

// commands lists steps with what they show, beside the commands if there is room. Commands are never wrapped: people
// copy them.
func commands(steps []step) string {
	command, why := 0, 0
	for _, s := range steps {
		command, why = max(command, len(s.command)), max(why, len(s.why))
	}
	var b strings.Builder
	for _, s := range steps {
		if command+why+9 <= wide {
			fmt.Fprintf(&b, "  $ %-*s   # %s\n", command, s.command, s.why)
		} else {
			fmt.Fprintf(&b, "  # %s\n  $ %s\n", s.why, s.command)
		}
	}
	return b.String()
}

// section is a titled list below the tables.
type section struct {
	title  string
	bullet string
	items  []string
}

// sections returns the lists that have something to say.
func sections(c *Comparison) []section {
	all := []section{{"findings", "  * ", nil}, {"warnings", "  ! ", warningLines(c)}}
	for _, f := range c.Findings {
		all[0].items = append(all[0].items, f.Text)
	}
	var out []section
	for _, s := range all {
		if len(s.items) > 0 {
			out = append(out, s)
		}
	}
	return out
}

func warningLines(c *Comparison) []string {
	var out []string
	for _, w := range c.Warnings() {
		if w.Policies == nil {
			out = append(out, w.Text)
		} else {
			out = append(out, join(w.Policies)+": "+w.Text)
		}
	}
	return out
}

// plain renders a table without lines but one below its header.
func plain(t table.Writer) table.Writer {
	style := table.StyleDefault
	style.Box.PaddingLeft, style.Box.PaddingRight = "", "  "
	style.Options = table.OptionsNoBordersAndSeparators
	style.Format.Header = text.FormatDefault
	t.SetStyle(style)
	t.SuppressTrailingSpaces()
	return t
}

// wrap writes words after a lead, later lines indented below the first word.
func wrap(b *strings.Builder, lead, words string) {
	b.WriteString(lead)
	indent := strings.Repeat(" ", len(lead))
	at := len(lead)
	for i, word := range units(strings.Fields(words)) {
		n := text.RuneWidthWithoutEscSequences(word)
		switch {
		case i == 0:
		case at+1+n > width:
			b.WriteString("\n" + indent)
			at = len(lead)
		default:
			b.WriteByte(' ')
			at++
		}
		b.WriteString(word)
		at += n
	}
	b.WriteByte('\n')
}

// units joins a unit to the number before it, so that no line starts with one.
func units(words []string) []string {
	var out []string
	for _, word := range words {
		switch strings.TrimRight(word, ".,:;)") {
		case "%", "s", "ms", "x":
			if len(out) > 0 {
				out[len(out)-1] += " " + word
				continue
			}
		}
		out = append(out, word)
	}
	return out
}

// wrapLabel breaks a policy label after commas and colons.
func wrapLabel(label string, n int) string {
	var lines []string
	line := ""
	for _, part := range strings.SplitAfter(strings.ReplaceAll(label, ":", ":\x00"), ",") {
		for _, piece := range strings.Split(part, "\x00") {
			if line != "" && len(line)+len(piece) > n {
				lines, line = append(lines, line), " "
			}
			line += piece
		}
	}
	return strings.Join(append(lines, line), "\n")
}
