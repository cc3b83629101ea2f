package tune

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestParseAxis(t *testing.T) {
	for _, test := range []struct {
		text    string
		values  []string
		numbers []float64
	}{
		{"q=0,1,2.50", []string{"0", "1", "2.5"}, []float64{0, 1, 2.5}},
		{"q= 1, 2", []string{"1", "2"}, []float64{1, 2}},
		{"q=3", []string{"3"}, []float64{3}},
		{"fit=spill,off", []string{"spill", "off"}, nil},
		{"sent=on,off", []string{"on", "off"}, nil},
		{"ttl=0s,90s", []string{"0s", "1m30s"}, []float64{0, 90}},
		{"q=log:0.1..10:3", []string{"0.1", "1", "10"}, []float64{0.1, 1, 10}},
		{"q=lin:0..1:5", []string{"0", "0.25", "0.5", "0.75", "1"}, []float64{0, 0.25, 0.5, 0.75, 1}},
		{"n=log:512..8192:3", []string{"512", "2048", "8192"}, []float64{512, 2048, 8192}},
		{"n=log:512..4096:6", []string{"512", "776", "1176", "1783", "2702", "4096"}, []float64{512, 776, 1176, 1783, 2702, 4096}},
		{"ttl=lin:1s..2s:3", []string{"1s", "1.5s", "2s"}, []float64{1, 1.5, 2}},
	} {
		a, err := ParseAxis(spec(t, "score"), test.text)
		if err != nil {
			t.Errorf("%s: %v", test.text, err)
			continue
		}
		if d := cmp.Diff(test.values, a.Values); d != "" {
			t.Errorf("%s: %s", test.text, d)
		}
		if d := cmp.Diff(test.numbers, a.Numbers); d != "" {
			t.Errorf("%s: %s", test.text, d)
		}
	}
}

func TestParseAxisRefuses(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"q", `grid "q": want KNOB=VALUES`},
		{"=1", `grid "=1": want KNOB=VALUES`},
		{"q=", "q has no values, want at least one"},
		{"q=1,,2", "value 2 of q is empty"},
		{"q=1,2,1.0", "q has the value 1 twice"},
		{"q=-1", `q is "-1", want 0..1e9`},
		{"q=nan", `q is "nan", want 0..1e9`},
		{"margin=0,2", `margin is "2", want 0..1`},
		{"fit=spill,of", `fit is "of", want spill|hold|off`},
		{"af=1", `did you mean "aff"?`},
		{"af=log:1..2:2", `did you mean "aff"?`},
		{"a,b=1", `found "a", want knob=value`},
		{"fit=log:1..2:2", `fit is "1", want spill|hold|off`},
		{"q=log:1", "want log:FROM..TO:N, such as log:0.1..10:7"},
		{"q=lin:1..2", "want lin:FROM..TO:N"},
		{"q=lin:0..1:1", `"1" values, want 2 to 1000000`},
		{"q=lin:0..1:x", `"x" values, want 2 to 1000000`},
		{"q=log:0..1:3", "it starts at 0, want more than 0 for log"},
		{"q=lin:1..0:3", "it goes from 1 to 0, want the smaller first"},
		{"q=lin:a..1:3", `it starts at "a", want a number`},
		{"q=lin:1..inf:3", `it ends at "inf", want a number`},
		{"ttl=lin:1s..2:3", "one bound is a duration and one is not"},
		{"k=lin:1..3:5", "k has the value 2 twice"},
	} {
		if _, err := ParseAxis(spec(t, "score"), test.text); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got %v, want %s", test.text, err, test.want)
		}
	}
}

func TestParseSpaceRefuses(t *testing.T) {
	thousand := "=lin:1..1000:1000"
	for _, test := range []struct {
		policy string
		grids  []string
		want   string
	}{
		{"score", []string{"q=1", "aff=1", "q=2"}, "knob q has two grids"},
		{"score", []string{"q" + thousand, "aff" + thousand, "load=0,1"}, "more than 1000000 points"},
		{"round-robin", nil, `policy "round-robin" has no knobs`},
		{"random", nil, `"random" has no default grid, want --grid KNOB=VALUES with a knob of seed`},
		{"round-robin", []string{"q=1"}, `unknown knob "q" (there is none)`},
	} {
		if _, err := ParseSpace(spec(t, test.policy), test.grids); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s %v: got %v, want %s", test.policy, test.grids, err, test.want)
		}
	}
	if _, err := ParseSpace(spec(t, "score"), []string{"q" + thousand, "aff" + thousand}); err != nil {
		t.Errorf("a million points: %v", err)
	}
}

// The last axis varies fastest, knobs outside the grid keep the base's values, and grids override them.
func TestSpaceOrder(t *testing.T) {
	s, err := ParseSpace(spec(t, "mine=score:q=7,margin=0.1"), []string{"q=0,3", "fit=spill,off"})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for p := range s.Len() {
		got = append(got, s.Spec(p).Text)
	}
	want := []string{"score:q=0,fit=spill,margin=0.1", "score:q=0,fit=off,margin=0.1", "score:q=3,fit=spill,margin=0.1", "score:q=3,fit=off,margin=0.1"}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestDefaultGrid(t *testing.T) {
	s, err := ParseSpace(spec(t, "score"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if n := s.Len(); n < 50 || n >= 300 {
		t.Errorf("the default grid has %d points, want 50 to 299", n)
	}
	for _, k := range s.Axes {
		if v := spec(t, "score").Knob(k.Knob); !strings.Contains(","+strings.Join(k.Values, ",")+",", ","+v+",") {
			t.Errorf("the default grid leaves out the default %s=%s", k.Knob, v)
		}
	}
}

// Index undoes Indices for every point of any grid.
func TestIndex(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := &Space{}
		for range rapid.IntRange(1, 4).Draw(t, "axes") {
			s.Axes = append(s.Axes, Axis{Values: make([]string, rapid.IntRange(1, 5).Draw(t, "values"))})
		}
		for p := range s.Len() {
			if got := s.Index(s.Indices(p)); got != p {
				t.Fatalf("point %d comes back as %d", p, got)
			}
		}
	})
}

// Both bounds are values, and steps or ratios are even.
func TestScaleIsEven(t *testing.T) {
	for _, s := range []scale{{from: 0.3, to: 70, n: 9, log: true}, {from: 0.3, to: 70, n: 9}} {
		if s.at(0) != 0.3 || s.at(8) != 70 {
			t.Errorf("%+v goes from %v to %v", s, s.at(0), s.at(8))
		}
		for i := 2; i < s.n; i++ {
			a, b := s.at(i-1)-s.at(i-2), s.at(i)-s.at(i-1)
			if s.log {
				a, b = s.at(i-1)/s.at(i-2), s.at(i)/s.at(i-1)
			}
			if math.Abs(a/b-1) > 1e-9 {
				t.Errorf("%+v: steps %v and %v", s, a, b)
			}
		}
	}
}
