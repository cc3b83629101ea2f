package sim

import "math"

var nan = math.NaN()

// quantiles summarises a sample, which it sorts. A quantile is the smallest value that at least that share of the
// sample does not exceed (nearest rank). Over no values everything is NaN.
func quantiles(x []float64) Quantiles {
	if len(x) == 0 {
		return Quantiles{Mean: nan, P50: nan, P90: nan, P95: nan, P99: nan, Max: nan}
	}
	sortFloats(x)
	sum := 0.0
	for _, v := range x {
		sum += v
	}
	rank := func(percent int) float64 { return x[(percent*len(x)+99)/100-1] }
	return Quantiles{N: len(x), Mean: sum / float64(len(x)), P50: rank(50), P90: rank(90), P95: rank(95), P99: rank(99),
		Max: x[len(x)-1]}
}
