package main

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"time"

	"github.com/seed-2cee110a/triage/engine"
	"github.com/seed-2cee110a/triage/sim"
)

// count is a flag for a whole number that may be written as 1e9.
type count[T int | int32 | int64 | uint64] struct{ p *T }

func (c count[T]) String() string { return fmt.Sprint(*c.p) }
func (c count[T]) Type() string   { return "N" }

func (c count[T]) Set(text string) error {
	f, _, err := big.ParseFloat(text, 10, enough, big.ToNearestEven)
	if err != nil || !f.IsInt() || f.Sign() < 0 {
		return errors.New("want a whole number of at least 0, such as 8 or 1e9")
	}
	v, exact := f.Uint64()
	if exact != big.Exact || v > largest[T]() {
		return fmt.Errorf("want at most %d", largest[T]())
	}
	*c.p = T(v)
	return nil
}

// enough is a precision at which every number that fits a count is exact, bits.
const enough = 128

// largest returns the largest number that T holds.
func largest[T int | int32 | int64 | uint64]() uint64 {
	switch any(T(0)).(type) {
	case int:
		return math.MaxInt
	case int32:
		return math.MaxInt32
	case int64:
		return math.MaxInt64
	}
	return math.MaxUint64
}

// bounded is a count between bounds, both included.
type bounded struct {
	count[int]
	least, most int
}

func (b bounded) Set(text string) error {
	old := *b.p
	if err := b.count.Set(text); err != nil {
		return err
	}
	if v := *b.p; v < b.least || v > b.most {
		*b.p = old
		return fmt.Errorf("want %d to %d", b.least, b.most)
	}
	return nil
}

// path is a flag for the name of a file or folder.
type path struct{ p *string }

func (p path) String() string { return *p.p }
func (p path) Type() string   { return "string" }

func (p path) Set(text string) error {
	if text == "" {
		return errors.New("want a name")
	}
	*p.p = text
	return nil
}

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
	if v, err := strconv.ParseFloat(text, 64); err == nil && v >= 0 && !math.IsInf(v, 0) {
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

func (s signals) Type() string { return "live|scrape=DUR|push=DUR" }

func (s signals) String() string { return s.p.String() }

func (s signals) Set(text string) error {
	v, err := sim.ParseSignals(text)
	if err == nil {
		*s.p = v
		return nil
	}
	word, rest, _ := strings.Cut(text, "=")
	if near := nearest(word, []string{"live", "scrape", "push"}); near != "" && near != word {
		return fmt.Errorf("want live, scrape=DUR or push=DUR, such as scrape=5s; did you mean %q?", strings.TrimSuffix(near+"="+rest, "="))
	}
	return err
}
