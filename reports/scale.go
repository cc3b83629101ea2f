package reports

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// unit is a scale for a column of times.
type unit struct {
	name   string
	factor float64 // of seconds
}

var (
	seconds      = unit{"s", 1}
	milliseconds = unit{"ms", 1e3}
)

// unitFor returns milliseconds if every known value is below one second.
func unitFor(values ...float64) unit {
	for _, v := range values {
		if v >= 1 {
			return seconds
		}
	}
	return milliseconds
}

// cell prints seconds in the unit, "-" if they are unknown.
func (u unit) cell(s float64) string { return significant(s * u.factor) }

// significant prints v with three significant digits, "-" if it is not a number.
func significant(v float64) string {
	switch a := math.Abs(v); {
	case math.IsNaN(v) || math.IsInf(v, 0):
		return "-"
	case a >= 99.95:
		return group(int64(math.Round(v)))
	case a >= 9.995:
		return strconv.FormatFloat(v, 'f', 1, 64)
	case a >= 0.9995 || a == 0:
		return strconv.FormatFloat(v, 'f', 2, 64)
	default:
		return strconv.FormatFloat(v, 'f', 3, 64)
	}
}

// ratio prints a number from 0 to 1, or an imbalance, with two decimals.
func ratio(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return "-"
	}
	return strconv.FormatFloat(v, 'f', 2, 64)
}

// duration prints seconds with the unit that suits them.
func duration(s float64) string {
	u := unitFor(s)
	return u.cell(s) + " " + u.name
}

// change prints a relative change: "-58 %", "+25 %", or "2.2x" from twice on.
func change(v float64) string {
	switch {
	case math.IsNaN(v) || math.IsInf(v, 0):
		return "-"
	case v >= 1:
		return times(v + 1)
	}
	if math.Round(v*100) == 0 {
		return "0 %"
	}
	return fmt.Sprintf("%+.*f %%", decimals(v), v*100)
}

// times prints a factor of at least 1: "2.2x", "45x", "2,324x".
func times(v float64) string {
	if v < 9.95 {
		return strconv.FormatFloat(v, 'f', 1, 64) + "x"
	}
	return group(int64(math.Round(v))) + "x"
}

// decimals keeps "99.9 % less" from reading "100 % less".
func decimals(v float64) int {
	switch left := 1 + v; {
	case left <= 0 || left > 0.015:
		return 0
	case left < 0.00005:
		return 3
	case left < 0.0005:
		return 2
	}
	return 1
}

// percent prints a ratio as a share.
func percent(v float64) string {
	p := v * 100
	switch {
	case math.IsNaN(p):
		return "-"
	case p > 0 && p < 1:
		return "<1 %"
	case p < 100 && p > 99:
		return ">99 %"
	}
	return strconv.FormatFloat(p, 'f', 0, 64) + " %"
}

// group prints an integer with commas between thousands.
func group(n int64) string {
	s := strconv.FormatInt(n, 10)
	sign := ""
	if n < 0 {
		sign, s = "-", s[1:]
	}
	var parts []string
	for len(s) > 3 {
		parts = append([]string{s[len(s)-3:]}, parts...)
		s = s[:len(s)-3]
	}
	return sign + strings.Join(append([]string{s}, parts...), ",")
}

// count prints n of a thing: "1 request", "1,200 requests".
func count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return group(int64(n)) + " " + thing + "s"
}

// known says whether every value is a finite number.
func known(values ...float64) bool {
	for _, v := range values {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return false
		}
	}
	return true
}
