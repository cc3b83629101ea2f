package reports

import (
	"strings"
	"testing"
)

// A table that is too wide keeps every cell, within the page: names once on lines of their own, signs in the head.
func TestStack(t *testing.T) {
	name := "somebody/A-Model-With-A-Very-Long-Name-Instruct-FP8-dynamic"
	b := &strings.Builder{}
	err := writeTables(b, nil, []fidelityTable{{title: "wide", labels: 2, head: []string{"model", "gpu", "rows", "TTFT", "why"}, rows: [][]string{
		{name, "H100", "3", "4.1/2.8 %", "one"},
		{name, "H100", "12", "-", "a reason that takes so many words to tell that it cannot stand on a single line of a terminal"},
		{name, "L40S", "4", "0.5/10.5 %", "two"},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	want := `
wide
model, gpu
  rows  TTFT %    why
` + name + `, H100
  3     4.1/2.8   one
  12    -         a reason that takes so many words to tell that it cannot
                  stand on a single line of a terminal
` + name + `, L40S
  4     0.5/10.5  two
`
	if b.String() != want {
		t.Errorf("got%s\nwant%s", b, want)
	}
}

// Where the columns hardly fit, they stand closer; a table that fits stays flat.
func TestStackSqueezesColumns(t *testing.T) {
	wide := strings.Repeat("x", 25)
	b := &strings.Builder{}
	rows := [][]string{{"name", wide, wide, wide}}
	err := writeTables(b, nil, []fidelityTable{{title: "wide", head: []string{"a", "b", "c", "d"}, rows: rows},
		{title: "narrow", head: []string{"a", "b"}, rows: [][]string{{"name", "1 %"}}}})
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"  " + wide + " " + wide + " " + wide, "name  1 %"} {
		if !strings.Contains(b.String(), "\n"+line+"\n") {
			t.Errorf("no line %q in\n%s", line, b)
		}
	}
}
