package sim

// Env returns the summary's numbers under the names that objectives and gates use: those of the JSON report without the
// unit, times in seconds, ratios from 0 to 1, every value a float64. It is nested: Env()["ttft"].(map[string]any)["p90"].
// A number that is not known, such as the wait at the gateway of a run that held nothing, is NaN.
func (s Summary) Env() map[string]any {
	rejected := 0.0
	if s.Requests > 0 {
		rejected = float64(s.Rejected) / float64(s.Requests)
	}
	return map[string]any{
		"ttft":                s.TTFT.env(),
		"tpot":                s.TPOT.env(),
		"e2e":                 s.E2E.env(),
		"gateway_wait":        s.GatewayWait.env(),
		"hit_ratio":           s.HitRatio,
		"imbalance":           s.Imbalance,
		"requests":            float64(s.Requests),
		"completed":           float64(s.Completed),
		"rejected":            float64(s.Rejected),
		"rejected_ratio":      rejected,
		"held":                float64(s.Held),
		"preemptions":         float64(s.Preemptions),
		"output_tokens_per_s": s.OutputPerS,
		"requests_per_s":      s.RequestsPerS,
		"makespan":            s.Makespan,
	}
}

func (q Quantiles) env() map[string]any {
	return map[string]any{"mean": q.Mean, "p50": q.P50, "p90": q.P90, "p95": q.P95, "p99": q.P99, "max": q.Max}
}

// EnvNames lists the names of an Env in a fixed order, for messages and documentation. TIME stands for each of ttft,
// tpot, e2e and gateway_wait.
func EnvNames() []string {
	return []string{"TIME.mean", "TIME.p50", "TIME.p90", "TIME.p95", "TIME.p99", "TIME.max",
		"hit_ratio", "imbalance", "requests", "completed", "rejected", "rejected_ratio", "held", "preemptions",
		"output_tokens_per_s", "requests_per_s", "makespan"}
}
