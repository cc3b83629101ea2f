package tune

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/seed-2cee110a/triage/policies"
)

// scale is A..B:N, values evenly spaced, or evenly in their logarithm.
type scale struct {
	from, to float64
	n        int
	log      bool
	seconds  bool // the bounds are durations
}

// expand writes out log:A..B:N and lin:A..B:N; both bounds are among the values.
func expand(base policies.Spec, knob, kind, text string) ([]string, error) {
	s, err := parseScale(kind, text)
	if err != nil {
		return nil, fmt.Errorf("%s:%s: %w", kind, text, err)
	}
	values := make([]string, s.n)
	for i := range values {
		values[i] = s.text(base.Name, knob, s.at(i))
	}
	return values, nil
}

func parseScale(kind, text string) (scale, error) {
	s := scale{log: kind == "log"}
	bounds, n, ok := strings.Cut(text, ":")
	from, to, ok2 := strings.Cut(bounds, "..")
	if !ok || !ok2 {
		return s, fmt.Errorf("want %s:FROM..TO:N, such as %s:0.1..10:7", kind, kind)
	}
	var err error
	if s.n, err = strconv.Atoi(n); err != nil || s.n < 2 || s.n > MaxPoints {
		return s, fmt.Errorf("%q values, want 2 to %d", n, MaxPoints)
	}
	var other bool
	if s.from, s.seconds, err = number(from); err != nil {
		return s, fmt.Errorf("it starts at %q, want a number", from)
	}
	if s.to, other, err = number(to); err != nil {
		return s, fmt.Errorf("it ends at %q, want a number", to)
	}
	switch {
	case s.seconds != other:
		return s, errors.New("one bound is a duration and one is not")
	case !(s.from < s.to):
		return s, fmt.Errorf("it goes from %s to %s, want the smaller first", from, to)
	case s.log && s.from <= 0:
		return s, fmt.Errorf("it starts at %s, want more than 0 for log", from)
	}
	return s, nil
}

// at returns value i, 0 <= i < n.
func (s scale) at(i int) float64 {
	share := float64(i) / float64(s.n-1)
	switch {
	case i == 0:
		return s.from
	case i == s.n-1:
		return s.to
	case s.log:
		return s.from * math.Pow(s.to/s.from, share)
	}
	return s.from + float64((s.to-s.from)*share)
}

// text writes a value with at most six digits, as a whole number where the knob takes no other.
func (s scale) text(policy, knob string, x float64) string {
	if s.seconds {
		return time.Duration(math.Round(x * 1e9)).Round(time.Millisecond).String()
	}
	text := strconv.FormatFloat(x, 'g', 6, 64)
	if _, err := canonical(policy, knob, text); err != nil {
		whole := strconv.FormatFloat(math.Round(x), 'f', 0, 64)
		if _, err := canonical(policy, knob, whole); err == nil {
			return whole
		}
	}
	return text
}
