package reports

import (
	"fmt"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/seed-2cee110a/triage/sim"
)

// figure is a column of the table of runs.
type figure struct {
	head [3]string // its lines
	cell func(i int) string
	zero func(r *Run) bool // nil: the column is always shown
}

// figures returns the columns after the policy.
func figures(c *Comparison) []figure {
	ttft, e2e := ttftUnit(c), e2eUnit(c)
	of := func(get func(r *Run) string) func(int) string {
		return func(i int) string { return get(&c.Runs[i]) }
	}
	all := []figure{
		{[3]string{"TTFT", "mean", ttft.name}, of(func(r *Run) string { return ttft.cell(r.TTFT.Mean) }), nil},
		{[3]string{"", "p50", ttft.name}, of(func(r *Run) string { return ttft.cell(r.TTFT.P50) }), nil},
		{[3]string{"", "p90", ttft.name}, of(func(r *Run) string { return ttft.cell(r.TTFT.P90) }), nil},
		{[3]string{"", "p99", ttft.name}, of(func(r *Run) string { return ttft.cell(r.TTFT.P99) }), nil},
		{[3]string{"TPOT", "mean", "ms"}, of(func(r *Run) string { return milliseconds.cell(r.TPOT.Mean) }), nil},
		{[3]string{"E2E", "p90", e2e.name}, of(func(r *Run) string { return e2e.cell(r.E2E.P90) }), nil},
		{[3]string{"", "hit", ""}, of(func(r *Run) string { return ratio(r.HitRatio) }), nil},
		{[3]string{"im-", "bal-", "ance"}, of(func(r *Run) string { return ratio(r.Imbalance) }), nil},
		{[3]string{"re-", "jec-", "ted"}, of(func(r *Run) string { return group(int64(r.Rejected)) }), func(r *Run) bool { return r.Rejected == 0 }},
		{[3]string{"pre-", "emp-", "ted"}, of(func(r *Run) string { return group(r.Preemptions) }), func(r *Run) bool { return r.Preemptions == 0 }},
	}
	if c.adapters() {
		all = append(all, figure{[3]string{"adap.", "loads", "/1000"}, of(loadsCell), nil})
	}
	if c.stale() {
		all = append(all, figure{[3]string{"sig.", "age s", "50/95"}, of(ageCell), nil})
	}
	return append(all, figure{[3]string{"TTFT", "vs", "base"}, func(i int) string { return gainCell(c, i) }, nil})
}

// loadsCell is how often a run loaded an adapter per 1,000 requests.
func loadsCell(r *Run) string { return significant(r.LoadsPer1000()) }

// ageCell is the age of the signals that a run used, p50 and p95, seconds.
func ageCell(r *Run) string {
	if !known(r.Age.P50) {
		return "-"
	}
	return brief(r.Age.P50) + "/" + brief(r.Age.P95)
}

// brief prints an age in few characters.
func brief(s float64) string {
	switch {
	case s == 0:
		return "0"
	case s < 0.0995:
		return fmt.Sprintf("%.2f", s)
	case s < 9.95:
		return fmt.Sprintf("%.1f", s)
	}
	return fmt.Sprintf("%.0f", s)
}

// runTable has a row a run.
func runTable(c *Comparison, l layout) table.Writer {
	shown := figures(c)
	if l.spare {
		shown = needed(c, shown)
	}
	t := table.NewWriter()
	for line, label := range [3]string{"", "", "policy"} {
		row := table.Row{label}
		for _, f := range shown {
			row = append(row, f.head[line])
		}
		t.AppendHeader(row)
	}
	for i, r := range c.Runs {
		row := table.Row{wrapLabel(r.Policy, l.label)}
		for _, f := range shown {
			row = append(row, f.cell(i))
		}
		t.AppendRow(row)
	}
	alignRight(t, len(shown))
	return t
}

// needed leaves out the columns in which every run has 0.
func needed(c *Comparison, all []figure) []figure {
	var out []figure
	for _, f := range all {
		for i := range c.Runs {
			if f.zero == nil || !f.zero(&c.Runs[i]) {
				out = append(out, f)
				break
			}
		}
	}
	return out
}

