package main

import (
	"math"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/seed-2cee110a/triage/sim"
	"github.com/seed-2cee110a/triage/traces"
)

func TestCounts(t *testing.T) {
	for _, test := range []struct {
		text string
		want int64 // -1: refused
	}{
		{"0", 0}, {"8", 8}, {"1e9", 1e9}, {"1.5e3", 1500}, {"9007199254740993", 9007199254740993}, // 2^53 + 1 is exact
		{"1e18", 1e18}, {"9223372036854775807", math.MaxInt64}, {"9007199254740993.0", 9007199254740993}, // exact, too
		{"9223372036854775808", -1}, {"1e19", -1}, {"1e999999999", -1},
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
	if err := (count[uint64]{&seed}).Set("1e30"); err == nil {
		t.Errorf("1e30 passes, as %d", seed)
	}
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
		{"30", -1}, {"0", -1}, {"1e3", -1}, {"-1s", -1}, {"soon", -1}, {"NaN", -1}, {"inf", -1}, {"", -1},
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
	for _, test := range []struct{ name, want string }{{"reply", "replay"}, {"Trace", "trace"}, {"polices", "policies"}, {"xyz", ""}, {"", ""},
		{"relpay", "replay"}, {"poli", "policies"}, {"po", ""}} {
		if got := nearest(test.name, have); got != test.want {
			t.Errorf("nearest(%q) = %q, want %q", test.name, got, test.want)
		}
	}
}

// A number with a unit is what is wanted, so only a number is told that it has none.
func TestDurationHints(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"30", "it has no unit, want for example 30s or 30ms"}, {"NaN", "want a duration such as 500ms, 30s or 2m"},
		{"inf", "want a duration such as 500ms, 30s or 2m"}, {"-5", "want a duration such as 500ms, 30s or 2m"},
	} {
		if _, err := parseDuration(test.text); err == nil || err.Error() != test.want {
			t.Errorf("%q: got %v, want %s", test.text, err, test.want)
		}
	}
}

// The flag's bound is that of the reader of traces.
func TestTraceBlockBound(t *testing.T) {
	const row = `{"timestamp":0,"input_length":512,"output_length":3,"hash_ids":[1]}`
	for _, n := range []int{0, 1, maxTraceBlock, maxTraceBlock + 1} {
		got := 7
		flagErr := blockSize(&got).Set(strconv.Itoa(n))
		if flagErr != nil && got != 7 {
			t.Errorf("%d: refused and set to %d", n, got)
		}
		_, err := traces.NewReader("x", strings.NewReader(row), traces.Options{BlockSize: n})
		if n > 0 && (flagErr == nil) != (err == nil) {
			t.Errorf("%d: the flag says %v, the reader %v", n, flagErr, err)
		}
	}
}

func TestLabels(t *testing.T) {
	for _, test := range []struct {
		label     string
		byDefault bool
		fine      bool
	}{
		{"mine", false, true}, {"über 2", false, true}, {"score:aff=1,q=2", true, true}, {"a,b", false, false}, {"", false, true},
		{`a"b`, false, false}, {"it's", false, false}, {"a`b", true, false}, {"a\tb", false, false}, {"a\nb", true, false},
		{"a\x1b[31m", false, false}, {"a\u202eb", false, false}, {"a\xff", false, false}, {`@my"file`, true, false},
	} {
		if err := checkLabel(test.label, test.byDefault); (err == nil) != test.fine {
			t.Errorf("%q: got %v, want fine to be %v", test.label, err, test.fine)
		}
	}
}

// Every engine bound that a flag can break is told before a trace is read, under the flag's name.
func TestCheckCluster(t *testing.T) {
	for _, test := range []struct {
		name string
		set  func(*sim.Config)
		want string // start of the error; "" is none
	}{
		{"defaults", func(*sim.Config) {}, ""},
		{"both capacities", func(c *sim.Config) { c.KVTokens, c.BlocksOverride = 4096, 256 }, "--kv-tokens and --num-gpu-blocks-override both"},
		{"too many blocks", func(c *sim.Config) { c.BlocksOverride = maxBlocks + 1 }, "--num-gpu-blocks-override is 1073741825, want at most 1073741824"},
		{"the most blocks", func(c *sim.Config) { c.BlocksOverride = maxBlocks }, ""},
		{"too many tokens", func(c *sim.Config) { c.KVTokens = 1e18 }, "--kv-tokens is 1000000000000000000, want at most 17179869184 "},
		{"huge blocks", func(c *sim.Config) { c.Engine.BlockSize = 1e9 }, "block-size is 1000000000, want 1 to 4096"},
		{"huge blocks and tokens", func(c *sim.Config) { c.Engine.BlockSize, c.KVTokens = 1e9, 1000 }, "block-size is 1000000000, want 1 to 4096"},
		{"no blocks", func(c *sim.Config) { c.Engine.BlockSize = 0 }, "block-size is 0, want 1 to 4096"},
		{"many sequences", func(c *sim.Config) { c.Engine.MaxNumSeqs = 1e9 }, "max-num-seqs is 1000000000"},
	} {
		cfg := sim.Default()
		test.set(&cfg)
		err := checkCluster(cfg)
		if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.HasPrefix(err.Error(), test.want)) {
			t.Errorf("%s: got %v, want %q", test.name, err, test.want)
		}
	}
}
