package policies

import (
	"math"
	"time"
)

// RateLimit is how many tokens a tenant may use: Rate a second in the long run, Burst at once. Rate 0 is no limit.
type RateLimit struct {
	Rate  float64 // prompt and generated tokens a second
	Burst float64 // tokens, more than 0
}

// Limiter keeps a bucket of tokens a tenant. Prompt tokens are paid for as the request is admitted; generated ones, that
// nobody knows before, when they are there, so that a bucket can be in debt. It has no clock.
type Limiter struct {
	limit   func(tenant ID) RateLimit
	buckets map[ID]*tokenBucket
}

// slack is less than any token, and more than rounding does to who comes back at the time that was told.
const slack = 1e-3

// tokenBucket is full when it is made.
type tokenBucket struct {
	RateLimit
	level float64 // tokens
	at    time.Duration
}

// NewLimiter returns a limiter with full buckets; limit says what each tenant may use.
func NewLimiter(limit func(tenant ID) RateLimit) *Limiter {
	return &Limiter{limit: limit, buckets: map[ID]*tokenBucket{}}
}

// Admit takes a request's prompt tokens out of its tenant's bucket, or says after how long it may be tried again. A prompt
// larger than the burst waits for a full bucket.
func (l *Limiter) Admit(now time.Duration, tenant ID, prompt int32) (retryAfter time.Duration, ok bool) {
	b := l.bucket(now, tenant)
	if b.Rate == 0 {
		return 0, true
	}
	if missing := min(float64(prompt), b.Burst) - b.level; missing > slack {
		return time.Duration(math.Ceil(missing / b.Rate * 1e9)), false
	}
	b.level -= float64(prompt)
	return 0, true
}

// Charge takes tokens that were generated out of the tenant's bucket.
func (l *Limiter) Charge(now time.Duration, tenant ID, generated int32) {
	if b := l.bucket(now, tenant); b.Rate > 0 {
		b.level -= float64(generated)
	}
}

// bucket returns a tenant's bucket as it is at now.
func (l *Limiter) bucket(now time.Duration, tenant ID) *tokenBucket {
	b := l.buckets[tenant]
	if b == nil {
		limit := l.limit(tenant)
		b = &tokenBucket{RateLimit: limit, level: limit.Burst, at: now}
		l.buckets[tenant] = b
	}
	if now > b.at {
		b.level = min(b.Burst, b.level+float64(b.Rate*(now-b.at).Seconds()))
		b.at = now
	}
	return b
}
