package traces

import "math"

// The functions of this file make random numbers in place of package math's, whose results differ in the last bit
// between machines: some have a version in assembler, and a compiler may fuse a product and a sum into one rounding
// (https://go.dev/ref/spec#Floating_point_operators). Results are cut to whole tokens and microseconds, so that such a
// bit seldom shows, but when it does the same seed makes another trace. Here each product is rounded by a conversion
// before it is added, and everything else is exact or correctly rounded: the same bits everywhere. Relative errors are
// below 1e-14.

// Ln 2 in two parts. The first ends in 11 zero bits or more: its product with an exponent is exact.
const (
	ln2Hi = 6.93147180369123816490e-01
	ln2Lo = 1.90821492927058770002e-10
)

// expSeries are 1/n!, the last first: enough for |x| up to ln(2)/2.
var expSeries = [...]float64{
	1.0 / 87178291200, 1.0 / 6227020800, 1.0 / 479001600, 1.0 / 39916800, 1.0 / 3628800, 1.0 / 362880, 1.0 / 40320,
	1.0 / 5040, 1.0 / 720, 1.0 / 120, 1.0 / 24, 1.0 / 6, 1.0 / 2, 1, 1,
}

// logSeries are 1/(2n+1), the last first: enough for the inverse hyperbolic tangent up to 0.172.
var logSeries = [...]float64{
	1.0 / 25, 1.0 / 23, 1.0 / 21, 1.0 / 19, 1.0 / 17, 1.0 / 15, 1.0 / 13, 1.0 / 11, 1.0 / 9, 1.0 / 7, 1.0 / 5, 1.0 / 3, 1,
}

// cosSeries and sinSeries are those of an angle squared, the last first: enough for angles up to pi/4. The sine's is
// to be multiplied by the angle.
var (
	cosSeries = [...]float64{
		1.0 / 20922789888000, -1.0 / 87178291200, 1.0 / 479001600, -1.0 / 3628800, 1.0 / 40320, -1.0 / 720, 1.0 / 24, -1.0 / 2, 1,
	}
	sinSeries = [...]float64{
		1.0 / 355687428096000, -1.0 / 1307674368000, 1.0 / 6227020800, -1.0 / 39916800, 1.0 / 362880, -1.0 / 5040, 1.0 / 120, -1.0 / 6, 1,
	}
)

// polynomial evaluates coefficients, the highest power's first (Horner).
func polynomial(coefficients []float64, x float64) float64 {
	sum := 0.0
	for _, c := range coefficients {
		sum = c + float64(sum*x)
	}
	return sum
}

// exp is e to the x, for x from -700 to 700.
func exp(x float64) float64 {
	k := math.Floor(float64(x*math.Log2E) + 0.5)
	r := x - float64(k*ln2Hi) - float64(k*ln2Lo)
	return math.Ldexp(polynomial(expSeries[:], r), int(k))
}

// log is the natural logarithm of a positive x.
func log(x float64) float64 {
	m, e := math.Frexp(x)
	if m < math.Sqrt2/2 {
		m, e = 2*m, e-1
	}
	s := (m - 1) / (m + 1)
	k := float64(e)
	return float64(k*ln2Hi) + (float64(2*s*polynomial(logSeries[:], s*s)) + float64(k*ln2Lo))
}

// cosTurns is the cosine of an angle in turns, from 0 to 1.
func cosTurns(turns float64) float64 {
	quarter := math.Floor(4*turns + 0.5)
	x := (4*turns - quarter) * (math.Pi / 2)
	switch int(quarter) & 3 {
	case 1:
		return -x * polynomial(sinSeries[:], x*x)
	case 2:
		return -polynomial(cosSeries[:], x*x)
	case 3:
		return x * polynomial(sinSeries[:], x*x)
	}
	return polynomial(cosSeries[:], x*x)
}

// power is x to the n, for n of at least 0.
func power(x float64, n int) float64 {
	p := 1.0
	for ; n > 0; n /= 2 {
		if n%2 == 1 {
			p = float64(p * x)
		}
		x = float64(x * x)
	}
	return p
}
