package reports

import (
	"fmt"
	"io"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// Text writes the comparison for a terminal: header, table, findings, affinity, warnings, advice. What matters most is
// near the table, so that a small screen shows both.
func Text(w io.Writer, c *Comparison) error {
	p := &page{width: c.columns()}
	for _, h := range header(c) {
		p.lead(h, 9)
	}
	p.line("")
	p.line(fit(p.width, func(l layout) table.Writer { return runTable(c, l) }))
	p.note(gainNote(c))
	p.section(findingList(c))
	if c.byTenant() {
		p.line("\n" + tenantTitle)
		p.line(fit(p.width, func(l layout) table.Writer { return tenantTable(c, l) }))
		p.note(retryNote(c))
	}
	p.line("")
	p.line(affinityTitle(c))
	p.line(fit(p.width, func(l layout) table.Writer { return affinityTable(c, l) }))
	p.note(thinNote(c))
	p.section(warningList(c))
	p.line("\ntry next")
	p.WriteString(commandsTo(p.width, next(c)))
	_, err := io.WriteString(w, p.String())
	return err
}

// page collects text of a width.
type page struct {
	strings.Builder
	width int
}

func (p *page) line(text string) { p.WriteString(text + "\n") }

// note writes a line, if there is one.
func (p *page) note(text string) {
	if text != "" {
		p.wrap("", text)
	}
}

// lead writes a named line, its text in the column after the names or, behind a long name, right after it.
func (p *page) lead(h line, column int) {
	name := fmt.Sprintf("%-*s", column, h.name)
	if len(h.name) >= column {
		name = h.name + " "
	}
	indented(&p.Builder, p.width-1, column, name, h.text)
}

func (p *page) section(s section) {
	if len(s.items) == 0 {
		return
	}
	p.line("\n" + s.title)
	for _, item := range s.items {
		p.wrap(s.bullet, item)
	}
}

// wrap writes words after a lead, later lines indented below the first word. A terminal's last column stays free.
func (p *page) wrap(lead, words string) { wrapTo(&p.Builder, p.width-1, lead, words) }

// wrap wraps words at the width of a small terminal.
func wrap(b *strings.Builder, lead, words string) { wrapTo(b, Width-1, lead, words) }

func wrapTo(b *strings.Builder, width int, lead, words string) {
	indented(b, width, len(lead), lead, words)
}

// indented wraps words after a lead, later lines indented by so many columns.
func indented(b *strings.Builder, width, by int, lead, words string) {
	b.WriteString(lead)
	indent := strings.Repeat(" ", by)
	at := len(lead)
	for i, word := range units(strings.Fields(words)) {
		n := text.RuneWidthWithoutEscSequences(word)
		switch {
		case i == 0:
		case at+1+n > width:
			b.WriteString("\n" + indent)
			at = by
		default:
			b.WriteByte(' ')
			at++
		}
		b.WriteString(word)
		at += n
	}
	b.WriteByte('\n')
}

// section is a titled list.
type section struct {
	title  string
	bullet string
	items  []string
}

func findingList(c *Comparison) section {
	s := section{"findings", "  * ", nil}
	for _, f := range c.Findings {
		s.items = append(s.items, f.Text)
	}
	return s
}

func warningList(c *Comparison) section { return section{"warnings", "  ! ", warningLines(c)} }

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

// units joins a unit to the number before it, so that no line starts with one.
func units(words []string) []string {
	var out []string
	for _, word := range words {
		switch strings.TrimRight(word, ".,:;)") {
		case "%", "s", "ms":
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
