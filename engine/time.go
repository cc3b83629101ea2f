package engine

import (
	"math"
	"time"
)

// Time is an instant since the run began, or a span: an integer count of picoseconds. It reaches 106 days.
type Time int64

const (
	Picosecond  Time = 1
	Nanosecond       = 1000 * Picosecond
	Microsecond      = 1000 * Nanosecond
	Millisecond      = 1000 * Microsecond
	Second           = 1000 * Millisecond

	// Never is later than any instant of a run.
	Never Time = math.MaxInt64
)

// Duration returns t in nanoseconds, rounded towards 0.
func (t Time) Duration() time.Duration { return time.Duration(t / Nanosecond) }

// Seconds returns t in seconds.
func (t Time) Seconds() float64 { return float64(t) / float64(Second) }

// FromDuration returns d in picoseconds. What lies beyond a Time becomes the last before Never, or its negative.
func FromDuration(d time.Duration) Time {
	const most = time.Duration((Never - 1) / Nanosecond)
	return Time(max(-most, min(d, most))) * Nanosecond
}

// fromSeconds rounds s seconds to the nearest picosecond.
func fromSeconds(s float64) Time { return Time(math.Round(float64(s * float64(Second)))) }
