package reports

import (
	"bytes"
	"fmt"
	"image/color"
	"io"
	"strings"

	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// PlotFormats are the formats of pictures.
func PlotFormats() []string { return []string{"svg", "png"} }

// drawing is a picture: an answer in words, and what is drawn below it. It is drawn on the canvases of gonum/plot; its
// own Plot type is not used, because that panics on logarithmic axes without positive data.
type drawing struct {
	title  string // the answer
	notes  []string
	keys   []key
	width  vg.Length // 0 is pageWidth
	height vg.Length // 0 is pageHeight
	body   func(p *pen, area vg.Rectangle)
}

// key is what a colour stands for.
type key struct {
	name string
	ink  color.NRGBA
	dash []vg.Length
	line bool             // it is a curve with that dash
	mark *draw.GlyphStyle // it is points of that style
}

func policyKeys(names []string) []key {
	var out []key
	for i, n := range names {
		out = append(out, key{name: n, ink: categoryColor(i), dash: categoryDash(i), line: true})
	}
	return out
}

// boxKeys are those of policies that are drawn as boxes, told apart by their order too.
func boxKeys(names []string) []key {
	out := policyKeys(names)
	for i := range out {
		out[i].line = false
	}
	return out
}

// render draws the figure, whole or not at all.
func (f *drawing) render(w io.Writer, format string) error {
	width, height := f.size()
	var canvas vg.CanvasWriterTo
	switch format {
	case "svg":
		canvas = vgsvg.New(width, height)
	case "png":
		canvas = vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(width, height), vgimg.UseDPI(dotsPerIn))}
	default:
		return fmt.Errorf("unknown picture format %q (have %s)", format, strings.Join(PlotFormats(), ", "))
	}
	f.draw(&pen{draw.NewCanvas(canvas, width, height)})
	var b bytes.Buffer
	if _, err := canvas.WriteTo(&b); err != nil {
		return err
	}
	_, err := w.Write(b.Bytes())
	return err
}

func (f *drawing) size() (width, height vg.Length) {
	width, height = f.width, f.height
	if width == 0 {
		width = pageWidth
	}
	if height == 0 {
		height = pageHeight
	}
	return width, height
}

// draw draws title, notes and keys, and the body in what is left.
func (f *drawing) draw(p *pen) {
	p.fill(p.Rectangle, white)
	area := vg.Rectangle{Min: vg.Point{X: margin, Y: margin}, Max: vg.Point{X: p.Max.X - margin, Y: p.Max.Y - margin}}
	title := heavy(letters(titleText, black))
	y := p.paragraph(f.title, area, area.Max.Y, title)
	for _, n := range f.notes {
		y = p.paragraph(n, area, y-2, letters(plainText, grey))
	}
	if len(f.keys) > 0 {
		y = p.keys(f.keys, area, y-4)
	}
	area.Max.Y = y - 6
	f.body(p, area)
}

// pen draws on a canvas; y grows upwards.
type pen struct{ draw.Canvas }

func (p *pen) fill(r vg.Rectangle, c color.Color) {
	p.FillPolygon(c, []vg.Point{r.Min, {X: r.Max.X, Y: r.Min.Y}, r.Max, {X: r.Min.X, Y: r.Max.Y}})
}

func (p *pen) outline(r vg.Rectangle, s draw.LineStyle) {
	p.StrokeLines(s, []vg.Point{r.Min, {X: r.Max.X, Y: r.Min.Y}, r.Max, {X: r.Min.X, Y: r.Max.Y}, r.Min})
}

func (p *pen) line(s draw.LineStyle, x0, y0, x1, y1 vg.Length) { p.StrokeLine2(s, x0, y0, x1, y1) }

func (p *pen) text(s text.Style, x, y vg.Length, t string) {
	if t != "" {
		p.FillText(s, vg.Point{X: x, Y: y}, t)
	}
}

// label is text on a white ground, so that lines below it do not cross it.
func (p *pen) label(s text.Style, x, y vg.Length, t string) {
	r := s.Rectangle(t)
	r.Min, r.Max = vg.Point{X: r.Min.X + x - 1, Y: r.Min.Y + y}, vg.Point{X: r.Max.X + x + 1, Y: r.Max.Y + y}
	p.fill(r, white)
	p.text(s, x, y, t)
}

// paragraph draws text from the top down, in lines that fit the area, and returns where it ends.
func (p *pen) paragraph(t string, area vg.Rectangle, top vg.Length, s text.Style) vg.Length {
	line := s.Font.Size * 1.25
	for _, l := range textLines(t, area.Size().X, s) {
		top -= line
		p.text(s, area.Min.X, top+line*0.2, l)
	}
	return top
}

// textLines breaks text at blanks into lines that are at most width wide, if their words are.
func textLines(t string, width vg.Length, s text.Style) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(t) {
		next := strings.TrimSpace(line + " " + word)
		if line != "" && s.Width(next) > width {
			lines, next = append(lines, line), word
		}
		line = next
	}
	return append(lines, line)
}

// clipText shortens text to a width, its end replaced by dots.
func clipText(t string, width vg.Length, s text.Style) string {
	if s.Width(t) <= width {
		return t
	}
	for r := []rune(t); len(r) > 1; r = r[:len(r)-1] {
		if short := string(r[:len(r)-1]) + "..."; s.Width(short) <= width {
			return short
		}
	}
	return ""
}

// keys draws what the colours stand for, in as many lines as they need.
func (p *pen) keys(keys []key, area vg.Rectangle, top vg.Length) vg.Length {
	s := heavy(letters(plainText, black))
	x, y := area.Min.X, top-plainText*1.3
	for _, k := range keys {
		name := clipText(k.name, 260, s)
		w, start := s.Width(name)+46, vg.Length(28)
		if !k.line {
			w, start = w-12, 14
		}
		if x > area.Min.X && x+w > area.Max.X {
			x, y = area.Min.X, y-plainText*1.5
		}
		mid := y + plainText*0.35
		switch {
		case k.mark != nil:
			p.DrawGlyph(*k.mark, vg.Point{X: x + 5, Y: mid})
		case k.line:
			p.line(draw.LineStyle{Color: k.ink, Width: 1.5, Dashes: k.dash}, x, mid, x+24, mid)
		default:
			p.fill(vg.Rectangle{Min: vg.Point{X: x, Y: mid - 4}, Max: vg.Point{X: x + 10, Y: mid + 4}}, k.ink)
		}
		p.text(heavy(letters(plainText, k.ink)), x+start, y, name)
		x += w
	}
	return y
}
