package sim

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/seed-2cee110a/triage/policies"
)

// withTenants gives the rows of a hand-made result tenants, as indices into Strings.
func withTenants(r *Result, tenant ...int32) *Result {
	t := *r.Trace
	t.Tenant, t.Strings = tenant, []string{"", "big", "small"}
	r.Trace = &t
	return r
}

func TestTenants(t *testing.T) {
	one := func(n int, x float64) Quantiles {
		return Quantiles{N: n, Mean: x, P50: x, P90: x, P95: x, P99: x, Max: x}
	}
	r := withTenants(handMade(t), 2, 2, 1, 1, 1)
	r.Outcomes[4].Reason, r.RetryAfter = RateLimited, map[int32]time.Duration{4: 1500 * time.Millisecond}
	want := []TenantSummary{
		{Name: "big", Requests: 3, Completed: 1, Rejected: 2, PromptTokens: 300, OutputTokens: 5, TTFT: one(1, 5), Held: 1, GatewayWait: one(1, 7)},
		{Name: "small", Requests: 2, Completed: 2, PromptTokens: 200, OutputTokens: 12,
			TTFT: Quantiles{N: 2, Mean: 2, P50: 1, P90: 3, P95: 3, P99: 3, Max: 3}, Held: 1, GatewayWait: one(1, 1)},
	}
	want[0].RejectedBy[Deadline], want[0].RejectedBy[RateLimited] = 1, 1
	s := r.Summary()
	if diff := cmp.Diff(want, s.Tenants, cmpopts.EquateNaNs()); diff != "" {
		t.Errorf("tenants (-want +got):\n%s", diff)
	}
	if s.RetryAfter != one(1, 1.5) {
		t.Errorf("retry after %+v, want one of 1.5 s", s.RetryAfter)
	}
	if got := withTenants(handMade(t), 0, 0, 0, 0, 0).Tenants(); got != nil {
		t.Errorf("a trace without tenants has %+v, want none", got)
	}
}

// Tenants add up to the run, and who is refused for a rate is told when to come again, in the summary as in the outcomes.
func TestTenantsOfALimitedRun(t *testing.T) {
	tr := generated(t, "rag", 800)
	cfg := clusterC()
	cfg.Gateway.Limits = []TenantLimit{{Tenant: "*", RateLimit: policies.RateLimit{Rate: 20_000, Burst: 60_000}}}
	r, err := Run(cfg, spec(t, "score"), tr)
	if err != nil {
		t.Fatal(err)
	}
	s := r.Summary()
	var sum TenantSummary
	for _, x := range s.Tenants {
		sum.Requests, sum.Completed, sum.Rejected, sum.Held = sum.Requests+x.Requests, sum.Completed+x.Completed, sum.Rejected+x.Rejected, sum.Held+x.Held
	}
	if len(s.Tenants) < 2 || sum.Requests != s.Requests || sum.Completed != s.Completed || sum.Rejected != s.Rejected || sum.Held != s.Held {
		t.Errorf("%d tenants sum up to %+v, the run has %d requests, %d completed, %d rejected, %d held", len(s.Tenants), sum, s.Requests,
			s.Completed, s.Rejected, s.Held)
	}
	told := 0
	for o := range r.Joined() {
		if limited := o.Reason == RateLimited.String(); limited != (o.RetryAfterS > 0) {
			t.Fatalf("row %d: reason %q, told to come again after %v s", o.Row, o.Reason, o.RetryAfterS)
		} else if limited {
			told++
		}
	}
	if told == 0 || told != s.RejectedBy[RateLimited] || s.RetryAfter.N != told {
		t.Errorf("%d requests were told when to come again, of %d refused; the summary has %+v", told, s.RejectedBy[RateLimited], s.RetryAfter)
	}
}
