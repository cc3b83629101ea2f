package policies

// meet works out what a waiting request of another router stands for: the mean of the uncached tokens of the own requests
// that wait for their first token, or this prompt if none does.
func (p *pick) meet(v *View) {
	var tokens, requests int64
	for i := range v.Local {
		tokens += v.Local[i].UncachedPrefill
		requests += int64(v.Local[i].Pending)
	}
	p.foreign = p.prompt
	if requests > 0 {
		p.foreign = float64(tokens) / float64(requests)
	}
}

// others is the work, in tokens, that other routers have queued at the replica: the requests that wait there by its last
// sample and that the own book does not know of, each the size of an own one. The own that the sample counts as running
// while they prefill are taken to wait, so that it errs low.
func (p *pick) others(c *candidate) float64 {
	if p.foreign == 0 || c.have&HasWaiting == 0 {
		return 0
	}
	return float64(float64(max(0, c.replica.Signals.Waiting-c.local.WaitingInSample)) * p.foreign)
}
