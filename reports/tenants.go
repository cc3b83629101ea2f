package reports

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/seed-2cee110a/triage/sim"
)

// tenantsShown is how many tenants a table has, most tokens first; the rest is one row.
const tenantsShown = 10

// byTenant says that a table of tenants is worth its room: there are several, and the gateway held, limited or refused some
// requests.
func (c *Comparison) byTenant() bool {
	for i := range c.Runs {
		if r := &c.Runs[i]; len(r.Tenants) > 1 && r.Held+r.Rejected > 0 {
			return true
		}
	}
	return false
}

// tenantRow is a tenant of a run, or the rest of them.
type tenantRow struct {
	run  *Run
	of   *sim.TenantSummary // of the rest, counts only
	rest bool
}

// tenantRows lists the tenants of all runs by the tokens of their prompts, which are the same in every run.
func tenantRows(c *Comparison) []tenantRow {
	var out []tenantRow
	for i := range c.Runs {
		r := &c.Runs[i]
		all := slices.Clone(r.Tenants)
		slices.SortStableFunc(all, func(a, b sim.TenantSummary) int {
			return cmp.Or(cmp.Compare(b.PromptTokens, a.PromptTokens), cmp.Compare(a.Name, b.Name))
		})
		for k := range all[:min(len(all), tenantsShown)] {
			out = append(out, tenantRow{run: r, of: &all[k]})
		}
		if len(all) > tenantsShown {
			out = append(out, tenantRow{r, rest(all[tenantsShown:]), true})
		}
	}
	return out
}

var unknownTimes = sim.Quantiles{Mean: math.NaN(), P50: math.NaN(), P90: math.NaN(), P95: math.NaN(), P99: math.NaN(), Max: math.NaN()}

// rest sums tenants up.
func rest(all []sim.TenantSummary) *sim.TenantSummary {
	sum := &sim.TenantSummary{Name: fmt.Sprintf("%d more", len(all)), TTFT: unknownTimes, GatewayWait: unknownTimes}
	for i := range all {
		t := &all[i]
		sum.Requests, sum.Completed, sum.Rejected, sum.Held = sum.Requests+t.Requests, sum.Completed+t.Completed, sum.Rejected+t.Rejected, sum.Held+t.Held
		sum.PromptTokens, sum.OutputTokens = sum.PromptTokens+t.PromptTokens, sum.OutputTokens+t.OutputTokens
		for reason, n := range t.RejectedBy {
			sum.RejectedBy[reason] += n
		}
	}
	return sum
}

// tenantFigures are the columns after policy and tenant.
func tenantFigures(c *Comparison) []struct {
	head [2]string
	cell func(t *sim.TenantSummary) string
} {
	ttft, wait := tenantUnits(c)
	return []struct {
		head [2]string
		cell func(t *sim.TenantSummary) string
	}{
		{[2]string{"re-", "quests"}, func(t *sim.TenantSummary) string { return group(int64(t.Requests)) }},
		{[2]string{"re-", "jected"}, func(t *sim.TenantSummary) string { return group(int64(t.Rejected)) }},
		{[2]string{"Mtok", ""}, func(t *sim.TenantSummary) string { return significant(float64(t.Tokens()) / 1e6) }},
		{[2]string{"TTFT", "p50 " + ttft.name}, func(t *sim.TenantSummary) string { return ttft.cell(t.TTFT.P50) }},
		{[2]string{"", "p90 " + ttft.name}, func(t *sim.TenantSummary) string { return ttft.cell(t.TTFT.P90) }},
		{[2]string{"held", ""}, func(t *sim.TenantSummary) string { return group(int64(t.Held)) }},
		{[2]string{"wait", "p90 " + wait.name}, func(t *sim.TenantSummary) string { return wait.cell(t.GatewayWait.P90) }},
	}
}

func tenantUnits(c *Comparison) (ttft, wait unit) {
	var first, held []float64
	for _, row := range tenantRows(c) {
		first, held = append(first, row.of.TTFT.P90), append(held, row.of.GatewayWait.P90)
	}
	return unitFor(first...), unitFor(held...)
}

const tenantTitle = "tenants (most prompt tokens first)"

// tenantTable has a row a run and tenant.
func tenantTable(c *Comparison, l layout) table.Writer {
	all := tenantFigures(c)
	t := table.NewWriter()
	for line, names := range [2][2]string{{"", ""}, {"policy", "tenant"}} {
		row := table.Row{names[0], names[1]}
		for _, f := range all {
			row = append(row, f.head[line])
		}
		t.AppendHeader(row)
	}
	var last *Run
	for _, x := range tenantRows(c) {
		label := ""
		if x.run != last {
			label, last = wrapLabel(x.run.Policy, l.label), x.run
		}
		row := table.Row{label, tenantName(x.of)}
		for _, f := range all {
			row = append(row, f.cell(x.of))
		}
		t.AppendRow(row)
	}
	alignRightFrom(t, 3, len(all))
	return t
}

// tenantName is "-" for the requests that name none.
func tenantName(t *sim.TenantSummary) string { return cmp.Or(t.Name, "-") }

// retryNote says when those came again that were refused for their tenants' rates, "" if there are none.
func retryNote(c *Comparison) string {
	text := ""
	for i := range c.Runs {
		if r := &c.Runs[i]; r.RetryAfter.N > 0 {
			text += fmt.Sprintf("; %s: %s were told to come again after %s (p50)", r.Policy, count(r.RetryAfter.N, "request"), duration(r.RetryAfter.P50))
		}
	}
	if text == "" {
		return ""
	}
	return "limited by rate" + text
}

func markdownTenants(c *Comparison) string {
	t := &markdownTable{}
	head := []string{"policy", "tenant"}
	all := tenantFigures(c)
	for _, f := range all {
		head = append(head, strings.TrimSpace(strings.ReplaceAll(f.head[0]+" "+f.head[1], "- ", "")))
	}
	t.row(head...)
	for _, x := range tenantRows(c) {
		cells := []string{x.run.Policy, tenantName(x.of)}
		for _, f := range all {
			cells = append(cells, f.cell(x.of))
		}
		t.row(cells...)
	}
	return t.String()
}
