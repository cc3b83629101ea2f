package main

import (
	"math"
	"testing"
	"time"
)

func TestCounts(t *testing.T) {
	for _, test := range []struct {
		text string
		want int64 // -1: refused
	}{
		{"0", 0}, {"8", 8}, {"1e9", 1e9}, {"1.5e3", 1500}, {"9007199254740993", 9007199254740993}, // 2^53 + 1 is exact
		{"1.5", -1}, {"-1", -1}, {"-1e3", -1}, {"nan", -1}, {"inf", -1}, {"1e400", -1}, {"", -1}, {"8x", -1},
		{"18446744073709551615", -1}, // 2^64 - 1 does not fit
	} {
		got := int64(7)
		err := count[int64]{&got}.Set(test.text)
		if refused := err != nil; refused != (test.want < 0) || !refused && got != test.want {
			t.Errorf("%q: got %d, %v; want %d", test.text, got, err, test.want)
		}
	}
	var seed uint64
	if err := (count[uint64]{&seed}).Set("18446744073709551615"); err != nil || seed != math.MaxUint64 {
		t.Errorf("got %d, %v; want the largest seed", seed, err)
	}
}

func TestDurations(t *testing.T) {
	for _, test := range []struct {
		text string
		want time.Duration // -1: refused
	}{
		{"30s", 30 * time.Second}, {"1.5ms", 1500 * time.Microsecond}, {"0s", 0},
		{"30", -1}, {"0", -1}, {"1e3", -1}, {"-1s", -1}, {"soon", -1}, {"", -1},
	} {
		got, err := parseDuration(test.text)
		if refused := err != nil; refused != (test.want < 0) || !refused && got != test.want {
			t.Errorf("%q: got %v, %v; want %v", test.text, got, err, test.want)
		}
	}
}

func TestQuote(t *testing.T) {
	for _, test := range []struct{ word, want string }{
		{"conv.jsonl", "conv.jsonl"}, {"a b", "'a b'"}, {"", "''"}, {"it's", `'it'\''s'`}, {"$HOME", "'$HOME'"},
	} {
		if got := quote(test.word); got != test.want {
			t.Errorf("quote(%q) = %s, want %s", test.word, got, test.want)
		}
	}
}

func TestNearest(t *testing.T) {
	have := []string{"replay", "trace", "policies"}
	for _, test := range []struct{ name, want string }{{"reply", "replay"}, {"Trace", "trace"}, {"polices", "policies"}, {"xyz", ""}, {"", ""}} {
		if got := nearest(test.name, have); got != test.want {
			t.Errorf("nearest(%q) = %q, want %q", test.name, got, test.want)
		}
	}
}
