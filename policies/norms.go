package policies

// ofWaiting tells whether the normalisation counts the engine's waiting requests.
func (n Norm) ofWaiting() bool { return n == NormAbsolute || n == NormMinMax || n == NormMean }

// queue is what is queued ahead of the request, as the norm says.
func queue(p *pick, cs []candidate, x []float64) {
	switch p.config.Norm {
	case NormWork:
		work(p, cs, x)
		return
	case NormTime:
		untilFirst(p, cs, x)
		return
	}
	for j := range cs {
		x[j] = float64(waiting(p.config, &cs[j]))
	}
	switch p.config.Norm {
	case NormMinMax:
		minMax(x)
	case NormMean:
		aboveMean(x)
	default:
		for j := range x {
			x[j] = min(1, x[j]/p.config.QueueCap)
		}
	}
}

// waiting is the engine's queue as last told plus what was sent since. Where the engine has not told, every request
// in flight may be waiting.
func waiting(config *ScoreConfig, c *candidate) int32 {
	switch {
	case c.have&HasWaiting == 0:
		return c.local.InFlight
	case config.Sent:
		return c.replica.Signals.Waiting + c.local.SentSinceSample
	}
	return c.replica.Signals.Waiting
}

// work is the uncached prompt tokens ahead of the request / its own prompt tokens, unbounded.
func work(p *pick, cs []candidate, x []float64) {
	for j := range cs {
		x[j] = float64(cs[j].local.UncachedPrefill) / p.prompt
	}
	if p.foreign > 0 {
		for j := range cs {
			x[j] += p.others(&cs[j]) / p.prompt
		}
	}
}

// untilFirst is the seconds until the request's first token: the uncached tokens ahead of it and its own, at the rate at
// which the replica prefills. One whose rate is unknown is taken to have the candidates' mean; while all are, the queue
// is 0 everywhere and the other terms decide.
func untilFirst(p *pick, cs []candidate, x []float64) {
	var known mean
	for j := range cs {
		x[j] = p.rate(&cs[j])
		known.add(x[j])
	}
	usual := known.value()
	for j := range cs {
		rate := x[j]
		if rate <= 0 {
			rate = usual
		}
		x[j] = 0
		if rate > 0 {
			own := float64(p.request.PromptTokens - cs[j].hit)
			x[j] = (float64(cs[j].local.UncachedPrefill) + p.others(&cs[j]) + own) / rate
		}
	}
}

// rate is the uncached tokens a second that the replica prefills, 0 if unknown.
func (p *pick) rate(c *candidate) float64 {
	if p.config.Rate > 0 {
		return p.config.Rate
	}
	return float64(c.local.PrefillRate)
}

// minMax maps the least x to 0 and the greatest to 1; all to 0 if they are equal.
func minMax(x []float64) {
	if len(x) == 0 {
		return
	}
	least, most := x[0], x[0]
	for _, v := range x {
		least, most = min(least, v), max(most, v)
	}
	for j, v := range x {
		x[j] = 0
		if most > least {
			x[j] = (v - least) / (most - least)
		}
	}
}

// aboveMean maps x to (x - mean) / max(1, mean). It wants whole numbers, whose sum does not depend on their order.
func aboveMean(x []float64) {
	var sum float64
	for _, v := range x {
		sum += v
	}
	mean := sum / float64(len(x))
	for j, v := range x {
		x[j] = (v - mean) / max(1, mean)
	}
}
