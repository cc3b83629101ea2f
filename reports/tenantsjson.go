package reports

// tenantJSON is what became of one tenant's requests.
type tenantJSON struct {
	Tenant       string        `json:"tenant"`
	Requests     int           `json:"requests"`
	Completed    int           `json:"completed"`
	Rejected     rejectedJSON  `json:"rejected"`
	PromptTokens int64         `json:"prompt_tokens"`
	OutputTokens int64         `json:"output_tokens"`
	TTFT         quantilesJSON `json:"ttft_s"`
	Held         int           `json:"held"`
	Wait         quantilesJSON `json:"gateway_wait_s"`
}

func tenants(r *Run) []tenantJSON {
	var out []tenantJSON
	for i := range r.Tenants {
		t := &r.Tenants[i]
		out = append(out, tenantJSON{t.Name, t.Requests, t.Completed, rejectedJSON{t.Rejected, reasons(t.RejectedBy)}, t.PromptTokens,
			t.OutputTokens, quantiles(t.TTFT), t.Held, quantiles(t.GatewayWait)})
	}
	return out
}

func gatewayOf(r *Run) heldJSON {
	out := heldJSON{Held: r.Held, Wait: quantiles(r.GatewayWait)}
	if r.RetryAfter.N > 0 {
		q := quantiles(r.RetryAfter)
		out.Retry = &q
	}
	return out
}

// perfectJSON is the run beside one with live signals and one router.
type perfectJSON struct {
	TTFT      quantilesJSON `json:"ttft_s"`
	HitRatio  number        `json:"hit_ratio"`
	Imbalance number        `json:"imbalance"`
}

func perfect(r *Run) *perfectJSON {
	p := r.beside(PerfectSignals)
	if p == nil {
		return nil
	}
	return &perfectJSON{quantiles(p.TTFT), number(p.HitRatio), number(p.Imbalance)}
}
