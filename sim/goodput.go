package sim

// Goodput is the share of all requests that completed within both bounds, in seconds: TTFT and mean time per output token.
// A request of one token has no TPOT and meets every bound on it.
func (r *Result) Goodput(ttft, tpot float64) float64 {
	good := 0
	for i := range r.Outcomes {
		o := &r.Outcomes[i]
		if o.Status != Completed || !((o.First - o.Arrived).Seconds() <= ttft) {
			continue
		}
		out := max(1, r.Trace.Output[o.Row])
		if out == 1 || (o.Finished-o.First).Seconds()/float64(out-1) <= tpot {
			good++
		}
	}
	return float64(good) / float64(len(r.Outcomes))
}
