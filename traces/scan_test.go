package traces

import (
	"bytes"
	"math/big"
	"slices"
	"strings"
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
		!bytes.Equal(fast.output, slow.output) || fast.hasIDs != slow.hasIDs || !slices.Equal(fast.ids, slow.ids) {
		t.Fatalf("%q: scan %+v, decode %+v", text, fast, slow)
	}
	return true
}

// Lines put together of pieces that are nearly right.
func TestScanAgreesWithDecode(t *testing.T) {
	accepted := 0
	pieces := []string{
		"{", "}", "[", "]", ",", ":", " ", "\t", `"timestamp"`, `"input_length"`, `"hash_ids"`, `"other"`, "0", "01", "-1",
		"1.5", "1.", "1e3", "12", "999999999999999999", "9999999999999999999", "null", `"output_length"`, "\x00",
	}
	whole := []string{`"timestamp":5`, `"input_length": 12`, `"output_length" :0`, `"hash_ids":[1, 2]`, `"hash_ids":[]`, `"timestamp":-0.5`}
	rapid.Check(t, func(t *rapid.T) {
		var text string
		if rapid.Bool().Draw(t, "nearly right") {
			members := rapid.SliceOfN(rapid.SampledFrom(whole), 0, 5).Draw(t, "members")
			text = "{" + strings.Join(members, ",") + "}"
			if rapid.Bool().Draw(t, "change") {
				at := rapid.IntRange(0, len(text)-1).Draw(t, "at")
				text = text[:at] + rapid.SampledFrom(pieces).Draw(t, "piece") + text[at+1:]
			}
		} else {
			text = strings.Join(rapid.SliceOf(rapid.SampledFrom(pieces)).Draw(t, "pieces"), "")
		}
		if checkScan(t, []byte(text)) {
			accepted++
		}
	})
	if accepted == 0 {
		t.Error("scan accepted no line at all: nothing was compared")
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
