package engine

import "testing"

func TestLinear(t *testing.T) {
	l := Linear{PerStep: 1000, PerToken: 100, PerContext: 10, PerDecode: 7, PerKV: 3}
	b := Batch{Decode: 2, KVTokens: 5, PrefillSeqs: 1, PrefillTokens: 3, PrefillContext: 6}
	if got, want := l.Step(b), Time(1000+2*7+5*3+3*100+6*10); got != want {
		t.Errorf("step takes %d, want %d", got, want)
	}
	base, slope := l.Decode(2)
	if base != 1014 || slope != 3 {
		t.Errorf("decode is %d + %d*kv, want 1014 + 3*kv", base, slope)
	}
	if err := l.Check(); err != nil {
		t.Error(err)
	}
	if err := (Linear{}).Check(); err == nil {
		t.Error("a step of no time passes")
	}
	if err := (Linear{PerStep: 1, PerKV: -1}).Check(); err == nil {
		t.Error("a negative cost passes")
	}
}
