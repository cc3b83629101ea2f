package reports

import (
	"math"
	"strconv"
)

// scale maps values to 0..1, linearly or by their logarithm. What is outside is drawn at the nearest end, and so is what a
// logarithmic scale does not have.
type scale struct {
	min, max float64
	log      bool
}

// linear is a scale from min to max. If they are equal or no numbers it is widened to one that can be drawn.
func linear(min, max float64) scale {
	if !known(min, max) {
		min, max = 0, 1
	}
	if max <= min {
		max = min + 1
	}
	return scale{min: min, max: max}
}

// logarithmic is a scale over the positive ones of the values, with some air; 0.1 to 10 if there are none.
func logarithmic(values ...float64) scale {
	s := scale{math.Inf(1), 0, true}
	for _, v := range values {
		if known(v) && v > 0 {
			s.min, s.max = math.Min(s.min, v), math.Max(s.max, v)
		}
	}
	if s.max == 0 {
		s.min, s.max = 0.1, 10
	}
	if s.max < 2*s.min {
		s.min, s.max = s.min/2, s.max*2
	}
	return s.airy(0.04)
}

// decades is how many powers of ten a logarithmic scale spans. The ratio of its ends could be more than a float64 holds.
func (s scale) decades() float64 { return math.Log10(s.max) - math.Log10(s.min) }

// airy extends a logarithmic scale at both ends by a share of it.
func (s scale) airy(share float64) scale {
	air := math.Pow(10, share*s.decades())
	return scale{math.Max(s.min/air, math.SmallestNonzeroFloat64), math.Min(s.max*air, math.MaxFloat64), true}
}

// at returns the place of v from 0 to 1; 0 if v is no number.
func (s scale) at(v float64) float64 {
	if math.IsNaN(v) || s.log && v <= 0 {
		return 0
	}
	at := (v - s.min) / (s.max - s.min)
	if s.log {
		at = (math.Log10(v) - math.Log10(s.min)) / s.decades()
	}
	return math.Min(math.Max(at, 0), 1)
}

// tick is a place on an axis. Minor ones have no label.
type tick struct {
	value float64
	label string
}

// ticks returns about n of them at 1, 2 and 5 times powers of ten.
func (s scale) ticks(n int) []tick {
	if s.log {
		return s.logTicks(n)
	}
	step := niceStep(s.max-s.min, n)
	var out []tick
	for i := math.Ceil(s.min/step - 1e-9); i*step <= s.max+step*1e-9; i++ {
		v := i*step + 0 // not -0
		out = append(out, tick{v, axisNumber(v)})
	}
	return out
}

// niceStep is 1, 2 or 5 times a power of ten, such that about n of them make up span.
func niceStep(span float64, n int) float64 {
	power := math.Pow(10, math.Floor(math.Log10(span/float64(n))))
	for _, m := range []float64{1, 2, 5} {
		if m*power*float64(n) >= span*0.999 {
			return m * power
		}
	}
	return 10 * power
}

// logTicks labels 1, 2 and 5 of each decade if there is room for that, else every decade, or every so many.
func (s scale) logTicks(n int) []tick {
	decades := s.decades()
	every := max(1, int(math.Ceil(decades/float64(n))))
	all := decades*3 <= float64(n)+1
	var out []tick
	for d := int(math.Floor(math.Log10(s.min))); d <= int(math.Ceil(math.Log10(s.max))); d++ {
		for _, m := range []float64{1, 2, 5} {
			v := decimal(m, d)
			if v < s.min || v > s.max || every > 1 && (m > 1 || d%every != 0) {
				continue
			}
			t := tick{value: v}
			if all || m == 1 && d%every == 0 {
				t.label = axisNumber(v)
			}
			out = append(out, t)
		}
	}
	return out
}

// decimal is m times ten to the d, rounded as the literal is.
func decimal(m float64, d int) float64 {
	v, err := strconv.ParseFloat(strconv.Itoa(int(m))+"e"+strconv.Itoa(d), 64)
	if err != nil {
		return math.NaN()
	}
	return v
}

// axisNumber prints a number of an axis: "0.5", "20", "10k", "2M".
func axisNumber(v float64) string {
	a := math.Abs(v)
	for _, u := range []struct {
		least float64
		name  string
	}{{1e9, "G"}, {1e6, "M"}, {1e4, "k"}} {
		if a < u.least {
			continue
		}
		if u.name == "k" {
			return trim(v/1e3, 1) + "k"
		}
		return trim(v/u.least, 1) + u.name
	}
	if a > 0 && a < 1e-4 {
		return strconv.FormatFloat(v, 'g', 2, 64)
	}
	return trim(v, 5)
}

// trim prints v with at most so many decimals, and no zeros at the end.
func trim(v float64, decimals int) string {
	p := math.Pow(10, float64(decimals))
	return strconv.FormatFloat(math.Round(v*p)/p, 'f', -1, 64)
}
