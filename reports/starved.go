package reports

import (
	"fmt"

	"github.com/seed-2cee110a/triage/sim"
)

const (
	dominates = 0.5 // share of all tokens from which a tenant dominates
	minor     = 0.2 // share of all tokens up to which another may be starved by it
	waits     = 0.5 // share of its p90 TTFT that is waiting, from which that may be so
	starves   = 2   // times its unloaded p90 TTFT from which it is,
	notable   = 0.5 // if the difference is so many seconds
)

// tenantStarved finds tenants that wait for the tokens of another.
func tenantStarved(c *Comparison, r *Run) *Finding {
	alone := r.beside(Unloaded)
	if alone == nil {
		return nil
	}
	big := &r.Tenants[0]
	var worst, before *sim.TenantSummary
	names := []string{big.Name}
	for _, i := range starving(c, r) {
		t, u := &r.Tenants[i], tenant(alone.Tenants, r.Tenants[i].Name)
		if u == nil || !(t.TTFT.P90 > starves*u.TTFT.P90) || t.TTFT.P90-u.TTFT.P90 < notable {
			continue
		}
		names = append(names, t.Name)
		if worst == nil || t.TTFT.P90/u.TTFT.P90 > worst.TTFT.P90/before.TTFT.P90 {
			worst, before = t, u
		}
	}
	if worst == nil {
		return nil
	}
	all := tokensOf(r.Tenants)
	text := fmt.Sprintf("tenant %s is starved: its p90 TTFT is %s, %s the %s that it has without load, while tenant %s has %s of all tokens and it has %s",
		worst.Name, duration(worst.TTFT.P90), times(worst.TTFT.P90/before.TTFT.P90), duration(before.TTFT.P90), big.Name,
		percent(float64(big.Tokens())/all), percent(float64(worst.Tokens())/all))
	if worst.Held > 0 {
		text += fmt.Sprintf("; %s of its %s requests waited at the gateway, %s at p90", group(int64(worst.Held)), group(int64(worst.Requests)), duration(worst.GatewayWait.P90))
	}
	if n := len(names) - 2; n > 0 {
		text += fmt.Sprintf("; so are %s", count(n, "other tenant"))
	}
	return &Finding{Text: text + ": limit what is in flight on a replica, so that the queue is at the gateway, and let tenants take turns there by tokens, or limit the rate of " + big.Name,
		Evidence: &Evidence{Tenants: names, Numbers: map[string]float64{"ttft_p90_s": worst.TTFT.P90, "unloaded_ttft_p90_s": before.TTFT.P90,
			"tokens_share": float64(worst.Tokens()) / all, "dominating_tokens_share": float64(big.Tokens()) / all,
			"gateway_wait_p90_s": worst.GatewayWait.P90}}}
}

// starving lists the tenants, as indices into Run.Tenants, that have few of the tokens while the first dominates, and spend
// much of their time waiting.
func starving(c *Comparison, r *Run) []int {
	all := tokensOf(r.Tenants)
	if r.result == nil || len(r.Tenants) < 2 || float64(r.Tenants[0].Tokens()) < dominates*all {
		return nil
	}
	var out []int
	wait := waitsOf(r.result)
	for i := range r.Tenants {
		t := &r.Tenants[i]
		if float64(t.Tokens()) > minor*all || t.Completed < thin {
			continue
		}
		if w := nearestRank(wait[t.Name], 90); w >= notable/2 && w >= waits*t.TTFT.P90 {
			out = append(out, i)
		}
	}
	return out
}

// waitsOf returns the times that completed requests waited before an engine first worked on them, by tenant.
func waitsOf(r *sim.Result) map[string][]float64 {
	out := map[string][]float64{}
	for i := range r.Outcomes {
		if o := &r.Outcomes[i]; o.Status == sim.Completed {
			name := r.Trace.Strings[r.Trace.Tenant[o.Row]]
			out[name] = append(out[name], (o.Scheduled - o.Arrived).Seconds())
		}
	}
	return out
}

// tenant returns the tenant of that name, nil if there is none.
func tenant(all []sim.TenantSummary, name string) *sim.TenantSummary {
	for i := range all {
		if all[i].Name == name {
			return &all[i]
		}
	}
	return nil
}

// tokensOf sums up the tenants' tokens.
func tokensOf(all []sim.TenantSummary) float64 {
	n := int64(0)
	for i := range all {
		n += all[i].Tokens()
	}
	return float64(n)
}
