package reports

import (
	"cmp"
	"encoding/csv"
	"fmt"
	"io"
	"slices"

	"github.com/seed-2cee110a/triage/sim/fidelity"
)

// FidelitySeries is stage means as they were measured and as they were simulated: what the picture "measured" shows.
type FidelitySeries struct {
	Regimes []string // in the order of their marks; the stable one first, if there is one
	Means   []fidelity.Score
}

// band is the relative error up to which a mean counts as met.
const band = 0.1

// NewFidelitySeries picks the means: of each stage the best there is.
func NewFidelitySeries(r *fidelity.Report) *FidelitySeries {
	s := &FidelitySeries{}
	for _, x := range slices.Concat(r.Scores, r.Closed) {
		if !x.Best || x.Stat != "mean" || !slices.Contains(fidelity.Metrics, x.Metric) || !(x.Measured > 0 && x.Simulated > 0) {
			continue
		}
		s.Means = append(s.Means, x)
		if !slices.Contains(s.Regimes, x.Regime) {
			s.Regimes = append(s.Regimes, x.Regime)
		}
	}
	slices.SortStableFunc(s.Regimes, func(a, b string) int { return cmp.Compare(fidelityRank(a), fidelityRank(b)) })
	return s
}

func fidelityRank(regime string) int {
	if regime == "stable" {
		return 0
	}
	return 1
}

// of returns the means of a metric and regime.
func (s *FidelitySeries) of(metric, regime string) []fidelity.Score {
	return fidelity.Select(s.Means, func(x *fidelity.Score) bool { return x.Metric == metric && x.Regime == regime })
}

// main is the regime that the answer is about.
func (s *FidelitySeries) main() string {
	if len(s.Regimes) == 0 {
		return ""
	}
	return s.Regimes[0]
}

// answer gives the median errors.
func (s *FidelitySeries) answer() string {
	var parts []string
	n := 0
	for _, m := range fidelity.Metrics {
		if e := fidelity.Summarise(s.of(m, s.main())); e.N > 0 {
			parts, n = append(parts, metricName(m)+" "+errorCell(e.Median)), max(n, e.N)
		}
	}
	if len(parts) == 0 {
		return "No mean to compare"
	}
	return fmt.Sprintf("Simulated against measured, regime %s: %s off in the median of %s", s.main(), join(parts), count(n, "stage"))
}

// notes explain the picture and name the largest error of the main regime.
func (s *FidelitySeries) notes() []string {
	text := "Means of stages at one rate, each without its first quarter where there is a trace; on the diagonal both are equal, the band is 10 % to either side."
	if slices.ContainsFunc(s.Means, func(x fidelity.Score) bool { return x.Overload }) {
		text += " Under overload a mean depends on when the client gives up."
	}
	out := []string{text}
	main := fidelity.Select(s.Means, func(x *fidelity.Score) bool { return x.Regime == s.main() })
	if len(main) > 0 {
		worst := slices.MaxFunc(main, func(a, b fidelity.Score) int { return cmp.Compare(absolute(a.Error()), absolute(b.Error())) })
		out = append(out, fmt.Sprintf("Furthest off in the regime %s: %s of %s, stage %s, %s ms instead of %s ms (%s).", s.main(), metricName(worst.Metric),
			worst.Experiment, worst.Stage, significant(worst.Simulated), significant(worst.Measured), biasCell(worst.Error())))
	}
	return out
}

func absolute(v float64) float64 { return max(v, -v) }

// heading is that of the main regime's panel.
func (s *FidelitySeries) heading(metric string) string {
	main := s.of(metric, s.main())
	met := fidelity.Select(main, func(x *fidelity.Score) bool { return absolute(x.Error()) <= band })
	e := fidelity.Summarise(main)
	if e.N == 0 {
		return s.main() + ": no " + metricName(metric)
	}
	return fmt.Sprintf("%s: %s off by %s, %d of %d in the band", s.main(), metricName(metric), errorCell(e.Median), len(met), e.N)
}

// CSV writes a row a point.
func (s *FidelitySeries) CSV(w io.Writer) error {
	out := csv.NewWriter(w)
	out.Write([]string{"metric", "experiment", "stage", "regime", "gpu", "model", "measured_ms", "simulated_ms", "error"}) // the writer keeps the first error
	for _, x := range s.Means {
		out.Write([]string{x.Metric, x.Experiment, x.Stage, x.Regime, x.GPU, x.Model, csvFloat(x.Measured), csvFloat(x.Simulated), csvFloat(x.Error())})
	}
	out.Flush()
	return out.Error()
}

// FidelityPlotFiles are the pictures of a comparison with measurements, each with its numbers as CSV; none without a
// format.
func FidelityPlotFiles(r *fidelity.Report, formats []string) []PlotFile {
	if len(formats) == 0 {
		return nil
	}
	s := NewFidelitySeries(r)
	return Plot{fidelityDrawing(s), s.CSV}.files("measured", formats)
}
