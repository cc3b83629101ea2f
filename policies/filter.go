package policies

// consider turns c into the candidate i and says what stops it, or passed. The filters come in a fixed order: model,
// capability, cordon, staleness, KV room.
func (s *Score) consider(v *View, i int) Reason {
	c := &s.c
	rep := &v.Replicas[i]
	if reason := capable(c.request, rep); reason != passed {
		return reason
	}
	c.replica, c.local = rep, &v.Local[i]
	if !s.trust(v, &rep.Signals) {
		return Stale
	}
	c.hit, c.held = 0, 0
	if i < len(v.Hits) {
		c.hit = max(0, min(v.Hits[i].Tokens, s.limit))
		c.held = max(0, min(v.Hits[i].Held, c.hit))
	}
	if c.held != s.needHeld || rep.Signals.BlockSize != s.needBlock {
		s.needHeld, s.needBlock = c.held, rep.Signals.BlockSize
		s.need = need(c)
	}
	c.need = s.need
	c.fits = fits(c)
	if s.config.Fit == FitSpill && !c.fits {
		return NoRoom
	}
	return passed
}

// trust sets the signals that may be used. It is false if they are too old, or lack a number that the configuration
// looks at, and that is to be read as full.
func (s *Score) trust(v *View, sig *Signals) bool {
	s.c.have = sig.Have
	old := s.config.Stale > 0 && v.Now-sig.SampledAt > s.config.Stale
	switch s.config.StaleAs {
	case StaleFull:
		return !old && sig.Have&s.wants == s.wants
	case StaleUnknown:
		if old {
			s.c.have = 0
		}
	}
	return true
}

// need is the KV tokens that the request takes beyond those known to be held: what is to be computed, the expected
// output, and hits that only lie in the cache, since reviving them takes free blocks. It is rounded up to blocks.
func need(c *candidate) int64 {
	n := c.whole - int64(c.held)
	if b := int64(c.replica.Signals.BlockSize); b > 0 {
		n = (n + b - 1) / b * b
	}
	return n
}

// fits tells whether the need fits into what was free at the sample, less what was sent since and the margin. Missing
// is not full: without the signals it fits.
func fits(c *candidate) bool {
	if c.have&hasKV != hasKV {
		return true
	}
	sig := &c.replica.Signals
	total := float64(sig.KVTokens)
	free := total - float64(sig.KVUsed*total) - float64(c.local.SentTokens) - float64(c.config.Margin*total)
	return float64(c.need) <= free
}

const hasKV = HasKVUsed | HasKVTokens
