package tune

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/seed-2cee110a/triage/policies"
)

// Axis is a knob and the values to try, each in the policy's canonical form.
type Axis struct {
	Knob    string
	Values  []string
	Numbers []float64 // the values as numbers, durations in seconds; nil if they are words
}

// ParseAxis reads KNOB=VALUES for a policy. VALUES is a list such as 0,1,2 or spill,off, or log:A..B:N or lin:A..B:N.
func ParseAxis(base policies.Spec, text string) (Axis, error) {
	knob, values, ok := strings.Cut(text, "=")
	if !ok || knob == "" {
		return Axis{}, fmt.Errorf("grid %q: want KNOB=VALUES, such as q=0,1,3 or q=log:0.1..10:7", text)
	}
	a, err := parseValues(base, knob, values)
	if err != nil {
		return Axis{}, fmt.Errorf("grid %q: %w", text, err)
	}
	return a, nil
}

func parseValues(base policies.Spec, knob, text string) (Axis, error) {
	kind, r, ok := strings.Cut(text, ":")
	if ok && (kind == "log" || kind == "lin") {
		if err := known(base, knob); err != nil {
			return Axis{}, err
		}
		values, err := expand(base, knob, kind, r)
		if err != nil {
			return Axis{}, err
		}
		return newAxis(base, knob, values)
	}
	if text == "" {
		return newAxis(base, knob, nil)
	}
	return newAxis(base, knob, strings.Split(text, ","))
}

// newAxis checks the values against the policy.
func newAxis(base policies.Spec, knob string, values []string) (Axis, error) {
	a := Axis{Knob: knob}
	if err := known(base, knob); err != nil {
		return a, err
	}
	if len(values) == 0 {
		return a, fmt.Errorf("%s has no values, want at least one", knob)
	}
	for i, text := range values {
		if text = strings.TrimSpace(text); text == "" {
			return a, fmt.Errorf("value %d of %s is empty", i+1, knob)
		}
		v, err := canonical(base.Name, knob, text)
		if err != nil {
			return a, err
		}
		if slices.Contains(a.Values, v) {
			return a, fmt.Errorf("%s has the value %s twice", knob, v)
		}
		a.Values = append(a.Values, v)
	}
	a.Numbers = numbers(a.Values)
	return a, nil
}

// known returns an error for a knob that the policy does not have.
func known(base policies.Spec, knob string) error {
	if base.Knob(knob) != "" {
		return nil
	}
	_, err := policies.Parse(base.Name + ":" + knob + "=?")
	return inner(err)
}

// canonical returns the value as the policy prints it, or why the knob refuses it.
func canonical(policy, knob, value string) (string, error) {
	if strings.Contains(value, ",") {
		return "", fmt.Errorf("%s is %q, want one value", knob, value)
	}
	s, err := policies.Parse(policy + ":" + knob + "=" + value)
	if err != nil {
		return "", inner(err)
	}
	return s.Knob(knob), nil
}

// inner drops the policy's text from an error about one of its knobs.
func inner(err error) error {
	if e := errors.Unwrap(err); e != nil {
		return e
	}
	return err
}

// numbers returns the values as numbers if every one of them is.
func numbers(values []string) []float64 {
	out := make([]float64, len(values))
	for i, text := range values {
		x, _, err := number(text)
		if err != nil {
			return nil
		}
		out[i] = x
	}
	return out
}

// number reads a number, or a duration as seconds.
func number(text string) (x float64, duration bool, err error) {
	if x, err = strconv.ParseFloat(text, 64); err == nil && !math.IsInf(x, 0) && !math.IsNaN(x) {
		return x, false, nil
	}
	d, err := time.ParseDuration(text)
	return d.Seconds(), true, err
}
