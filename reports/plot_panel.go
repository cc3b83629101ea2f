package reports

import (
	"image/color"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// seam is by how much cells of a heat map overlap, so that no white shows between them.
const seam = vg.Length(0.5)

// panel is a plot in a drawing: a box with two scales.
type panel struct {
	box  vg.Rectangle
	x, y scale
}

func (a *panel) px(v float64) vg.Length { return a.box.Min.X + a.box.Size().X*vg.Length(a.x.at(v)) }
func (a *panel) py(v float64) vg.Length { return a.box.Min.Y + a.box.Size().Y*vg.Length(a.y.at(v)) }

// axisX draws grid lines, ticks and the name of the horizontal axis, its unit included.
func (p *pen) axisX(a *panel, n int, name string) {
	s := set(letters(smallText, grey), 0.5, 1)
	for _, t := range a.x.ticks(n) {
		x := a.px(t.value)
		p.line(stroke(faint, 0.5), x, a.box.Min.Y, x, a.box.Max.Y)
		if t.label != "" {
			p.line(stroke(grey, 0.5), x, a.box.Min.Y-3, x, a.box.Min.Y)
			p.text(s, x, a.box.Min.Y-4, t.label)
		}
	}
	p.text(set(letters(plainText, black), 0.5, 1), (a.box.Min.X+a.box.Max.X)/2, a.box.Min.Y-15, name)
}

// axisY draws those of the vertical axis.
func (p *pen) axisY(a *panel, n int, name string) { p.axisYAt(a, a.y.ticks(n), name) }

// axisYAt does so for given ticks.
func (p *pen) axisYAt(a *panel, ticks []tick, name string) {
	s := set(letters(smallText, grey), 1, 0.5)
	for _, t := range ticks {
		y := a.py(t.value)
		p.line(stroke(faint, 0.5), a.box.Min.X, y, a.box.Max.X, y)
		if t.label != "" {
			p.line(stroke(grey, 0.5), a.box.Min.X-3, y, a.box.Min.X, y)
			p.text(s, a.box.Min.X-5, y, t.label)
		}
	}
	p.upright(a, name)
}

// upright writes the name of a vertical axis.
func (p *pen) upright(a *panel, name string) {
	s := set(letters(plainText, black), 0.5, 0)
	s.Rotation = 1.5707963267948966
	p.text(s, a.box.Min.X-30, (a.box.Min.Y+a.box.Max.Y)/2, name)
}

func (p *pen) frame(a *panel) { p.outline(a.box, stroke(grey, 0.75)) }

// heading is the line above a panel.
func (p *pen) heading(a *panel, t string) {
	s := heavy(letters(plainText, black))
	p.text(s, a.box.Min.X, a.box.Max.Y+4, clipText(t, a.box.Size().X, s))
}

// curve draws a line through points; those that are no numbers break it.
func (p *pen) curve(a *panel, xs, ys []float64, s draw.LineStyle) {
	var line []vg.Point
	flush := func() {
		if len(line) > 1 {
			p.StrokeLines(s, line)
		}
		line = nil
	}
	for i := range xs {
		if !known(xs[i], ys[i]) {
			flush()
			continue
		}
		line = append(line, vg.Point{X: a.px(xs[i]), Y: a.py(ys[i])})
	}
	flush()
}

// message is what a drawing says instead of drawing.
func (p *pen) message(area vg.Rectangle, t string) {
	p.outline(area, stroke(faint, 1))
	s := letters(titleText, grey)
	inner := vg.Rectangle{Min: vg.Point{X: area.Min.X + 40, Y: area.Min.Y}, Max: vg.Point{X: area.Max.X - 40, Y: area.Max.Y}}
	p.paragraph(t, inner, (area.Min.Y+area.Max.Y)/2+30, s)
}

// swatches is the key of a sequence of colours: a bar with values at its ends and between.
func (p *pen) swatches(box vg.Rectangle, values []string, ink func(share float64) color.NRGBA, name string) {
	const steps = 64
	step := box.Size().Y / steps
	for i := range steps {
		y := box.Min.Y + step*vg.Length(i)
		p.fill(vg.Rectangle{Min: vg.Point{X: box.Min.X, Y: y}, Max: vg.Point{X: box.Max.X, Y: min(y+step+seam, box.Max.Y)}}, ink((float64(i)+0.5)/steps))
	}
	s := set(letters(smallText, grey), 0, 0.5)
	for i, v := range values {
		p.text(s, box.Max.X+4, box.Min.Y+box.Size().Y*vg.Length(i)/vg.Length(len(values)-1), v)
	}
	p.text(set(letters(smallText, black), 0, 0), box.Min.X, box.Max.Y+5, name)
}
