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
	name   string
	cell   func(c *Comparison, i int) string
	tenant func(t *sim.TenantSummary) string // of a row for a tenant; nil: empty there, but for the policy
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
	if c.byTenant() {
		for _, x := range tenantRows(c) {
			for j, col := range columns {
				record[j] = col.of(x)
			}
			out.Write(record)
		}
	}
	out.Flush()
	return out.Error()
}

// of is the cell of a row for a tenant.
func (col *column) of(x tenantRow) string {
	switch {
	case col.name == "policy":
		return x.run.Policy
	case col.tenant == nil:
		return ""
	}
	return col.tenant(x.of)
}

func csvColumns() []column {
	cols := []column{
		{name: "policy", cell: func(c *Comparison, i int) string { return c.Runs[i].Policy }},
		integer("requests", func(r *Run) int { return r.Requests }).by(func(t *sim.TenantSummary) float64 { return float64(t.Requests) }),
		integer("completed", func(r *Run) int { return r.Completed }).by(func(t *sim.TenantSummary) float64 { return float64(t.Completed) }),
		integer("rejected", func(r *Run) int { return r.Rejected }).by(func(t *sim.TenantSummary) float64 { return float64(t.Rejected) }),
	}
	cols = append(cols, quantileColumns("ttft", func(r *Run) sim.Quantiles { return r.TTFT }, func(t *sim.TenantSummary) sim.Quantiles { return t.TTFT })...)
	cols = append(cols, quantileColumns("tpot", func(r *Run) sim.Quantiles { return r.TPOT }, nil)...)
	cols = append(cols, quantileColumns("e2e", func(r *Run) sim.Quantiles { return r.E2E }, nil)...)
	cols = append(cols,
		float("hit_ratio", func(r *Run) float64 { return r.HitRatio }),
		float("imbalance", func(r *Run) float64 { return r.Imbalance }),
		integer("preemptions", func(r *Run) int { return int(r.Preemptions) }),
		float("output_tokens_per_s", func(r *Run) float64 { return r.OutputPerS }),
		float("requests_per_s", func(r *Run) float64 { return r.RequestsPerS }),
		float("makespan_s", func(r *Run) float64 { return r.Makespan }),
		column{name: "ttft_gain", cell: func(c *Comparison, i int) string { return csvFloat(c.Gain(i)) }},
		float("signal_age_mean_s", func(r *Run) float64 { return r.Age.Mean }))
	for _, b := range csvBuckets {
		cols = append(cols, bucketColumns(b.column, b.name)...)
	}
	cols = append(cols,
		column{name: "arrivals", cell: func(c *Comparison, i int) string { return arrivalsName(c.Config) }},
		integer("retries", func(r *Run) int { return r.Retries }),
		float("adapter_loads", func(r *Run) float64 { return ifAdapters(r, float64(r.Loads)) }),
		float("adapter_loads_per_1000", func(r *Run) float64 { return ifAdapters(r, r.LoadsPer1000()) }),
		float("signal_age_p50_s", func(r *Run) float64 { return r.Age.P50 }),
		float("signal_age_p95_s", func(r *Run) float64 { return r.Age.P95 }),
		integer("held", func(r *Run) int { return r.Held }).by(func(t *sim.TenantSummary) float64 { return float64(t.Held) }),
		float("retry_after_p50_s", func(r *Run) float64 { return r.RetryAfter.P50 }),
		column{name: "tenant", cell: func(c *Comparison, i int) string { return "" }, tenant: tenantName},
		column{name: "prompt_tokens", cell: func(c *Comparison, i int) string { return "" }}.by(func(t *sim.TenantSummary) float64 { return float64(t.PromptTokens) }),
		column{name: "output_tokens", cell: func(c *Comparison, i int) string { return "" }}.by(func(t *sim.TenantSummary) float64 { return float64(t.OutputTokens) }))
	cols = append(cols, quantileColumns("gateway_wait", func(r *Run) sim.Quantiles { return r.GatewayWait },
		func(t *sim.TenantSummary) sim.Quantiles { return t.GatewayWait })...)
	return append(cols,
		column{name: "warnings", cell: func(c *Comparison, i int) string { return strings.Join(c.Runs[i].Warnings, "; ") }})
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

// quantileColumns are a sample's; tenant is nil for what is not known by tenant.
func quantileColumns(name string, get func(*Run) sim.Quantiles, tenant func(*sim.TenantSummary) sim.Quantiles) []column {
	var cols []column
	for _, q := range []struct {
		name string
		of   func(sim.Quantiles) float64
	}{
		{"mean", func(q sim.Quantiles) float64 { return q.Mean }},
		{"p50", func(q sim.Quantiles) float64 { return q.P50 }},
		{"p90", func(q sim.Quantiles) float64 { return q.P90 }},
		{"p95", func(q sim.Quantiles) float64 { return q.P95 }},
		{"p99", func(q sim.Quantiles) float64 { return q.P99 }},
		{"max", func(q sim.Quantiles) float64 { return q.Max }},
	} {
		col := float(name+"_"+q.name+"_s", func(r *Run) float64 { return q.of(get(r)) })
		if tenant != nil {
			col = col.by(func(t *sim.TenantSummary) float64 { return q.of(tenant(t)) })
		}
		cols = append(cols, col)
	}
	return cols
}

// by makes a column one that is known by tenant, too.
func (col column) by(get func(*sim.TenantSummary) float64) column {
	col.tenant = func(t *sim.TenantSummary) string { return csvFloat(get(t)) }
	return col
}

func integer(name string, get func(*Run) int) column {
	return column{name: name, cell: func(c *Comparison, i int) string { return strconv.Itoa(get(&c.Runs[i])) }}
}

func float(name string, get func(*Run) float64) column {
	return column{name: name, cell: func(c *Comparison, i int) string { return csvFloat(get(&c.Runs[i])) }}
}

// csvFloat prints the shortest text that reads back as v, "" if v is not known.
func csvFloat(v float64) string {
	if !known(v) {
		return ""
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}
