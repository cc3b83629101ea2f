package reports

import (
	"fmt"
	"image/color"
	"io"
	"math"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// RegretHeatmap draws how much is lost over the two knobs, in a format of PlotFormats.
func RegretHeatmap(w io.Writer, format string, r Regrets) error {
	return regretDrawing(&r).render(w, format)
}

// regretDrawing draws two heat maps of the same cells. Values of the knobs are labels, evenly apart, whatever their size.
func regretDrawing(r *Regrets) *drawing {
	if len(r.values()) == 0 {
		return &drawing{title: "Nothing to show of this search", body: func(p *pen, area vg.Rectangle) {
			p.message(area, "No point of the grid was replayed on every trace.")
		}}
	}
	h := vg.Length(150 + 34*max(4, len(r.Y.Values)))
	panels := r.panels()
	if r.Rest == "" {
		panels = panels[:1]
	}
	return &drawing{title: r.answer(), height: min(h, 900), width: max(pageWidth, vg.Length(2*(60+28*len(r.X.Values)))),
		notes: []string{r.explained() + " Up to 2 % is noise. Colours end at " + percent(r.most()) + "; -: not replayed."},
		body: func(p *pen, area vg.Rectangle) {
			bar := vg.Rectangle{Min: vg.Point{X: area.Max.X - 44, Y: area.Min.Y + 40}, Max: vg.Point{X: area.Max.X - 34, Y: area.Max.Y - 40}}
			area.Max.X -= 66
			for i, panel := range panels {
				r.draw(p, tile(area, 1, len(panels), 0, i), panel)
			}
			p.swatches(bar, []string{"0 %", percent(r.most() / 2), percent(r.most())}, regretInk, "regret")
		}}
}

// explained says what the numbers are. With several traces a point has a regret on each, and shown is the worst.
func (r *Regrets) explained() string {
	if r.Traces > 1 {
		return fmt.Sprintf("Regret: how much worse %s is, in percent: worst over %d traces, against each trace's own best of the grid.", r.Objective, r.Traces)
	}
	return "Regret: how much worse " + r.Objective + " is than the best of the grid, in percent."
}

// regretInk is bright for a small share of the largest regret shown.
func regretInk(share float64) color.NRGBA { return sequence(1 - share) }

// answer says what the winner is and what the defaults lose.
func (r *Regrets) answer() string {
	text := fmt.Sprintf("Best at %s=%s", r.X.Name, r.X.Values[r.WinnerX])
	if r.Y.Name != "" {
		text += fmt.Sprintf(", %s=%s", r.Y.Name, r.Y.Values[r.WinnerY])
	}
	good, all := 0, 0
	for _, row := range r.Best {
		for _, v := range row {
			if known(v) {
				all++
			}
			if v <= noise {
				good++
			}
		}
	}
	text += fmt.Sprintf("; within 2 %% of the best: %d of %s", good, count(all, "cell"))
	if known(r.Loss) {
		text += "; the defaults lose " + percent(math.Max(r.Loss, 0))
	}
	return text
}

func (r *Regrets) draw(p *pen, cell vg.Rectangle, panel regretPanel) {
	box := inTile(cell)
	box.Min.X += 16
	a := &grid{box, len(r.X.Values), len(r.Y.Values)}
	s := heavy(letters(plainText, black))
	p.text(s, box.Min.X, box.Max.Y+4, clipText(panel.heading, box.Size().X, s))
	most := r.most()
	for k, row := range panel.grid {
		for i, v := range row {
			p.regretCell(a.at(i, k), v, most)
		}
	}
	r.marks(p, a, panel)
	p.gridAxes(a, r.X, r.Y)
	p.outline(box, stroke(grey, 0.75))
}

// grid is a box cut into equal cells; the first row is at the bottom.
type grid struct {
	box        vg.Rectangle
	cols, rows int
}

func (g *grid) at(col, row int) vg.Rectangle {
	w, h := g.box.Size().X/vg.Length(g.cols), g.box.Size().Y/vg.Length(g.rows)
	from := vg.Point{X: g.box.Min.X + w*vg.Length(col), Y: g.box.Min.Y + h*vg.Length(row)}
	return vg.Rectangle{Min: from, Max: vg.Point{X: from.X + w, Y: from.Y + h}}
}

func middleOf(r vg.Rectangle) (x, y vg.Length) {
	return (r.Min.X + r.Max.X) / 2, (r.Min.Y + r.Max.Y) / 2
}

// regretCell draws a cell with its number, if there is room.
func (p *pen) regretCell(r vg.Rectangle, v, most float64) {
	ink, text := pale, "-"
	if known(v) {
		ink, text = regretInk(v/most), trim(100*v, 0)
		if v < 0.1 {
			text = trim(100*v, 1)
		}
	}
	p.fill(vg.Rectangle{Min: r.Min, Max: vg.Point{X: r.Max.X + seam, Y: r.Max.Y + seam}}, ink)
	s := set(letters(plainText, readableOn(ink)), 0.5, 0.5)
	if s.Width(text)+4 <= r.Size().X && plainText+2 <= r.Size().Y {
		x, y := middleOf(r)
		p.text(s, x, y, text)
	}
}

// marks outlines the winner and the defaults.
func (r *Regrets) marks(p *pen, a *grid, panel regretPanel) {
	mark := func(x, y int, name string, dash []vg.Length) {
		cell := a.at(x, y)
		inner := vg.Rectangle{Min: vg.Point{X: cell.Min.X + 2, Y: cell.Min.Y + 2}, Max: vg.Point{X: cell.Max.X - 2, Y: cell.Max.Y - 2}}
		p.outline(inner, stroke(white, 4))
		p.outline(inner, draw.LineStyle{Color: black, Width: 2, Dashes: dash})
		t := heavy(letters(smallText, black))
		w, mid := t.Width(name), (inner.Min.X+inner.Max.X)/2
		left := min(max(mid-w/2, a.box.Min.X+2), a.box.Max.X-w-2)
		p.label(t, left, inner.Min.Y+2, name)
	}
	if panel.marks && r.DefaultX >= 0 && !r.isWinner(r.DefaultX, r.DefaultY) {
		mark(r.DefaultX, r.DefaultY, "defaults", []vg.Length{4, 3})
	}
	name := "winner"
	if panel.marks && r.isDefault(r.WinnerX, r.WinnerY) {
		name = "winner, defaults"
		if !r.InSlice {
			name = "winner (and defaults)"
		}
	}
	mark(r.WinnerX, r.WinnerY, name, nil)
}

// gridAxes labels columns and rows with the values of the knobs, leaving out those that there is no room for.
func (p *pen) gridAxes(a *grid, x, y SweepKnob) {
	s := letters(smallText, grey)
	right := a.box.Min.X - 100
	for i, v := range x.Values {
		mid, _ := middleOf(a.at(i, 0))
		if w := s.Width(v); mid-w/2 > right+3 {
			p.text(set(s, 0.5, 1), mid, a.box.Min.Y-4, v)
			right = mid + w/2
		}
	}
	p.text(set(letters(plainText, black), 0.5, 1), (a.box.Min.X+a.box.Max.X)/2, a.box.Min.Y-15, x.Name)
	top := a.box.Min.Y - 100
	for k, v := range y.Values {
		_, mid := middleOf(a.at(0, k))
		if mid-smallText/2 > top+1 {
			p.text(set(s, 1, 0.5), a.box.Min.X-5, mid, clipText(v, 40, s))
			top = mid + smallText/2
		}
	}
	p.upright(&panel{box: vg.Rectangle{Min: vg.Point{X: a.box.Min.X - 18, Y: a.box.Min.Y}, Max: a.box.Max}}, y.Name)
}
