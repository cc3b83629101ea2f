package reports

import (
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/seed-2cee110a/triage/sim/fidelity"
)

// marks double the colours of regimes.
var marks = []draw.GlyphDrawer{draw.CircleGlyph{}, draw.TriangleGlyph{}, draw.SquareGlyph{}, draw.CrossGlyph{}, draw.PlusGlyph{}, draw.RingGlyph{}}

func regimeMark(i int) draw.GlyphStyle {
	return draw.GlyphStyle{Color: categoryColor(i), Radius: 2.5, Shape: marks[i%len(marks)]}
}

// fidelityDrawing draws measured against simulated means, a panel a metric, both axes logarithmic and alike: the main regime
// on its own and, below, all of them.
func fidelityDrawing(s *FidelitySeries) *drawing {
	if len(s.Means) == 0 {
		return &drawing{title: "No mean to compare", body: func(p *pen, area vg.Rectangle) {
			p.message(area, "No stage mean of TTFT, TPOT or E2E was both measured and simulated.")
		}}
	}
	var keys []key
	for i, r := range s.Regimes {
		mark := regimeMark(i)
		keys = append(keys, key{name: r, ink: categoryColor(i), mark: &mark})
	}
	shown := [][]string{s.Regimes[:1]}
	if len(s.Regimes) > 1 {
		shown = append(shown, s.Regimes)
	}
	n := len(shown)
	return &drawing{title: s.answer(), notes: s.notes(), keys: keys, height: vg.Length(75 + 300*n), body: func(p *pen, area vg.Rectangle) {
		for k, regimes := range shown {
			for i, m := range fidelity.Metrics {
				s.panel(p, tile(area, n, len(fidelity.Metrics), k, i), m, regimes)
			}
		}
	}}
}

// panel draws a metric in some regimes, the first ones of all.
func (s *FidelitySeries) panel(p *pen, cell vg.Rectangle, metric string, regimes []string) {
	box := inTile(cell)
	side := min(box.Size().X, box.Size().Y)
	box.Max, box.Min.Y = vg.Point{X: box.Min.X + side, Y: box.Max.Y}, box.Max.Y-side
	var all []float64
	for _, r := range regimes {
		for _, x := range s.of(metric, r) {
			all = append(all, x.Measured, x.Simulated)
		}
	}
	both := logarithmic(all...)
	a := &panel{box, both, both}
	heading := s.heading(metric)
	if len(regimes) > 1 {
		heading = "all regimes, " + metricName(metric)
	}
	p.heading(a, heading)
	p.FillPolygon(bandInk, bandCorners(a, both))
	p.axisX(a, 9, "measured "+metricName(metric)+" (ms)")
	p.axisY(a, 9, "simulated "+metricName(metric)+" (ms)")
	p.line(stroke(grey, 0.75), a.px(both.min), a.py(both.min), a.px(both.max), a.py(both.max))
	for i := len(regimes) - 1; i >= 0; i-- { // the main one on top
		for _, x := range s.of(metric, regimes[i]) {
			p.DrawGlyph(regimeMark(i), vg.Point{X: a.px(x.Measured), Y: a.py(x.Simulated)})
		}
	}
	p.frame(a)
}

// bandCorners bound what is within the band around the diagonal of two equal scales.
func bandCorners(a *panel, s scale) []vg.Point {
	at := func(x, y float64) vg.Point { return vg.Point{X: a.px(x), Y: a.py(y)} }
	return []vg.Point{at(s.min, s.min), at(s.min, s.min*(1+band)), at(s.max/(1+band), s.max),
		at(s.max, s.max), at(s.max, s.max*(1-band)), at(s.min/(1-band), s.min)}
}

var bandInk = lighter(grey, 0.8)
