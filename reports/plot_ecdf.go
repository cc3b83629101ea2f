package reports

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// ECDFSeries is the share of completed requests with a TTFT of at most a time, by policy.
type ECDFSeries struct {
	Trace  string
	Curves []ECDF
}

// ECDF is a policy's curve: steps at rising times, seconds, each with the share up to and with it. The last share is 1.
// Among many requests some steps are left out, evenly in the body and evenly by logarithm towards the largest.
type ECDF struct {
	Policy string
	N      int
	TTFT   []float64
	Share  []float64
	sorted []float64
}

// NewECDFSeries computes the numbers.
func NewECDFSeries(g *Gallery) *ECDFSeries {
	s := &ECDFSeries{Trace: g.Trace}
	for i := range g.Runs {
		s.Curves = append(s.Curves, ecdf(g.Runs[i].Policy, g.Runs[i].ttfts()))
	}
	return s
}

func ecdf(policy string, values []float64) ECDF {
	slices.Sort(values)
	e := ECDF{Policy: policy, N: len(values), sorted: values}
	for _, rank := range ranks(len(values)) {
		v := values[rank-1]
		share := float64(rank) / float64(e.N)
		if n := len(e.TTFT); n > 0 && e.TTFT[n-1] == v { // equal times are one step
			e.Share[n-1] = share
			continue
		}
		e.TTFT, e.Share = append(e.TTFT, v), append(e.Share, share)
	}
	return e
}

