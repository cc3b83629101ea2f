package policies

// filter fills in the candidates. The filters come in a fixed order: model, capability, cordon, staleness, adapter
// slots, KV room.
func (s *Score) filter(v *View, d *Decision) {
	s.reserve(len(v.Replicas))
	n := 0
	for i := range v.Replicas {
		s.candidates = s.candidates[:n+1]
		if reason := s.consider(v, i, &s.candidates[n]); reason != passed {
			d.Rejected[reason]++
			continue
		}
		n++
	}
	s.candidates = s.candidates[:n]
}

// reserve makes room in the scratch for n candidates.
func (s *Score) reserve(n int) {
	if n <= cap(s.candidates) {
		return
	}
	s.candidates, s.scores = make([]candidate, n), make([]float64, n)
	for _, a := range s.active {
		s.values[a.term] = make([]float64, n)
	}
}

// consider makes c the candidate i and says what stops it, or passed.
func (s *Score) consider(v *View, i int, c *candidate) Reason {
	p, rep := &s.pick, &v.Replicas[i]
	if reason := capable(p.request, rep); reason != passed {
		return reason
	}
	c.index, c.replica, c.local, c.have = int32(i), rep, &v.Local[i], rep.Signals.Have
	if !s.trust(v, c) {
		return Stale
	}
	if p.request.Adapter != 0 && !s.place(v, i, c) {
		return NoAdapterSlot
	}
	c.hit, c.held = 0, 0
	if i < len(v.Hits) {
		c.hit = max(0, min(v.Hits[i].Tokens, p.most))
		c.held = max(0, min(v.Hits[i].Held, c.hit))
		if s.bounded && p.saturated(c.local) {
			c.hit, c.held = 0, 0
		}
	}
	c.need = p.need(c.held, rep.Signals.BlockSize)
	c.fits = fits(&s.config, c)
	if !c.fits && s.stops(c) {
		return NoRoom
	}
	p.best = max(p.best, c.hit)
	return passed
}

// stops tells whether a replica without room is dropped: with FitHold only if it never has enough.
func (s *Score) stops(c *candidate) bool {
	return s.config.Fit == FitSpill || s.config.Fit == FitHold && c.need > c.replica.Signals.KVTokens
}

// trust sets the signals that may be used. It is false if they are too old, or lack a number that the configuration
// looks at, and that is to be read as full.
func (s *Score) trust(v *View, c *candidate) bool {
	old := s.config.Stale > 0 && v.Now-c.replica.Signals.SampledAt > s.config.Stale
	switch s.config.StaleAs {
	case StaleFull:
		return !old && c.have&s.wants == s.wants
	case StaleUnknown:
		if old {
			c.have = 0
		}
	}
	return true
}

// fits tells whether the need fits into what was free at the sample, less what was sent since and the margin. An empty
// replica needs no margin, or a request of nearly its size could go nowhere. Missing is not full: without the signals it
// fits.
func fits(config *ScoreConfig, c *candidate) bool {
	if c.have&hasKV != hasKV {
		return true
	}
	sig := &c.replica.Signals
	total := float64(sig.KVTokens)
	free := total - float64(sig.KVUsed*total) - float64(c.local.SentTokens)
	if sig.KVUsed > 0 || c.local.InFlight > 0 {
		free -= float64(config.Margin * total)
	}
	return float64(c.need) <= free
}

const hasKV = HasKVUsed | HasKVTokens
