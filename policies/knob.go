package policies

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Knob is a setting of a policy.
type Knob struct {
	Name    string
	Doc     string // what it does, one line
	Default string
	Values  string // what it takes: "0..1", "work|absolute", "a duration, at least 0s"
}

// KnobValue is a knob and the value in force.
type KnobValue struct{ Name, Value string }

// field binds a knob to a field of the configuration C. at returns a *float64, *int, *uint64, *time.Duration, *bool
// (on or off) or *string (one of names).
type field[C any] struct {
	name, doc string
	at        func(*C) any
	min, max  float64  // of numbers; max 0 is no bound
	names     []string // of a *string
}

// knob describes the field; the default is what it holds in c.
func (f *field[C]) knob(c C) Knob {
	return Knob{Name: f.name, Doc: f.doc, Default: show(f.at(&c)), Values: f.values(f.at(&c))}
}

// values says what the knob takes.
func (f *field[C]) values(at any) string {
	switch at.(type) {
	case *time.Duration:
		return "a duration, at least 0s"
	case *bool:
		return "on|off"
	case *string:
		return strings.Join(f.names, "|")
	case *uint64:
		return "a whole number, at least 0"
	}
	if f.max > 0 {
		return strings.Replace(fmt.Sprintf("%v..%v", f.min, f.max), "e+0", "e", 1) // 1e9
	}
	return fmt.Sprintf("a number, at least %v", f.min)
}

// set parses text into the field of c.
func (f *field[C]) set(c *C, text string) error {
	at := f.at(c)
	if !f.parse(at, text) {
		return fmt.Errorf("%s is %q, want %s", f.name, text, f.values(at))
	}
	return nil
}

func (f *field[C]) parse(at any, text string) (ok bool) {
	var err error
	switch at := at.(type) {
	case *float64:
		*at, err = parseNumber(text)
		return err == nil && f.inRange(*at)
	case *int:
		x, err := parseNumber(text)
		*at = int(x)
		return err == nil && f.inRange(x) && x == math.Trunc(x) && x <= math.MaxInt32
	case *uint64:
		*at, err = strconv.ParseUint(text, 10, 64)
		return err == nil
	case *time.Duration:
		*at, err = time.ParseDuration(text)
		return err == nil && *at >= 0
	case *bool:
		*at = text == "on"
		return text == "on" || text == "off"
	case *string:
		*at = text
		return contains(f.names, text)
	}
	panic(fmt.Sprintf("policies: knob %s has a field of type %T", f.name, at))
}

// parseNumber reads a number, without the underscores of Go.
func parseNumber(text string) (float64, error) {
	if strings.Contains(text, "_") {
		return 0, strconv.ErrSyntax
	}
	return strconv.ParseFloat(text, 64)
}

// inRange refuses NaN and infinities too.
func (f *field[C]) inRange(x float64) bool {
	return x >= f.min && !math.IsInf(x, 1) && (f.max == 0 || x <= f.max)
}

// show writes a field's value in its one canonical form, so that equal values have equal texts.
func show(at any) string {
	switch at := at.(type) {
	case *float64:
		return strconv.FormatFloat(*at+0, 'g', -1, 64)
	case *int:
		return strconv.Itoa(*at)
	case *uint64:
		return strconv.FormatUint(*at, 10)
	case *time.Duration:
		return at.String()
	case *bool:
		if *at {
			return "on"
		}
		return "off"
	case *string:
		return *at
	}
	panic(fmt.Sprintf("policies: no text for a knob of type %T", at))
}

func contains(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}
