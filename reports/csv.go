package reports

import (
	"encoding/csv"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/seed-2cee110a/triage/sim"
)

// column is a column of the CSV report.
type column struct {
	name string
	cell func(c *Comparison, i int) string
}

// CSV writes a row a run. Times are in seconds; a cell is empty where a value is not known.
func CSV(w io.Writer, c *Comparison) error {
	columns := csvColumns()
	out := csv.NewWriter(w)
	record := make([]string, len(columns))
	for i, col := range columns {
		record[i] = col.name
	}
	out.Write(record) // a bufio.Writer keeps the first error for Error
	for i := range c.Runs {
		for j, col := range columns {
			record[j] = col.cell(c, i)
		}
		out.Write(record)
	}
	out.Flush()
	return out.Error()
}

func csvColumns() []column {
	cols := []column{
		{"policy", func(c *Comparison, i int) string { return c.Runs[i].Policy }},
		integer("requests", func(r *Run) int { return r.Requests }),
		integer("completed", func(r *Run) int { return r.Completed }),
		integer("rejected", func(r *Run) int { return r.Rejected }),
	}
	cols = append(cols, quantileColumns("ttft", func(r *Run) sim.Quantiles { return r.TTFT })...)
	cols = append(cols, quantileColumns("tpot", func(r *Run) sim.Quantiles { return r.TPOT })...)
	cols = append(cols, quantileColumns("e2e", func(r *Run) sim.Quantiles { return r.E2E })...)
	cols = append(cols,
		float("hit_ratio", func(r *Run) float64 { return r.HitRatio }),
		float("imbalance", func(r *Run) float64 { return r.Imbalance }),
		integer("preemptions", func(r *Run) int { return int(r.Preemptions) }),
		float("output_tokens_per_s", func(r *Run) float64 { return r.OutputPerS }),
		float("requests_per_s", func(r *Run) float64 { return r.RequestsPerS }),
		float("makespan_s", func(r *Run) float64 { return r.Makespan }),
		column{"ttft_gain", func(c *Comparison, i int) string { return csvFloat(c.Gain(i)) }},
		float("signal_age_mean_s", func(r *Run) float64 { return r.Age.Mean }))
	for _, b := range csvBuckets {
		cols = append(cols, bucketColumns(b.column, b.name)...)
	}
	cols = append(cols,
		column{"arrivals", func(c *Comparison, i int) string { return arrivalsName(c.Config) }},
		integer("retries", func(r *Run) int { return r.Retries }),
		float("adapter_loads", func(r *Run) float64 { return ifAdapters(r, float64(r.Loads)) }),
		float("adapter_loads_per_1000", func(r *Run) float64 { return ifAdapters(r, r.LoadsPer1000()) }))
	return append(cols,
		column{"warnings", func(c *Comparison, i int) string { return strings.Join(c.Runs[i].Warnings, "; ") }})
}

// ifAdapters is a number about adapters, NaN where none play a part.
func ifAdapters(r *Run, n float64) float64 {
	if !r.Adapters {
		return math.NaN()
	}
	return n
}

// csvBuckets are the affinity buckets and what their columns are called.
var csvBuckets = []struct{ column, name string }{
	{"cold", "cold"}, {"to_25", "(0,0.25]"}, {"to_75", "(0.25,0.75]"}, {"to_100", "(0.75,1)"}, {"full", "full"},
	{"unknown", "unknown"},
}

func bucketColumns(name, key string) []column {
	prefix := "affinity_" + name
	return []column{
		integer(prefix+"_n", func(r *Run) int { return bucket(r.Affinity, key).N }),
		float(prefix+"_ttft_mean_s", func(r *Run) float64 { return bucketTTFT(r, key).Mean }),
		float(prefix+"_ttft_p90_s", func(r *Run) float64 { return bucketTTFT(r, key).P90 }),
	}
}

// bucketTTFT is all NaN for a bucket that nothing fell into.
func bucketTTFT(r *Run, key string) sim.Quantiles {
	if b := bucket(r.Affinity, key); b.N > 0 {
		return b.TTFT
	}
	return sim.Quantiles{Mean: math.NaN(), P90: math.NaN()}
}

func quantileColumns(name string, get func(*Run) sim.Quantiles) []column {
	return []column{
		float(name+"_mean_s", func(r *Run) float64 { return get(r).Mean }),
		float(name+"_p50_s", func(r *Run) float64 { return get(r).P50 }),
		float(name+"_p90_s", func(r *Run) float64 { return get(r).P90 }),
		float(name+"_p95_s", func(r *Run) float64 { return get(r).P95 }),
		float(name+"_p99_s", func(r *Run) float64 { return get(r).P99 }),
		float(name+"_max_s", func(r *Run) float64 { return get(r).Max }),
	}
}

func integer(name string, get func(*Run) int) column {
	return column{name, func(c *Comparison, i int) string { return strconv.Itoa(get(&c.Runs[i])) }}
}

func float(name string, get func(*Run) float64) column {
	return column{name, func(c *Comparison, i int) string { return csvFloat(get(&c.Runs[i])) }}
}

// csvFloat prints the shortest text that reads back as v, "" if v is not known.
func csvFloat(v float64) string {
	if !known(v) {
		return ""
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}
