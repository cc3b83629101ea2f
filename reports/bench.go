package reports

import (
	"fmt"
	"io"
	"strconv"
	"strings"
)

// benchMetrics are the columns of Bench, with the units that benchstat shows.
var benchMetrics = []struct {
	unit string
	get  func(r *Run) float64
}{
	{"sec/ttft-mean", func(r *Run) float64 { return r.TTFT.Mean }},
	{"sec/ttft-p50", func(r *Run) float64 { return r.TTFT.P50 }},
	{"sec/ttft-p90", func(r *Run) float64 { return r.TTFT.P90 }},
	{"sec/ttft-p99", func(r *Run) float64 { return r.TTFT.P99 }},
	{"sec/tpot-mean", func(r *Run) float64 { return r.TPOT.Mean }},
	{"sec/e2e-p90", func(r *Run) float64 { return r.E2E.P90 }},
	{"hit-ratio", func(r *Run) float64 { return r.HitRatio }},
	{"imbalance", func(r *Run) float64 { return r.Imbalance }},
	{"rejected", func(r *Run) float64 { return float64(r.Rejected) }},
	{"output-tokens/s", func(r *Run) float64 { return r.OutputPerS }},
}

// Bench writes lines in Go's benchmark format (https://go.dev/design/14313-benchmark-format), a line a run below the
// policy, so that benchstat -col policy -ignore /seed compares policies over several seeds. What is not known is left out.
func Bench(w io.Writer, c *Comparison) error {
	var b strings.Builder
	b.WriteString("Unit hit-ratio better=higher\nUnit output-tokens/s better=higher\n")
	for _, line := range warningLines(c) {
		fmt.Fprintf(&b, "# %s\n", line)
	}
	for i := range c.Runs {
		r := &c.Runs[i]
		fmt.Fprintf(&b, "policy: %s\n", strings.Join(strings.Fields(r.Policy), "_"))
		fmt.Fprintf(&b, "BenchmarkReplay/trace=%s/seed=%d 1", benchName(c.Trace.Name), c.Config.Seed)
		for _, m := range benchMetrics {
			if v := m.get(r); known(v) {
				fmt.Fprintf(&b, " %s %s", strconv.FormatFloat(v, 'g', -1, 64), m.unit)
			}
		}
		b.WriteByte('\n')
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// benchName makes a name one part of a benchmark's name.
func benchName(name string) string {
	return strings.Map(func(r rune) rune {
		if r == '/' || r <= ' ' || r == '=' {
			return '_'
		}
		return r
	}, name)
}
