package reports

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// interval is a 95 % confidence interval of a mean from n values, by Student's t.
type interval struct {
	n         int
	mean      float64
	low, high float64
	lag1      float64 // autocorrelation of neighbours: values far above 0 make the interval too narrow
}

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
	if squares == 0 {
		return out
	}
	half := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: n - 1}.Quantile(0.975) * math.Sqrt(squares/(n-1)/n)
	out.low, out.high, out.lag1 = mean-half, mean+half, neighbours/squares
	return out
}
