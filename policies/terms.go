package policies

// candidate is a replica under consideration for a request, with what the terms look at.
type candidate struct {
	config     *ScoreConfig
	request    *Request
	replica    *Replica
	local      *Local
	have       Field   // signals that may be used: none of a stale replica read as unknown
	hit, held  int32   // belief, after the caps
	need       int64   // KV tokens
	fits       bool    // need fits with margin, or nobody can say
	prompt     float64 // prompt tokens, at least 1
	whole      int64   // prompt + expected output tokens
	ttft, tpot float64 // means over the candidates, seconds; 0 if unknown or not asked for
}

// affinity is the share of the prompt believed cached, 0..1.
func affinity(c *candidate) float64 { return float64(c.hit) / c.prompt }

// queue is the work ahead of the request. NormWork: uncached prompt tokens ahead of it in the router's own book /
// its own prompt tokens, unbounded. NormAbsolute: requests waiting / cap, at most 1.
func queue(c *candidate) float64 {
	if c.config.Norm == NormWork {
		return float64(c.local.UncachedPrefill) / c.prompt
	}
	return min(1, float64(waiting(c))/c.config.QueueCap)
}

// waiting is the engine's queue as last told plus what was sent since. Where the engine has not told, every request
// in flight may be waiting.
func waiting(c *candidate) int32 {
	if c.have&HasWaiting == 0 {
		return c.local.InFlight
	}
	if c.config.Sent {
		return c.replica.Signals.Waiting + c.local.SentSinceSample
	}
	return c.replica.Signals.Waiting
}

// kvPressure is 0 if the request fits with margin and 1 if not.
func kvPressure(c *candidate) float64 {
	if c.fits {
		return 0
	}
	return 1
}

// adapterMiss is 0 if the adapter is hot or none is needed, else 1.
func adapterMiss(c *candidate) float64 {
	if c.request.Adapter == 0 {
		return 0
	}
	for _, a := range c.replica.Adapters {
		if a == c.request.Adapter {
			return 0
		}
	}
	return 1
}

// load is the number of requests in flight: the router's own, and those of the engine's last sample that were not its
// own. With sent=off it is the sample alone, as for a router that keeps no book.
func load(c *candidate) float64 {
	own := c.local.InFlight
	if c.have&(HasWaiting|HasRunning) == 0 {
		return float64(own)
	}
	var sampled int32
	if c.have&HasWaiting != 0 {
		sampled += c.replica.Signals.Waiting
	}
	if c.have&HasRunning != 0 {
		sampled += c.replica.Signals.Running
	}
	if !c.config.Sent {
		return float64(sampled)
	}
	return float64(own + max(0, sampled-c.local.InSample))
}

// tokens is the share of the KV capacity that the own requests in flight will hold; 0 if the capacity is unknown. It
// can exceed 1.
func tokens(c *candidate) float64 {
	if c.have&HasKVTokens == 0 || c.replica.Signals.KVTokens <= 0 {
		return 0
	}
	return float64(c.local.HeldTokens) / float64(c.replica.Signals.KVTokens)
}

// ttft is how much slower than the candidates' mean the replica answers, -1..1.
func ttft(c *candidate) float64 { return excess(c.local.TTFT, c.ttft) }

// tpot is how much slower than the candidates' mean the replica decodes, -1..1.
func tpot(c *candidate) float64 { return excess(c.local.TPOT, c.tpot) }

// excess is x/mean - 1 within -1..1, and neutral if either is unknown.
func excess(x, mean float64) float64 {
	if x <= 0 || mean <= 0 {
		return 0
	}
	return max(-1, min(1, x/mean-1))
}
