package reports

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// interval is a 95 % confidence interval of a mean from n values, by Student's t, widened for values that resemble their
// neighbours.
type interval struct {
	n         int
	mean      float64
	low, high float64
	lag1      float64 // autocorrelation of neighbours, as found
}

// entangled is the lag-1 autocorrelation above which a dozen values do not determine an interval.
const entangled = 0.5

// rounding is how far relative differences may lie apart that are the same but for the rounding of floats.
const rounding = 1e-12

// studentInterval wants at least two values.
func studentInterval(x []float64) interval {
	n := float64(len(x))
	sum := 0.0
	for _, v := range x {
		sum += v
	}
	mean := sum / n
	squares, neighbours := 0.0, 0.0
	for i, v := range x {
		squares += float64((v - mean) * (v - mean))
		if i > 0 {
			neighbours += float64((v - mean) * (x[i-1] - mean))
		}
	}
	out := interval{n: len(x), mean: mean, low: mean, high: mean}
	if squares <= float64(n*rounding*rounding) {
		return out
	}
	out.lag1 = neighbours / squares
	half := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: n - 1}.Quantile(0.975) * math.Sqrt(squares/(n-1)/n) * widening(out.lag1, n)
	out.low, out.high = mean-half, mean+half
	return out
}

// widening is how many times wider an interval is over n values of a first-order autoregression than over as many
// independent ones: sqrt((1+rho)/(1-rho)). A short series shows less of rho than there is: the expectation of lag1 is
// rho - (1+4 rho)/n (Marriott and Pope, Biometrika 41, 1954), which is undone, and rho kept from 0 to 0.9.
func widening(lag1, n float64) float64 {
	rho := (float64(n*lag1) + 1) / (n - 4)
	if n <= 4 {
		rho = lag1
	}
	rho = min(max(rho, 0), 0.9)
	return math.Sqrt((1 + rho) / (1 - rho))
}
