package calibrate

import (
	"math"
)

// vague is the half of an interval, as a share of the coefficient or of where it started if the registry says so, from
// which the log does not determine it.
const vague = 1

// alike is how much the variance of a coefficient may grow because others do much the same, before it is kept if there
// is something to keep it at.
const alike = 100

// settle takes over a fit. It returns false if a coefficient had to be kept and the fit is to be done again without it.
func (f *form) settle(x []float64, q *normal) (bool, error) {
	_, floor := f.starts(f.free())
	width, inflation := q.halfWidths(), q.inflation()
	for k, d := range q.step(x, floor, 0) { // how far chance in the schedules kept the fit from where it was going
		width[k] += math.Abs(d)
	}
	worst, known := vaguest{}, vaguest{}
	i := 0
	for k := range f.coefs {
		c := &f.coefs[k]
		if c.Kept != "" {
			c.Value, c.Low, c.High = c.start, math.NaN(), math.NaN()
			continue
		}
		half := float64(width[i] * c.start)
		c.Value = float64(x[i] * c.start)
		c.Low, c.High = max(0, c.Value-half), c.Value+half
		if c.floor > 0 && c.Value < float64(c.floor*1.001) { // the fit would go where no hardware can
			width[i] = math.Inf(1)
		}
		scale := x[i]
		if c.known {
			scale = max(scale, 1)
			known.see(c, width[i]/scale, inflation[i])
		}
		worst.see(c, width[i]/scale, inflation[i])
		i++
	}
	switch {
	case i == 0:
		return false, refuse("the log determines none of the coefficients: want %s, and latencies that follow from lengths and load", needLoad)
	case worst.share <= vague && known.inflation <= alike:
		return true, nil
	case known.c != nil && (known.share > vague || known.inflation > alike):
		known.c.Kept = "registry"
		if known.c.Name == overheadName {
			known.c.Kept = "setting"
		}
		return false, nil
	case worst.share <= vague:
		return true, nil
	}
	return false, refuse("the log does not determine %s: want %s, or give it by --fix %s=VALUE", worst.c.Name, worst.c.Needs, worst.c.Name)
}

// vaguest is the coefficient that a log tells least of.
type vaguest struct {
	c         *Coefficient
	share     float64 // half of its interval, over its scale
	inflation float64
}

// see takes the wider interval; of infinite ones, the earlier: the step, most of which others can stand in for.
func (v *vaguest) see(c *Coefficient, share, inflation float64) {
	if v.c == nil || share > v.share {
		v.c, v.share = c, share
	}
	v.inflation = max(v.inflation, inflation)
}

// keepLoad keeps what shows only where the number of decoding sequences varies.
func (f *form) keepLoad() error {
	for k := range f.coefs {
		c := &f.coefs[k]
		switch {
		case !c.ofLoad || c.Kept != "":
		case !c.known:
			return refuse("the number of decoding sequences hardly varies, so the log does not determine %s: want %s, or give it by --fix %s=VALUE", c.Name, c.Needs, c.Name)
		default:
			c.Kept = "registry"
		}
	}
	return nil
}
