package traces

import (
	"bytes"
	"math/big"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// checkScan holds the fast way to take a line apart to the slow one: what it accepts, encoding/json accepts, and with
// the same result.
func checkScan(t interface{ Fatalf(string, ...any) }, text []byte) (accepted bool) {
	var fast, slow mooncakeRow
	if !fast.scan(text) {
		return false
	}
	if err := slow.decode(text); err != nil {
		t.Fatalf("%q: scan accepts what decode refuses: %v", text, err)
	}
	if !bytes.Equal(fast.timestamp, slow.timestamp) || !bytes.Equal(fast.input, slow.input) ||
		!bytes.Equal(fast.output, slow.output) || !bytes.Equal(fast.block, slow.block) || fast.names != slow.names || len(slow.ignored) > 0 || fast.hasIDs != slow.hasIDs || !slices.Equal(fast.ids, slow.ids) {
		t.Fatalf("%q: scan %+v, decode %+v", text, fast, slow)
	}
	return true
}

// Every line that differs from a good one by one piece, in the place of any byte or before it.
func TestScanAgreesWithDecode(t *testing.T) {
	pieces := []string{
		"", "{", "}", "[", "]", ",", ":", " ", "\t", "\"", "\\", "0", "00", "1", "-", "-0", ".", ".5", "e3", "null",
		"999999999999999999", "9999999999999999999", `"other":1,`, `"timestamp":2,`, `"hash_ids":[3],`, "\x00", "\xff",
	}
	for _, line := range []string{
		`{"timestamp":5,"input_length": 12, "output_length" :0,"hash_ids":[1, 20]}`,
		`{"hash_ids":[],"timestamp":-0.5}`,
		`{"model":"a b", "session_id":"s-1","block_size":64,"tenant":"","adapter":"x"}`,
		`{}`,
	} {
		accepted := 0
		for at := range len(line) {
			for _, p := range pieces {
				for _, text := range []string{line[:at] + p + line[at:], line[:at] + p + line[at+1:]} {
					if checkScan(t, []byte(text)) {
						accepted++
					}
				}
			}
		}
		if line != "{}" && accepted < 10 {
			t.Errorf("scan accepts %d changes of %s: too little was compared", accepted, line)
		}
	}
}

// The usual lines take the fast way.
func TestScanAcceptsTheUsual(t *testing.T) {
	for _, text := range []string{
		`{"timestamp": 0, "input_length": 6758, "output_length": 500, "hash_ids": [0, 1, 2]}`,
		`{"timestamp":4930.25,"input_length":1300,"output_length":340,"hash_ids":[0,1,6]}` + "\r",
		`{"hash_ids":[],"timestamp":1}`,
	} {
		if !checkScan(t, []byte(text)) {
			t.Errorf("%s is left to the slow way", text)
		}
	}
}

// decimal agrees with exact arithmetic on rational numbers.
func TestDecimal(t *testing.T) {
	number := rapid.StringMatching(`-?(0|[1-9][0-9]{0,13})(\.[0-9]{1,24})?([eE][+-]?[0-9])?`)
	rapid.Check(t, func(t *rapid.T) {
		s := number.Draw(t, "number")
		scale := rapid.SampledFrom([]int{0, 6, 9}).Draw(t, "scale")
		want, ok := new(big.Rat).SetString(s)
		if !ok {
			t.Skip()
		}
		want.Mul(want, new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(scale)), nil)))
		got, err := decimal([]byte(s), scale)
		switch whole := rounded(want); {
		case err == errRange && whole.CmpAbs(big.NewInt(1<<60)) > 0:
		case err == errWhole && scale == 0 && !want.IsInt():
		case err != nil:
			t.Fatalf("%s: %v", s, err)
		case scale == 0 && !want.IsInt():
			t.Fatalf("%s: %d, want an error", s, got)
		case whole.Cmp(big.NewInt(got)) != 0:
			t.Fatalf("%s times 10^%d: %d, want %d", s, scale, got, whole)
		}
	})
	for s, want := range map[string]int64{"0.0000005": 1, "0.00000049999": 0, "1.5e-6": 2, "-0.0000015": -2, "9.9999995": 10_000_000,
		"100000000000.00000005e1": 1_000_000_000_000_000_001, "100000000000.00000004e1": 1_000_000_000_000_000_000, "-100000000000.00000005e1": -1_000_000_000_000_000_001} {
		if got, err := decimal([]byte(s), 6); got != want || err != nil {
			t.Errorf("%s in millionths: %d, %v, want %d", s, got, err, want)
		}
	}
	for _, s := range []string{"", "-", ".", "1.2.3", "1e", "e5", "1x", "+1", "Inf", "NaN", "--1", "0x10"} {
		if v, err := decimal([]byte(s), 6); err != errNumber {
			t.Errorf("%q: %d, %v, want %v", s, v, err, errNumber)
		}
	}
}

// rounded returns the whole number nearest to x, halves away from zero.
func rounded(x *big.Rat) *big.Int {
	twice := new(big.Int).Mul(new(big.Int).Abs(x.Num()), big.NewInt(2))
	twice.Add(twice, x.Denom())
	n := twice.Quo(twice, new(big.Int).Mul(x.Denom(), big.NewInt(2)))
	if x.Sign() < 0 {
		n.Neg(n)
	}
	return n
}
