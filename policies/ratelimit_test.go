package policies

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

// By hand: 100 tokens a second, 200 at once.
func TestLimiter(t *testing.T) {
	l := NewLimiter(func(tenant ID) RateLimit {
		if tenant == 1 {
			return RateLimit{Rate: 100, Burst: 200}
		}
		return RateLimit{}
	})
	for _, tc := range []struct {
		at     time.Duration
		tenant ID
		prompt int32
		after  time.Duration
		ok     bool
	}{
		{0, 1, 150, 0, true},                          // 50 left
		{0, 1, 60, 100 * time.Millisecond, false},     // 10 are missing
		{100 * time.Millisecond, 1, 60, 0, true},      // exactly
		{100 * time.Millisecond, 2, 1 << 30, 0, true}, // no limit
		{2100 * time.Millisecond, 1, 5000, 0, true},   // a full bucket is enough; 4800 in debt
		{2100 * time.Millisecond, 1, 1, 48010 * time.Millisecond, false},
	} {
		if after, ok := l.Admit(tc.at, tc.tenant, tc.prompt); after != tc.after || ok != tc.ok {
			t.Errorf("at %v tenant %d, %d tokens: %v, %v, want %v, %v", tc.at, tc.tenant, tc.prompt, after, ok, tc.after, tc.ok)
		}
	}
	l.Charge(2100*time.Millisecond, 1, 100)
	if after, _ := l.Admit(2100*time.Millisecond, 1, 1); after != 49010*time.Millisecond {
		t.Errorf("after 100 generated tokens more it is %v, want 49.01 s", after)
	}
}

// What is admitted never exceeds the burst, the rate over the time and one prompt; and who comes back after the time that
// it was told is admitted.
func TestLimiterLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limit := RateLimit{Rate: rapid.Float64Range(1, 1e6).Draw(t, "rate"), Burst: rapid.Float64Range(1, 1e6).Draw(t, "burst")}
		l := NewLimiter(func(ID) RateLimit { return limit })
		var now time.Duration
		var admitted float64
		for range 50 {
			now += time.Duration(rapid.Int64Range(0, 1e9).Draw(t, "gap"))
			prompt := rapid.Int32Range(1, 1e6).Draw(t, "prompt")
			after, ok := l.Admit(now, 1, prompt)
			if !ok {
				now += after
				if _, ok := l.Admit(now, 1, prompt); !ok {
					t.Fatalf("not admitted at the time that was told")
				}
			}
			if admitted += float64(prompt); admitted > (limit.Burst+float64(prompt)+limit.Rate*now.Seconds())*(1+1e-9)+1 {
				t.Fatalf("%v tokens admitted after %v with %+v", admitted, now, limit)
			}
		}
	})
}
