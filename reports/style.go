package reports

import (
	"image/color"
	"strconv"
	"sync"

	"golang.org/x/image/font"

	gonumfont "gonum.org/v1/plot/font"
	"gonum.org/v1/plot/font/liberation"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Sizes of a picture in points; 3/4 of a point is a pixel of the PNG.
const (
	pageWidth  = vg.Length(900)
	pageHeight = vg.Length(525)
	dotsPerIn  = 96
	margin     = vg.Length(10)
)

// Sizes of text in points.
const (
	smallText = vg.Length(7.5)
	plainText = vg.Length(9)
	titleText = vg.Length(13)
)

// Inks that are no category.
var (
	black = rgb(0x1a1a1a)
	grey  = rgb(0x5f5f5f)
	faint = rgb(0xe2e2e2)
	pale  = rgb(0xf4f4f4)
	white = rgb(0xffffff)
)

// categories are the colours of Okabe and Ito that are told apart with every kind of colour vision, without black and
// without yellow, which is unreadable as text on white. https://jfly.uni-koeln.de/color/
var categories = []color.NRGBA{
	rgb(0x0072b2), rgb(0xd55e00), rgb(0x009e73), rgb(0xcc79a7), rgb(0xe69f00), rgb(0x56b4e9),
}

// dashes double the colours.
var dashes = [][]vg.Length{nil, {6, 2}, {2, 2}, {8, 2, 2, 2}, {1, 2}, {10, 3}}

func categoryColor(i int) color.NRGBA                  { return categories[i%len(categories)] }
func categoryDash(i int) []vg.Length                   { return dashes[i%len(dashes)] }
func stroke(c color.Color, w vg.Length) draw.LineStyle { return draw.LineStyle{Color: c, Width: w} }

func rgb(v uint32) color.NRGBA { return color.NRGBA{uint8(v >> 16), uint8(v >> 8), uint8(v), 0xff} }

// lighter mixes a colour with white; 0 leaves it, 1 is white.
func lighter(c color.NRGBA, by float64) color.NRGBA {
	mix := func(v uint8) uint8 { return v + uint8(float64(255-v)*by) }
	return color.NRGBA{mix(c.R), mix(c.G), mix(c.B), 0xff}
}

// sequence is the colour of a share from 0 to 1: viridis. Outside it is the nearest end.
func sequence(share float64) color.NRGBA {
	i := int(min(max(share, 0), 1) * 255)
	v, err := strconv.ParseUint(viridis[6*i:6*i+6], 16, 32)
	if err != nil {
		panic("reports: viridis holds " + viridis[6*i:6*i+6])
	}
	return rgb(uint32(v))
}

// readableOn is black or white, whichever stands out on c.
func readableOn(c color.NRGBA) color.NRGBA {
	if 299*int(c.R)+587*int(c.G)+114*int(c.B) > 128_000 {
		return black
	}
	return white
}

// fonts are read once, when the first picture is drawn.
var fonts = sync.OnceValue(func() *gonumfont.Cache { return gonumfont.NewCache(liberation.Collection()) })

// letters is a style of text, its left end on the base line.
func letters(size vg.Length, c color.Color) text.Style {
	return text.Style{Color: c, Font: gonumfont.Font{Typeface: "Liberation", Variant: "Sans", Size: size},
		Handler: text.Plain{Fonts: fonts()}}
}

func heavy(s text.Style) text.Style {
	s.Font.Weight = font.WeightBold
	return s
}

// set returns the style with the point that the text is drawn at: x 0 is its left end, 0.5 its middle, 1 its right end;
// y likewise from the bottom.
func set(s text.Style, x, y float64) text.Style {
	s.XAlign, s.YAlign = text.XAlignment(-x), text.YAlignment(-y)
	return s
}
