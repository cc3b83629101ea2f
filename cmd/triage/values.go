package main

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/seed-2cee110a/triage/engine"
	"github.com/seed-2cee110a/triage/sim"
)

// count is a flag for a whole number that may be written as 1e9.
type count[T int | int64 | uint64] struct{ p *T }

func (c count[T]) String() string { return fmt.Sprint(*c.p) }
func (c count[T]) Type() string   { return "N" }

func (c count[T]) Set(text string) error {
	if v, err := strconv.ParseUint(text, 10, 64); err == nil && fits[T](v) {
		*c.p = T(v)
		return nil
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || v != math.Trunc(v) || v < 0 || v > 1<<53 {
		return errors.New("want a whole number of at least 0, such as 8 or 1e9")
	}
	*c.p = T(v)
	return nil
}

// fits reports whether T holds v; a signed T must not turn it negative.
func fits[T int | int64 | uint64](v uint64) bool { return uint64(T(v)) == v && T(v) >= 0 }

// span is a flag for a duration with a unit.
type span struct {
	get func() time.Duration
	set func(time.Duration)
}

func durationOf(p *time.Duration) span {
	return span{func() time.Duration { return *p }, func(d time.Duration) { *p = d }}
}

func engineTimeOf(p *engine.Time) span {
	return span{func() time.Duration { return p.Duration() }, func(d time.Duration) { *p = engine.FromDuration(d) }}
}

func (s span) String() string { return s.get().String() }
func (s span) Type() string   { return "DUR" }

func (s span) Set(text string) error {
	d, err := parseDuration(text)
	if err == nil {
		s.set(d)
	}
	return err
}

func parseDuration(text string) (time.Duration, error) {
	if _, err := strconv.ParseFloat(text, 64); err == nil {
		return 0, fmt.Errorf("it has no unit, want for example %ss or %sms", text, text)
	}
	d, err := time.ParseDuration(text)
	switch {
	case err != nil:
		return 0, errors.New("want a duration such as 500ms, 30s or 2m")
	case d < 0:
		return 0, errors.New("want a duration of at least 0")
	}
	return d, nil
}

// choice is a flag that takes one of a few words.
type choice[T ~string] struct {
	p    *T
	have []string
}

func (c choice[T]) String() string { return string(*c.p) }
func (c choice[T]) Type() string   { return strings.Join(c.have, "|") }

func (c choice[T]) Set(text string) error {
	for _, h := range c.have {
		if h == text {
			*c.p = T(text)
			return nil
		}
	}
	if near := nearest(text, c.have); near != "" {
		return fmt.Errorf("have %s; did you mean %q?", strings.Join(c.have, ", "), near)
	}
	return fmt.Errorf("have %s", strings.Join(c.have, ", "))
}

// signals is the flag that says how the replicas' numbers reach the router.
type signals struct{ p *sim.Signals }

func (s signals) Type() string { return "live|scrape=DUR" }

func (s signals) String() string { return s.p.String() }

func (s signals) Set(text string) error {
	v, err := sim.ParseSignals(text)
	if err == nil {
		*s.p = v
	}
	return err
}
