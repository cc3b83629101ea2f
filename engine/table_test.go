package engine

import (
	"testing"

	"pgregory.net/rapid"
)

// Worked by hand: one sequence with 10 and 30 KV tokens takes 110 and 130, so a token costs 1 and the rest is 100; two
// take 148 with 8 tokens, so the rest is 140. A step of 100 prefill tokens beside one sequence with 10 tokens takes 310:
// they add 200.
func TestTable(t *testing.T) {
	table, err := NewTable([]StepTime{
		{Batch{Decode: 2, KVTokens: 8}, 148},
		{Batch{Decode: 1, KVTokens: 30}, 130},
		{Batch{Decode: 1, KVTokens: 10}, 110},
		{Batch{Decode: 1, KVTokens: 10, PrefillTokens: 100, PrefillSeqs: 1}, 310},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		b    Batch
		want Time
	}{
		{"as measured", Batch{Decode: 1, KVTokens: 10}, 110},
		{"more KV tokens", Batch{Decode: 1, KVTokens: 50}, 150},
		{"beyond the last", Batch{Decode: 4, KVTokens: 0}, 220},
		{"before the first", Batch{}, 100},
		{"half a prefill", Batch{Decode: 1, KVTokens: 10, PrefillTokens: 50}, 210},
		{"two prefills", Batch{Decode: 2, KVTokens: 8, PrefillTokens: 200}, 548},
	} {
		if got := table.Step(c.b); got != c.want {
			t.Errorf("%s: step of %+v takes %d, want %d", c.name, c.b, got, c.want)
		}
	}
}

func drawSteps(t *rapid.T) []StepTime {
	n := rapid.IntRange(1, 30).Draw(t, "steps")
	steps := make([]StepTime, n)
	for i := range steps {
		s := &steps[i]
		s.Decode = rapid.IntRange(1, 6).Draw(t, "decode")
		s.KVTokens = int64(rapid.IntRange(0, 100).Draw(t, "kv"))
		if i > 0 {
			s.PrefillTokens = rapid.IntRange(0, 3).Draw(t, "prefill") * 100
		}
		s.Took = Time(rapid.IntRange(1, 1e6).Draw(t, "took"))
	}
	return steps
}

// Whatever was measured, a table obeys the law of decode steps and takes longer for more work.
func TestTableLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		table, err := NewTable(drawSteps(t))
		if err != nil {
			t.Fatal(err)
		}
		b := drawBatch(t)
		affine(t, table, b)
		more := b
		switch rapid.IntRange(0, 2).Draw(t, "which") {
		case 0:
			more.Decode++
		case 1:
			more.KVTokens++
		default:
			more.PrefillTokens++
		}
		if table.Step(more) < table.Step(b) {
			t.Fatalf("a step of %+v takes %d, one of %+v %d: more work takes less", b, table.Step(b), more, table.Step(more))
		}
	})
}

// A table's knots make the same table.
func TestTableKnots(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		table, err := NewTable(drawSteps(t))
		if err != nil {
			t.Fatal(err)
		}
		again, err := NewTable(table.Knots())
		if err != nil {
			t.Fatal(err)
		}
		b := drawBatch(t)
		got, want := again.Step(b), table.Step(b)
		if d := got - want; d < -2000 || d > 2000 { // picoseconds of rounding, more beyond the last knot
			t.Fatalf("step of %+v takes %d, of the table of its knots %d", b, want, got)
		}
	})
}

func TestTableRefuses(t *testing.T) {
	for name, steps := range map[string][]StepTime{
		"no steps":          nil,
		"no decode":         {{Batch{PrefillTokens: 5, PrefillSeqs: 1}, 10}},
		"no time":           {{Batch{Decode: 1, KVTokens: 1}, 0}},
		"nothing in it":     {{Batch{}, 10}},
		"KV without decode": {{Batch{PrefillTokens: 5, PrefillSeqs: 1, KVTokens: 3}, 10}},
		"negative":          {{Batch{Decode: -1}, 10}},
	} {
		if _, err := NewTable(steps); err == nil {
			t.Errorf("%s: taken, want an error", name)
		}
	}
}
