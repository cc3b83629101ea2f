package reports

import (
	"fmt"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/seed-2cee110a/triage/sim"
)

// runTable has a row a run.
func runTable(c *Comparison) table.Writer {
	ttft, e2e := ttftUnit(c), e2eUnit(c)
	t := table.NewWriter()
	t.AppendHeader(table.Row{"", "TTFT", "", "", "", "TPOT", "E2E", "", "im-", "re-", "pre-", "TTFT"})
	t.AppendHeader(table.Row{"", "mean", "p50", "p90", "p99", "mean", "p90", "hit", "bal-", "jec-", "emp-", "gain"})
	t.AppendHeader(table.Row{"policy", ttft.name, ttft.name, ttft.name, ttft.name, "ms", e2e.name, "", "ance", "ted", "ted", ""})
	for i, r := range c.Runs {
		t.AppendRow(table.Row{wrapLabel(r.Policy, labelWidth),
			ttft.cell(r.TTFT.Mean), ttft.cell(r.TTFT.P50), ttft.cell(r.TTFT.P90), ttft.cell(r.TTFT.P99),
			milliseconds.cell(r.TPOT.Mean), e2e.cell(r.E2E.P90), ratio(r.HitRatio), ratio(r.Imbalance),
			group(int64(r.Rejected)), group(r.Preemptions), gainCell(c, i)})
	}
	alignRight(t, 11)
	return t
}

// gainCell is the run's mean TTFT against the baseline.
func gainCell(c *Comparison, i int) string {
	if i == c.Baseline {
		return "base"
	}
	return change(c.Gain(i))
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

// affinityTable has a row of two lines a run and a column a bucket.
func affinityTable(c *Comparison) table.Writer {
	u := ttftUnit(c)
	names := bucketNames(c)
	t := table.NewWriter()
	head := table.Row{"policy"}
	for _, name := range names {
		head = append(head, name)
	}
	t.AppendHeader(head)
	for _, r := range c.Runs {
		cells := table.Row{wrapLabel(r.Policy, labelWidth)}
		for _, name := range names {
			b := bucket(r.Affinity, name)
			cells = append(cells, timesCell(u, b)+"\n"+sizeCell(b))
		}
		t.AppendRow(cells)
	}
	alignRight(t, len(names))
	return t
}

func timesCell(u unit, b sim.Bucket) string {
	if b.N == 0 {
		return "-"
	}
	return u.cell(b.TTFT.Mean) + " / " + u.cell(b.TTFT.P90)
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
func alignRight(t table.Writer, n int) {
	configs := make([]table.ColumnConfig, n)
	for i := range configs {
		configs[i] = table.ColumnConfig{Number: i + 2, Align: text.AlignRight, AlignHeader: text.AlignRight}
	}
	t.SetColumnConfigs(configs)
}