// ranks returns those, from 1 to n, that make up a curve: at most some 500, the last is n.
func ranks(n int) []int {
	const even, tail = 400, 30 // tail steps for each power of ten
	var out []int
	for i := 1; i <= min(n, even); i++ {
		out = append(out, int(math.Ceil(float64(i)/float64(min(n, even))*float64(n))))
	}
	for i := 0; ; i++ {
		above := int(math.Pow(10, float64(i)/tail)) - 1
		if above > n/10 || n == 0 {
			break
		}
		out = append(out, n-above)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// CSV writes a row a step.
func (s *ECDFSeries) CSV(w io.Writer) error {
	out := csv.NewWriter(w)
	out.Write([]string{"policy", "ttft_s", "share_up_to", "share_above"}) // the writer keeps the first error
	for _, c := range s.Curves {
		for i, v := range c.TTFT {
			out.Write([]string{c.Policy, csvFloat(v), csvFloat(round9(c.Share[i])), csvFloat(round9(1 - c.Share[i]))})
		}
	}
	out.Flush()
	return out.Error()
}

// answer compares the 90th percentiles.
func (s *ECDFSeries) answer() string {
	var parts []string
	for _, c := range s.Curves {
		if c.N > 0 {
			parts = append(parts, fmt.Sprintf("%s within %s", c.Policy, duration(quantileOf(c.sorted, 0.9))))
		}
	}
	return "90 % of requests have their first token: " + strings.Join(parts, ", ")
}

// notes give the other quantiles.
func (s *ECDFSeries) notes() []string {
	var parts []string
	for _, c := range s.Curves {
		if c.N > 0 {
			parts = append(parts, fmt.Sprintf("%s: %s, p50 %s, p95 %s, p99 %s.", c.Policy, count(c.N, "request"),
				duration(quantileOf(c.sorted, 0.5)), duration(quantileOf(c.sorted, 0.95)), duration(quantileOf(c.sorted, 0.99))))
		}
	}
	return []string{strings.Join(parts, " ")}
}

// ecdfDrawing draws the curves and, beside them, their tails.
func ecdfDrawing(s *ECDFSeries) *drawing {
	var names []string
	n := 0
	for _, c := range s.Curves {
		names, n = append(names, c.Policy), n+c.N
	}
	if n == 0 {
		return &drawing{title: "No TTFT to show on " + s.Trace, body: func(p *pen, area vg.Rectangle) {
			p.message(area, "No request was completed under any policy.")
		}}
	}
	return &drawing{title: s.answer(), notes: s.notes(), keys: policyKeys(names), body: func(p *pen, area vg.Rectangle) {
		s.body(p, tile(area, 1, 2, 0, 0))
		s.tail(p, tile(area, 1, 2, 0, 1))
	}}
}

func (s *ECDFSeries) times() scale {
	var all []float64
	for _, c := range s.Curves {
		if c.N > 0 {
			all = append(all, c.TTFT[0], c.TTFT[len(c.TTFT)-1])
		}
	}
	return logarithmic(all...)
}

// inTile leaves room for the names of axes and the heading.
func inTile(r vg.Rectangle) vg.Rectangle {
	return vg.Rectangle{Min: vg.Point{X: r.Min.X + 44, Y: r.Min.Y + 32}, Max: vg.Point{X: r.Max.X - 6, Y: r.Max.Y - 18}}
}

// body is the share up to a time, with the levels that targets are set at.
func (s *ECDFSeries) body(p *pen, cell vg.Rectangle) {
	a := &panel{inTile(cell), s.times(), linear(0, 1)}
	p.heading(a, "share of requests with a TTFT of at most ...")
	p.axisX(a, 9, "TTFT (s)")
	p.axisYAt(a, shareTicks(0, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 1), "share of requests")
	for i, c := range s.Curves {
		xs, ys := steps(c.TTFT, c.Share, 0)
		p.curve(a, xs, ys, draw.LineStyle{Color: categoryColor(i), Width: 1.6, Dashes: categoryDash(i)})
	}
	s.names(p, a)
	p.frame(a)
}

// names writes every policy beside its curve, at a level of its own: the left curves to their left.
func (s *ECDFSeries) names(p *pen, a *panel) {
	var order []int
	for i, c := range s.Curves {
		if c.N > 0 {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(i, j int) int { return compareMedian(&s.Curves[i], &s.Curves[j]) })
	for k, i := range order {
		c := &s.Curves[i]
		level := 0.8 - 0.6*(float64(k)+0.5)/float64(len(order))
		x, side, off := a.px(quantileOf(c.sorted, level)), 0.0, vg.Length(5)
		if k < len(order)/2 {
			side, off = 1, -5
		}
		t := letters(plainText, categoryColor(i))
		p.label(set(heavy(t), side, 0.5), x+off, a.py(level), c.Policy)
	}
}

func compareMedian(a, b *ECDF) int {
	x, y := quantileOf(a.sorted, 0.5), quantileOf(b.sorted, 0.5)
	switch {
	case x < y:
		return -1
	case x > y:
		return 1
	}
	return 0
}

// tail is the share above a time; both axes are logarithmic, so that the slowest one in a thousand shows.
func (s *ECDFSeries) tail(p *pen, cell vg.Rectangle) {
	least := 1.0
	for _, c := range s.Curves {
		if c.N > 0 {
			least = math.Min(least, 1/float64(c.N))
		}
	}
	a := &panel{inTile(cell), s.times(), scale{math.Min(least, 0.1), 1, true}}
	p.heading(a, "share of requests with a TTFT above ...")
	p.axisX(a, 9, "TTFT (s)")
	var levels []float64
	for v := 1.0; v >= a.y.min*0.999; v /= 10 {
		levels = append(levels, v, v/2, v/5)
	}
	levels = slices.DeleteFunc(levels, func(v float64) bool { return v < a.y.min })
	p.axisYAt(a, shareTicks(levels...), "share of requests")
	for i, c := range s.Curves {
		above := make([]float64, len(c.Share))
		for k, v := range c.Share {
			above[k] = 1 - v
		}
		if n := len(above); n > 0 {
			above[n-1] = math.NaN() // nothing is above the largest
		}
		xs, ys := steps(c.TTFT, above, 1)
		p.curve(a, xs, ys, draw.LineStyle{Color: categoryColor(i), Width: 1.6, Dashes: categoryDash(i)})
	}
	p.frame(a)
}

func shareTicks(levels ...float64) []tick {
	var out []tick
	for _, v := range levels {
		out = append(out, tick{v, trim(100*v, 4) + " %"})
	}
	return out
}

// steps turns a curve into a stair that starts at the level before.
func steps(xs, ys []float64, before float64) (sx, sy []float64) {
	for i, x := range xs {
		sx, sy = append(sx, x, x), append(sy, before, ys[i])
		before = ys[i]
	}
	return sx, sy
}
