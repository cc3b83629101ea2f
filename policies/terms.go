package policies

// candidate is a replica that passed the filters, with what the terms look at.
type candidate struct {
	replica   *Replica
	local     *Local
	need      int64 // KV tokens
	index     int32 // in the View
	hit, held int32 // belief, after the caps
	have      Field // signals that may be used: none of a stale replica read as unknown
	fits      bool  // need fits with margin, or nobody can say
	hot       bool  // the request has an adapter and the replica has it, or will by requests in flight
}

// affinity is the share of the prompt believed cached, 0..1.
func affinity(p *pick, cs []candidate, x []float64) {
	for j := range cs {
		x[j] = float64(cs[j].hit) / p.prompt
	}
}

// kvPressure is 0 if the request fits with margin and 1 if not.
func kvPressure(_ *pick, cs []candidate, x []float64) {
	for j := range cs {
		x[j] = 1
		if cs[j].fits {
			x[j] = 0
		}
	}
}

// adapterMiss is 0 if the adapter is hot or none is needed, else 1.
func adapterMiss(p *pick, cs []candidate, x []float64) {
	for j := range cs {
		x[j] = 0
		if p.request.Adapter != 0 && !cs[j].hot {
			x[j] = 1
		}
	}
}

// load is the number of requests in flight: the router's own, and those of the engine's last sample that were not its
// own. With sent=off it is the sample alone, as for a router that keeps no book.
func load(p *pick, cs []candidate, x []float64) {
	for j := range cs {
		x[j] = float64(inFlight(p.config, &cs[j]))
	}
}

func inFlight(config *ScoreConfig, c *candidate) int32 {
	own := c.local.InFlight
	if c.have&(HasWaiting|HasRunning) == 0 {
		return own
	}
	var sampled int32
	if c.have&HasWaiting != 0 {
		sampled += c.replica.Signals.Waiting
	}
	if c.have&HasRunning != 0 {
		sampled += c.replica.Signals.Running
	}
	if !config.Sent {
		return sampled
	}
	return own + max(0, sampled-c.local.InSample)
}

// tokens is the share of the KV capacity that the own requests in flight will hold; 0 if the capacity is unknown. It
// can exceed 1.
func tokens(_ *pick, cs []candidate, x []float64) {
	for j := range cs {
		c := &cs[j]
		x[j] = 0
		if c.have&HasKVTokens != 0 && c.replica.Signals.KVTokens > 0 {
			x[j] = float64(c.local.HeldTokens) / float64(c.replica.Signals.KVTokens)
		}
	}
}

// ttft is how much slower than the candidates' mean the replica answers, -1..1.
func ttft(_ *pick, cs []candidate, x []float64) {
	for j := range cs {
		x[j] = cs[j].local.TTFT
	}
	excess(x)
}

// tpot is how much slower than the candidates' mean the replica decodes, -1..1.
func tpot(_ *pick, cs []candidate, x []float64) {
	for j := range cs {
		x[j] = cs[j].local.TPOT
	}
	excess(x)
}

// excess turns each x into x/mean - 1 within -1..1, and into 0, neutral, if it is unknown. The mean is over those known.
func excess(x []float64) {
	var m mean
	for _, v := range x {
		m.add(v)
	}
	all := m.value()
	for j, v := range x {
		x[j] = 0
		if v > 0 && all > 0 {
			x[j] = max(-1, min(1, v/all-1))
		}
	}
}
