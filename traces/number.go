package traces

import (
	"bytes"
	"errors"
	"math"
	"strconv"
)

var (
	errNumber = errors.New("not a number")
	errWhole  = errors.New("not a whole number")
	errRange  = errors.New("out of range")
)

// decimal reads a decimal number times 10 to the scale, exactly: a float64 would lose nanoseconds of an epoch time.
// What is smaller than 1 then is rounded to the nearest, or refused if the scale is 0.
func decimal(s []byte, scale int) (int64, error) {
	if v, ok := digits(s); ok && scale == 0 {
		return v, nil
	}
	neg := len(s) > 0 && s[0] == '-'
	if neg {
		s = s[1:]
	}
	s, exp, err := exponent(s)
	if err != nil {
		return 0, err
	}
	v, frac, cut, err := mantissa(s)
	if err != nil {
		return 0, err
	}
	if scale+exp == frac && cut >= '5' { // with more places the half is rounded up as it is
		v++
	}
	v, exact, err := shift10(v, scale+exp-frac)
	if err != nil {
		return 0, err
	}
	if scale == 0 && (cut != 0 || !exact) {
		return 0, errWhole
	}
	if neg {
		v = -v
	}
	return v, nil
}

// mantissa reads digits with at most one point. frac of them are behind it. Those that did not fit are left out: cut is the
// first of them, at least '1' if any of them is not 0, and 0 if all fit or are 0.
func mantissa(s []byte) (v int64, frac int, cut byte, err error) {
	whole, part, _ := bytes.Cut(s, []byte{'.'})
	if len(whole)+len(part) == 0 {
		return 0, 0, 0, errNumber
	}
	first := true
	for i, c := range append(whole[:len(whole):len(whole)], part...) {
		behind := i >= len(whole)
		switch {
		case c < '0' || c > '9':
			return 0, 0, 0, errNumber
		case v > (math.MaxInt64-9)/10 && behind:
			switch {
			case first && c != '0':
				cut = c
			case cut == 0 && c != '0':
				cut = '1'
			}
			first = false
			continue
		case v > (math.MaxInt64-9)/10:
			return 0, 0, 0, errRange
		}
		v = v*10 + int64(c-'0')
		if behind {
			frac++
		}
	}
	return v, frac, cut, nil
}

// shift10 returns v times 10 to the n, rounded to the nearest.
func shift10(v int64, n int) (_ int64, exact bool, _ error) {
	for ; n > 0 && v > 0; n-- {
		if v > math.MaxInt64/10 {
			return 0, false, errRange
		}
		v *= 10
	}
	exact = true
	last := int64(0)
	for ; n < 0 && v|last > 0; n++ {
		exact = exact && last == 0
		v, last = v/10, v%10
	}
	if last >= 5 {
		v++
	}
	return v, exact && last == 0, nil
}

// exponent cuts an exponent off a number.
func exponent(s []byte) ([]byte, int, error) {
	i := bytes.IndexAny(s, "eE")
	if i < 0 {
		return s, 0, nil
	}
	exp, err := strconv.Atoi(string(s[i+1:]))
	if err != nil {
		return nil, 0, errNumber
	}
	return s[:i], max(-1000, min(exp, 1000)), nil
}

// digits reads up to 18 digits and nothing else.
func digits(s []byte) (int64, bool) {
	if len(s) == 0 || len(s) > 18 {
		return 0, false
	}
	v := int64(0)
	for _, c := range s {
		if c < '0' || c > '9' {
			return 0, false
		}
		v = v*10 + int64(c-'0')
	}
	return v, true
}