// gainCell is the run's mean TTFT against the baseline, marked where the two are over different requests.
func gainCell(c *Comparison, i int) string {
	if i == c.Baseline {
		return "base"
	}
	text := change(c.Gain(i))
	if uneven(c.Runs[i].Completed, c.base().Completed) && text != "-" {
		text += "*"
	}
	return text
}

// gainNote explains the marks of gainCell, "" if there are none.
func gainNote(c *Comparison) string {
	for i := range c.Runs {
		if strings.HasSuffix(gainCell(c, i), "*") {
			return "* over fewer requests on one side, as many were refused there"
		}
	}
	return ""
}

func ttftUnit(c *Comparison) unit {
	var values []float64
	for _, r := range c.Runs {
		values = append(values, r.TTFT.P90)
	}
	return unitFor(values...)
}

func e2eUnit(c *Comparison) unit {
	var values []float64
	for _, r := range c.Runs {
		values = append(values, r.E2E.P90)
	}
	return unitFor(values...)
}

func affinityTitle(c *Comparison) string {
	return fmt.Sprintf("TTFT by share of the prompt truly cached: mean / p90 %s; requests (share)", ttftUnit(c).name)
}

// thin is the number of requests below which the times of a bucket say little.
const thin = 30

// thinNote explains times in brackets, "" if there are none.
func thinNote(c *Comparison) string {
	for _, r := range c.Runs {
		for _, b := range r.Affinity {
			if 0 < b.N && b.N < thin {
				return fmt.Sprintf("times in brackets are over fewer than %d requests and say little", thin)
			}
		}
	}
	return ""
}

// affinityTable has a row of two lines a run and a column a bucket.
func affinityTable(c *Comparison, l layout) table.Writer {
	u := ttftUnit(c)
	names := bucketNames(c)
	t := table.NewWriter()
	head := table.Row{"policy"}
	for _, name := range names {
		head = append(head, name)
	}
	t.AppendHeader(head)
	for _, r := range c.Runs {
		cells := table.Row{wrapLabel(r.Policy, l.label)}
		for _, name := range names {
			b := bucket(r.Affinity, name)
			cells = append(cells, timesCell(u, b, l.slash)+"\n"+sizeCell(b))
		}
		t.AppendRow(cells)
	}
	alignRight(t, len(names))
	return t
}

func timesCell(u unit, b sim.Bucket, slash string) string {
	switch cell := u.cell(b.TTFT.Mean) + slash + u.cell(b.TTFT.P90); {
	case b.N == 0:
		return "-"
	case b.N < thin:
		return "(" + cell + ")"
	default:
		return cell
	}
}

func sizeCell(b sim.Bucket) string {
	if b.N == 0 {
		return "0"
	}
	return fmt.Sprintf("%s (%s)", group(int64(b.N)), percent(b.Share))
}

// bucketNames returns the names of all buckets in order; runs of one trace have the same.
func bucketNames(c *Comparison) []string {
	var names []string
	seen := map[string]bool{}
	for _, r := range c.Runs {
		for _, b := range r.Affinity {
			if !seen[b.Name] {
				seen[b.Name], names = true, append(names, b.Name)
			}
		}
	}
	return names
}

// bucket returns the bucket of that name, an empty one if there is none.
func bucket(all []sim.Bucket, name string) sim.Bucket {
	for _, b := range all {
		if b.Name == name {
			return b
		}
	}
	return sim.Bucket{Name: name}
}

// alignRight aligns columns 2 to n+1.
func alignRight(t table.Writer, n int) { alignRightFrom(t, 2, n) }

// alignRightFrom aligns n columns from one on, counted from 1.
func alignRightFrom(t table.Writer, first, n int) {
	configs := make([]table.ColumnConfig, n)
	for i := range configs {
		configs[i] = table.ColumnConfig{Number: first + i, Align: text.AlignRight, AlignHeader: text.AlignRight}
	}
	t.SetColumnConfigs(configs)
}
