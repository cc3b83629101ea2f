package reports

import (
	"fmt"
	"image/color"
	"math"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// loadDrawing draws a column a policy: requests in flight by replica and time, busy share, and hit ratio, on one axis of
// time.
func loadDrawing(s *LoadSeries) *drawing {
	most := s.most()
	if most == 0 {
		return &drawing{title: "No load to show on " + s.Trace, body: func(p *pen, area vg.Rectangle) {
			p.message(area, "No request was dispatched to a replica under any policy.")
		}}
	}
	n := vg.Length(len(s.Runs))
	return &drawing{title: s.answer(), width: max(pageWidth, 130+270*n), height: pageHeight + 60,
		notes: []string{fmt.Sprintf("Windows of %s. In flight: dispatched and not finished, mean. Busy: share of the window with anything in flight. "+
			"Hit ratio: prompt tokens served from the cache, by dispatch. Bands: from the lowest to the highest replica; lines: all of them.", duration(s.Window))},
		body: func(p *pen, area vg.Rectangle) {
			bar := vg.Rectangle{Min: vg.Point{X: area.Max.X - 36, Y: area.Max.Y - 190}, Max: vg.Point{X: area.Max.X - 26, Y: area.Max.Y - 40}}
			area.Max.X -= 64
			for i := range s.Runs {
				s.column(p, tile(area, 1, len(s.Runs), 0, i), i, most)
			}
			p.swatches(bar, []string{"0", tight(most / 2), tight(most)}, sequence, "in flight")
		}}
}

// most is the largest mean number of requests in flight at any replica, in any window of any run.
func (s *LoadSeries) most() float64 {
	most := 0.0
	for _, r := range s.Runs {
		for _, row := range r.InFlight {
			for _, v := range row {
				most = math.Max(most, v)
			}
		}
	}
	return most
}

// mostHit is the top of the axis of hit ratios: 0.1, 0.2, 0.5 or 1.
func (s *LoadSeries) mostHit() float64 {
	most := 0.0
	for _, r := range s.Runs {
		for _, row := range r.Hit {
			for _, v := range row {
				if known(v) {
					most = math.Max(most, v)
				}
			}
		}
	}
	for _, top := range []float64{0.1, 0.2, 0.5} {
		if most <= top {
			return top
		}
	}
	return 1
}

// spread is how uneven the replicas' requests in flight are: their maximum over their mean, averaged over the windows by
// what is in flight.
func (r *LoadRun) spread() float64 {
	most, all := 0.0, 0.0
	for k := range r.HitAll {
		m := 0.0
		for i := range r.InFlight {
			m = math.Max(m, r.InFlight[i][k])
			all += r.InFlight[i][k]
		}
		most += m
	}
	return most * float64(len(r.InFlight)) / all
}

// answer says how even the load is.
func (s *LoadSeries) answer() string {
	var parts []string
	for i := range s.Runs {
		parts = append(parts, s.Runs[i].Policy+" "+ratio(s.Runs[i].spread()))
	}
	return "Requests in flight on the fullest replica over the mean replica: " + strings.Join(parts, ", ")
}

// column draws one policy.
func (s *LoadSeries) column(p *pen, cell vg.Rectangle, run int, most float64) {
	r := &s.Runs[run]
	box := inTile(cell)
	h := box.Size().Y
	time := linear(0, s.Window*float64(len(r.HitAll)))
	heat := &panel{vg.Rectangle{Min: vg.Point{X: box.Min.X, Y: box.Min.Y + h*0.5}, Max: box.Max}, time, linear(0, float64(len(r.Replicas)))}
	busy := &panel{vg.Rectangle{Min: vg.Point{X: box.Min.X, Y: box.Min.Y + h*0.26}, Max: vg.Point{X: box.Max.X, Y: box.Min.Y + h*0.47}}, time, linear(0, 1)}
	hit := &panel{vg.Rectangle{Min: box.Min, Max: vg.Point{X: box.Max.X, Y: box.Min.Y + h*0.23}}, time, linear(0, s.mostHit())}
	p.heading(heat, r.Policy)
	s.heat(p, heat, r, most)
	ink := categoryColor(run)
	p.axisTime(busy, "")
	p.axisYAt(busy, shareTicks(0, 0.5, 1), "busy")
	s.band(p, busy, r.Busy, means(r.Busy), ink)
	p.axisTime(hit, "time since the first arrival, s")
	p.axisYAt(hit, shareTicks(0, hit.y.max/2, hit.y.max), "hit ratio")
	s.band(p, hit, r.Hit, r.HitAll, ink)
	if !anyKnown(r.HitAll) {
		p.text(set(letters(plainText, grey), 0.5, 0.5), (hit.box.Min.X+hit.box.Max.X)/2, (hit.box.Min.Y+hit.box.Max.Y)/2, "unknown: no prefix identity")
	}
}

// axisTime draws the axis of time; without a name it has no labels, because the panel below has them.
func (p *pen) axisTime(a *panel, name string) {
	if name != "" {
		p.axisX(a, 6, name)
		return
	}
	for _, t := range a.x.ticks(6) {
		x := a.px(t.value)
		p.line(stroke(faint, 0.5), x, a.box.Min.Y, x, a.box.Max.Y)
	}
}

// heat draws a cell a replica and window; the first replica is on top.
func (s *LoadSeries) heat(p *pen, a *panel, r *LoadRun, most float64) {
	n := len(r.Replicas)
	for i, row := range r.InFlight {
		for k, v := range row {
			low, high := a.px(s.Window*float64(k)), a.px(s.Window*float64(k+1))
			p.fill(vg.Rectangle{Min: vg.Point{X: low, Y: a.py(float64(n - i - 1))}, Max: vg.Point{X: min(high+seam, a.box.Max.X), Y: min(a.py(float64(n-i))+seam, a.box.Max.Y)}}, sequence(v/most))
		}
	}
	every := (n + 15) / 16
	for i, name := range r.Replicas {
		if i%every == 0 {
			t := letters(smallText, grey)
			p.text(set(t, 1, 0.5), a.box.Min.X-5, a.py(float64(n-i)-0.5), clipText(name, 24, t))
		}
	}
	p.upright(a, "replica")
	p.frame(a)
}

// band draws the range of the replicas and a line over it.
func (s *LoadSeries) band(p *pen, a *panel, rows [][]float64, line []float64, ink color.NRGBA) {
	xs := make([]float64, len(line))
	for k := range line {
		xs[k] = s.Window * (float64(k) + 0.5)
		low, high := math.Inf(1), math.Inf(-1)
		for _, row := range rows {
			if known(row[k]) {
				low, high = math.Min(low, row[k]), math.Max(high, row[k])
			}
		}
		if low <= high {
			x0, x1 := a.px(s.Window*float64(k)), a.px(s.Window*float64(k+1))
			p.fill(vg.Rectangle{Min: vg.Point{X: x0, Y: a.py(low)}, Max: vg.Point{X: x1, Y: a.py(high) + 0.5}}, lighter(ink, 0.7))
		}
	}
	p.curve(a, xs, line, draw.LineStyle{Color: ink, Width: 1.4})
	p.frame(a)
}

// means returns the mean over the rows, by window.
func means(rows [][]float64) []float64 {
	var out []float64
	for k := range rows[0] {
		s := 0.0
		for _, row := range rows {
			s += row[k]
		}
		out = append(out, s/float64(len(rows)))
	}
	return out
}

func anyKnown(values []float64) bool {
	for _, v := range values {
		if known(v) {
			return true
		}
	}
	return false
}
