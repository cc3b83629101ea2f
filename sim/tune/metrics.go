package tune

import (
	"math"

	"github.com/seed-2cee110a/triage/sim"
)

// Metrics are the numbers of a replay that a study keeps, in the order of MetricNames. NaN is not known.
type Metrics [NumMetrics]float64

// NumMetrics is how many there are.
const NumMetrics = 13

// metrics has one row a number.
var metrics = [NumMetrics]struct {
	name string
	of   func(*sim.Summary) float64
}{
	{"ttft_mean_s", func(s *sim.Summary) float64 { return s.TTFT.Mean }},
	{"ttft_p50_s", func(s *sim.Summary) float64 { return s.TTFT.P50 }},
	{"ttft_p90_s", func(s *sim.Summary) float64 { return s.TTFT.P90 }},
	{"ttft_p99_s", func(s *sim.Summary) float64 { return s.TTFT.P99 }},
	{"tpot_mean_s", func(s *sim.Summary) float64 { return s.TPOT.Mean }},
	{"e2e_mean_s", func(s *sim.Summary) float64 { return s.E2E.Mean }},
	{"e2e_p90_s", func(s *sim.Summary) float64 { return s.E2E.P90 }},
	{"hit_ratio", func(s *sim.Summary) float64 { return s.HitRatio }},
	{"imbalance", func(s *sim.Summary) float64 { return s.Imbalance }},
	{"rejected_ratio", func(s *sim.Summary) float64 { return float64(s.Rejected) / float64(s.Requests) }},
	{"preemptions", func(s *sim.Summary) float64 { return float64(s.Preemptions) }},
	{"output_tokens_per_s", func(s *sim.Summary) float64 { return s.OutputPerS }},
	{"requests_per_s", func(s *sim.Summary) float64 { return s.RequestsPerS }},
}

// Metric indices that reports show.
const (
	TTFTMean = 0
	TTFTP90  = 2
	HitRatio = 7
	Rejected = 9
)

// MetricNames returns the names, with the unit where there is one.
func MetricNames() []string {
	names := make([]string, NumMetrics)
	for i, m := range metrics {
		names[i] = m.name
	}
	return names
}

func measure(s *sim.Summary) Metrics {
	var out Metrics
	for i, m := range metrics {
		out[i] = m.of(s)
	}
	return out
}

// same compares bit by bit: NaN is the same as NaN.
func (m *Metrics) same(o *Metrics) bool {
	for i := range m {
		if math.Float64bits(m[i]) != math.Float64bits(o[i]) {
			return false
		}
	}
	return true
}
