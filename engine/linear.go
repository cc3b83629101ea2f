package engine

import "fmt"

// Linear is a cost model that is linear in every part of a step's work, as it can be fitted to a log of a server.
type Linear struct {
	PerStep    Time // every step
	PerToken   Time // every prefill token
	PerContext Time // every prefill token, for every token of its context
	PerDecode  Time // every decoding sequence
	PerKV      Time // every KV token that a decoding sequence reads
}

var _ CostModel = Linear{}

// Step is the sum over the batch.
func (l Linear) Step(b Batch) Time {
	base, slope := l.Decode(b.Decode)
	return base + slope*Time(b.KVTokens) + l.PerToken*Time(b.PrefillTokens) + l.PerContext*Time(b.PrefillContext)
}

// Decode is PerStep and n times PerDecode, and PerKV.
func (l Linear) Decode(n int) (base, slope Time) { return l.PerStep + l.PerDecode*Time(n), l.PerKV }

// Check says what is wrong with l.
func (l Linear) Check() error {
	if l.PerStep < 1 {
		return fmt.Errorf("cost per step is %d ps, want at least 1", l.PerStep)
	}
	if min(l.PerToken, l.PerContext, l.PerDecode, l.PerKV) < 0 {
		return fmt.Errorf("a cost in %+v is negative, want 0 or more", l)
	}
	return nil
}
