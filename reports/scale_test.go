package reports

import (
	"math"
	"testing"
)

func TestNumbersForPeople(t *testing.T) {
	for _, test := range []struct{ name, got, want string }{
		{"three digits above 100", significant(1234.5), "1,235"}, // halves away from zero
		{"three digits above 10", significant(12.34), "12.3"},
		{"three digits above 1", significant(1.234), "1.23"},
		{"three digits below 1", significant(0.1234), "0.123"},
		{"rounding up to the next width", significant(9.996), "10.0"},
		{"rounding up to a hundred", significant(99.96), "100"},
		{"zero", significant(0), "0.00"},
		{"unknown", significant(math.NaN()), "-"},
		{"infinite", significant(math.Inf(1)), "-"},
		{"short durations in ms", duration(0.0314), "31.4 ms"},
		{"long durations in s", duration(31.4), "31.4 s"},
		{"less", change(-0.58), "-58 %"},
		{"nearly all of it", change(-0.9993), "-99.9 %"},
		{"all but a trace of it", change(-0.99957), "-99.96 %"},
		{"more", change(0.25), "+25 %"},
		{"no change", change(-0.001), "0 %"},
		{"twice", change(1), "2.0x"},
		{"more than twice", change(1.2), "2.2x"},
		{"far more", change(409), "410x"},
		{"thousands of times", change(2323), "2,324x"},
		{"no baseline", change(math.Inf(1)), "-"},
		{"a share", percent(0.35), "35 %"},
		{"a small share is not none", percent(0.001), "<1 %"},
		{"nearly all is not all", percent(0.999), ">99 %"},
		{"all", percent(1), "100 %"},
		{"thousands", group(1234567), "1,234,567"},
		{"negative thousands", group(-1000), "-1,000"},
		{"one", count(1, "request"), "1 request"},
		{"many", count(1200, "request"), "1,200 requests"},
	} {
		if test.got != test.want {
			t.Errorf("%s: got %q, want %q", test.name, test.got, test.want)
		}
	}
}

func TestLabelsWrapAfterKnobs(t *testing.T) {
	for _, test := range []struct{ label, want string }{
		{"score", "score"},
		{"score:aff=10,q=3,kv=100,lora=5", "score:aff=10,q=3,kv=100,\n lora=5"},
		{"a-name-without-any-place-to-break-it", "a-name-without-any-place-to-break-it"},
	} {
		if got := wrapLabel(test.label, 24); got != test.want {
			t.Errorf("wrapLabel(%q) = %q, want %q", test.label, got, test.want)
		}
	}
}
