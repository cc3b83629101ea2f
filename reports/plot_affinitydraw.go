package reports

import (
	"strconv"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// affinityDrawing draws TTFT by affinity bucket: a panel a band of lengths, in it a box a bucket and policy, the share of
// the cost above and the counts below.
func affinityDrawing(s *AffinitySeries) *drawing {
	if !s.known() {
		return &drawing{title: "Does affinity pay? Not known on " + s.Trace, body: func(p *pen, area vg.Rectangle) {
			p.message(area, "No completed request has prefix identity, so nobody can tell which prompts could have hit. "+
				"Log the hashes of prompt blocks to see this picture; the README lists formats that carry them.")
		}}
	}
	n := vg.Length(len(s.Policies))
	rows := vg.Length((len(s.Bands) + 1) / 2)
	return &drawing{title: s.answer(), notes: s.notes(), keys: boxKeys(s.Policies),
		width:  max(pageWidth, 200+10*(6+25*n)),
		height: 90 + rows*(230+10*n+s.noteRoom()),
		body:   func(p *pen, area vg.Rectangle) { affinityPanels(p, area, s) }}
}

func affinityPanels(p *pen, area vg.Rectangle, s *AffinitySeries) {
	cols := min(len(s.Bands), 2)
	rows := (len(s.Bands) + cols - 1) / cols
	y := s.ttftScale()
	for b := range s.Bands {
		cell := tile(area, rows, cols, b/cols, b%cols)
		d := affinityPanel{pen: p, s: s, band: b}
		d.below, d.above = vg.Length(17+9*len(s.Policies)), 62+s.noteRoom()
		d.box = vg.Rectangle{Min: vg.Point{X: cell.Min.X + 70, Y: cell.Min.Y + d.below}, Max: vg.Point{X: cell.Max.X, Y: cell.Max.Y - d.above}}
		d.x, d.y = linear(0, float64(unknownBucket)), y
		d.draw()
	}
}

// tile is the place of a row and column in an area.
func tile(area vg.Rectangle, rows, cols, row, col int) vg.Rectangle {
	const gap = 12
	w, h := (area.Size().X-gap*vg.Length(cols-1))/vg.Length(cols), (area.Size().Y-gap*vg.Length(rows-1))/vg.Length(rows)
	x, top := area.Min.X+(w+gap)*vg.Length(col), area.Max.Y-(h+gap)*vg.Length(row)
	return vg.Rectangle{Min: vg.Point{X: x, Y: top - h}, Max: vg.Point{X: x + w, Y: top}}
}

// ttftScale spans what is drawn in any panel, so that panels compare.
func (s *AffinitySeries) ttftScale() scale {
	var all []float64
	for _, c := range s.Cells {
		all = append(all, c.P5, c.P95)
	}
	return logarithmic(all...).airy(0.08) // for the labels at the ends
}

// affinityPanel is one band being drawn.
type affinityPanel struct {
	*pen
	panel
	s     *AffinitySeries
	band  int
	below vg.Length // room under the box, for the counts
	above vg.Length // room over it, for costs and heading
}

func (d *affinityPanel) draw() {
	s := set(heavy(letters(plainText, black)), 0, 1)
	d.text(s, d.box.Min.X-65, d.box.Max.Y+d.above, clipText(d.s.name(d.band), d.box.Size().X+65, s))
	d.axisY(&d.panel, 9, "TTFT (s)")
	names := bucketOrder()
	for b := range unknownBucket {
		left := d.px(float64(b))
		if b > 0 {
			d.line(stroke(faint, 0.75), left, d.box.Min.Y-d.below, left, d.box.Max.Y+costHeight+18)
		}
		d.text(set(letters(plainText, black), 0.5, 1), d.px(float64(b)+0.5), d.box.Min.Y-3, bucketLabel(names[b]))
		for p := range d.s.Policies {
			d.column(d.s.cell(d.band, p, b))
		}
	}
	d.frame(&d.panel)
	d.costAxis()
	d.counts()
}

// bucketLabel is a bucket in a customer's words: shares of the prompt.
func bucketLabel(name string) string {
	switch name {
	case "(0,0.25]":
		return "hit to 25 %"
	case "(0.25,0.75]":
		return "25 to 75 %"
	case "(0.75,1)":
		return "over 75 %"
	case "full":
		return "all that could"
	}
	return name
}

// slot is where a policy's box stands in its bucket.
func (d *affinityPanel) slot(c *AffinityCell) (x, width vg.Length) {
	bucket := d.box.Size().X / vg.Length(unknownBucket)
	width = (bucket - 6) / vg.Length(len(d.s.Policies))
	return d.px(float64(c.Bucket)) + 3 + width*vg.Length(c.Policy), width
}

// column draws the box of a cell and its cost.
func (d *affinityPanel) column(c *AffinityCell) {
	if c.N == 0 {
		return
	}
	x, width := d.slot(c)
	ink := categoryColor(c.Policy)
	mid, half := x+width/2, min(width*0.3, 9)
	d.line(stroke(ink, 1), mid, d.py(c.P5), mid, d.py(c.P95))
	box := vg.Rectangle{Min: vg.Point{X: mid - half, Y: d.py(c.P25)}, Max: vg.Point{X: mid + half, Y: d.py(c.P75)}}
	fill := lighter(ink, 0.6)
	if c.N < fewSamples {
		fill = white
	}
	d.fill(box, fill)
	d.outline(box, draw.LineStyle{Color: ink, Width: 1})
	d.line(stroke(ink, 2), mid-half, d.py(c.P50), mid+half, d.py(c.P50))
	d.quantileLabels(c, mid)
	d.cost(c, x, width)
}

// quantileLabels writes p50 below the whisker and p95 above it.
func (d *affinityPanel) quantileLabels(c *AffinityCell, mid vg.Length) {
	s := letters(smallText, categoryColor(c.Policy))
	p50, p95 := tight(c.P50), tight(c.P95)
	if c.N < fewSamples {
		p50, p95 = "("+p50+")", "("+p95+")"
	}
	d.text(set(s, 0.5, 0), mid, d.py(c.P95)+2, p95)
	d.text(set(heavy(s), 0.5, 1), mid, d.py(c.P5)-1, p50)
}

// tight prints seconds with two digits, for a label in a picture.
func tight(v float64) string {
	if !known(v) {
		return "-"
	}
	if v >= 9.95 || v == 0 {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return strconv.FormatFloat(v, 'g', 2, 64)
}

// costHeight is the height of a bar that stands for the whole cost.
const costHeight = 24

func (d *affinityPanel) cost(c *AffinityCell, x, width vg.Length) {
	if !known(c.CostShare) {
		return
	}
	y := d.box.Max.Y + 6
	bar := vg.Rectangle{Min: vg.Point{X: x + 1, Y: y}, Max: vg.Point{X: x + width - 1, Y: y + costHeight*vg.Length(c.CostShare)}}
	ink, label := categoryColor(c.Policy), percent(c.CostShare)
	if d.s.roughCost(c) {
		d.outline(bar, draw.LineStyle{Color: ink, Width: 0.75})
		label = "(" + label + ")"
	} else {
		d.fill(bar, lighter(ink, 0.3))
	}
	d.text(set(letters(smallText, ink), 0.5, 0), x+width/2, bar.Max.Y+2, label)
}

// roughCost says whether a cost rests on few requests: of its bucket, or of the warm ones that it is measured from.
func (s *AffinitySeries) roughCost(c *AffinityCell) bool {
	return c.N < fewSamples || s.contrast(c.Band, c.Policy).WarmN < fewSamples
}

func (d *affinityPanel) costAxis() {
	s := set(letters(smallText, black), 1, 0)
	y := d.box.Max.Y + 6
	d.line(stroke(grey, 0.5), d.box.Min.X, y, d.box.Max.X, y)
	d.text(s, d.box.Min.X-5, y+9, "share of")
	d.text(s, d.box.Min.X-5, y, "the cost")
	y += costHeight + smallText + 4 // over the bars and their labels
	for p, name := range d.s.Policies {
		if why := d.s.noCost(d.band, p); why != "" {
			note := letters(smallText, categoryColor(p))
			d.text(note, d.box.Min.X+4, y, clipText(name+": "+why, d.box.Size().X, note))
			y += noteHeight
		}
	}
}

// noteHeight is that of a line about a policy without bars.
const noteHeight = 9

// noteRoom is the height that the notes of the band with the most of them take.
func (s *AffinitySeries) noteRoom() vg.Length {
	most := 0
	for b := range s.Bands {
		n := 0
		for p := range s.Policies {
			if s.noCost(b, p) != "" {
				n++
			}
		}
		most = max(most, n)
	}
	return vg.Length(noteHeight * most)
}

// noCost says why a policy has no bars in a band, "" if it has some or no requests.
func (s *AffinitySeries) noCost(band, policy int) string {
	c := s.cell(band, policy, 0)
	switch {
	case known(c.CostShare) || s.total(band, policy) == 0:
		return ""
	case s.contrast(band, policy).WarmN == 0:
		return "no warm requests to compare with"
	}
	return "no clear cost"
}

// total is how many requests of a policy are in a band.
func (s *AffinitySeries) total(band, policy int) int {
	n := 0
	for b := range unknownBucket {
		n += s.cell(band, policy, b).N
	}
	return n
}

// counts writes n and share of every bucket, a line a policy.
func (d *affinityPanel) counts() {
	for p, name := range d.s.Policies {
		s := letters(smallText, categoryColor(p))
		y := d.box.Min.Y - 3 - plainText*1.3 - vg.Length(9*p)
		d.text(set(s, 1, 1), d.box.Min.X-5, y, clipText(name, 64, s))
		for b := range unknownBucket {
			c := d.s.cell(d.band, p, b)
			text := group(int64(c.N)) + ", " + percent(c.Share)
			if c.N == 0 {
				text = "none"
			}
			d.text(set(s, 0.5, 1), d.px(float64(b)+0.5), y, text)
		}
	}
}
