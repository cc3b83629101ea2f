package sim

import (
	"cmp"
	"slices"
)

// TenantSummary is what became of one tenant's requests. Times in seconds.
type TenantSummary struct {
	Name         string // as in the trace; "" has the requests that name none
	Requests     int
	Completed    int
	Rejected     int
	RejectedBy   [NumReasons]int
	PromptTokens int64     // of all its requests
	OutputTokens int64     // of those that completed
	TTFT         Quantiles // likewise
	Held         int       // requests that waited at the gateway
	GatewayWait  Quantiles // of those
}

// Tokens is what a tenant counts for: prompt and generated tokens.
func (t *TenantSummary) Tokens() int64 { return t.PromptTokens + t.OutputTokens }

// Tenants computes the numbers by tenant, most tokens first; nil if the trace names no tenant.
func (r *Result) Tenants() []TenantSummary {
	of, names := r.byTenant()
	if len(names) == 0 || len(names) == 1 && names[0] == 0 {
		return nil
	}
	out := make([]TenantSummary, len(names))
	ttft, held := make([][]float64, len(names)), make([][]float64, len(names))
	for i := range r.Outcomes {
		o := &r.Outcomes[i]
		k := of[r.Trace.Tenant[o.Row]]
		out[k].add(r, o)
		if o.Held {
			held[k] = append(held[k], (o.left() - o.Arrived).Seconds())
		}
		if o.Status == Completed {
			ttft[k] = append(ttft[k], (o.First - o.Arrived).Seconds())
		}
	}
	for k, name := range names {
		out[k].Name, out[k].TTFT, out[k].GatewayWait = r.Trace.Strings[name], quantiles(ttft[k]), quantiles(held[k])
	}
	slices.SortFunc(out, func(a, b TenantSummary) int {
		return cmp.Or(cmp.Compare(b.Tokens(), a.Tokens()), cmp.Compare(a.Name, b.Name))
	})
	return out
}

// byTenant numbers the tenants of the requests played in order of appearance: by name, and the names.
func (r *Result) byTenant() (of map[int32]int, names []int32) {
	of = map[int32]int{}
	for i := range r.Outcomes {
		name := r.Trace.Tenant[r.Outcomes[i].Row]
		if _, ok := of[name]; !ok {
			of[name], names = len(names), append(names, name)
		}
	}
	return of, names
}

// add counts a request.
func (t *TenantSummary) add(r *Result, o *Outcome) {
	t.Requests++
	t.PromptTokens += int64(r.Trace.Prompt[o.Row])
	if o.Held {
		t.Held++
	}
	if o.Status != Completed {
		t.Rejected++
		t.RejectedBy[o.Reason]++
		return
	}
	t.Completed++
	t.OutputTokens += int64(max(1, r.Trace.Output[o.Row]))
}

// retryAfter is what the requests that were refused for their tenants' rates were told, seconds.
func (r *Result) retryAfter() Quantiles {
	var told []float64
	for i := range r.Outcomes {
		if after, ok := r.RetryAfter[r.Outcomes[i].Row]; ok {
			told = append(told, after.Seconds())
		}
	}
	return quantiles(told)
}
