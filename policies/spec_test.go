package policies_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-2cee110a/triage/policies"
)

func TestParse(t *testing.T) {
	for _, tc := range []struct{ text, label, name, plain string }{
		{"score", "score", "score", "score"},
		{"score:aff=10,q=2.50", "score:aff=10,q=2.50", "score", "score:aff=10,q=2.50"},
		{"mine=score:aff=10", "mine", "score", "score:aff=10"},
		{"rr=round-robin", "rr", "round-robin", "round-robin"},
	} {
		s := parse(t, tc.text)
		if s.Label != tc.label || s.Name != tc.name || s.Text != tc.plain {
			t.Errorf("Parse(%q) = label %q, name %q, text %q, want %q, %q, %q", tc.text, s.Label, s.Name, s.Text, tc.label, tc.name, tc.plain)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"scroe":                  `unknown policy "scroe" (have round-robin, random, least-request, score; did you mean "score"?)`,
		"":                       `unknown policy "" (have round-robin, random, least-request, score)`,
		"zzz":                    `unknown policy "zzz" (have round-robin, random, least-request, score)`,
		"round-robin:seed=1":     `policy "round-robin:seed=1": unknown knob "seed" (there is none)`,
		"random:sede=1":          `policy "random:sede=1": unknown knob "sede" (have seed; did you mean "seed"?)`,
		"random:seed=-1":         `policy "random:seed=-1": seed is "-1", want a whole number, at least 0`,
		"=score":                 `policy "=score" has an empty label, want LABEL=NAME[:k=v,...]`,
		"score:":                 `policy "score:": found "", want knob=value`,
		"score:aff":              `policy "score:aff": found "aff", want knob=value`,
		"score:aff=1,aff=2":      `policy "score:aff=1,aff=2": aff is given twice, want it once`,
		"score:aff=NaN":          `policy "score:aff=NaN": aff is "NaN", want 0..1e9`,
		"score:q=-1":             `policy "score:q=-1": q is "-1", want 0..1e9`,
		"score:q=Inf":            `policy "score:q=Inf": q is "Inf", want 0..1e9`,
		"score:q=1e10":           `policy "score:q=1e10": q is "1e10", want 0..1e9`,
		"score:q=1_0":            `policy "score:q=1_0": q is "1_0", want 0..1e9`,
		"score:n=1_0":            `policy "score:n=1_0": n is "1_0", want 0..`,
		"score:q=1e999":          `policy "score:q=1e999": q is "1e999", want 0..1e9`,
		"score:q=":               `policy "score:q=": q is "", want 0..1e9`,
		"score:margin=1.5":       `policy "score:margin=1.5": margin is "1.5", want 0..1`,
		"score:k=0":              `policy "score:k=0": k is "0", want 1..64`,
		"score:k=1.5":            `policy "score:k=1.5": k is "1.5", want 1..64`,
		"score:norm=ratio":       `policy "score:norm=ratio": norm is "ratio", want work|absolute|minmax|mean|time`,
		"score:sent=yes":         `policy "score:sent=yes": sent is "yes", want on|off`,
		"score:stale=5":          `policy "score:stale=5": stale is "5", want a duration, at least 0s`,
		"score:ttl=-1s":          `policy "score:ttl=-1s": ttl is "-1s", want a duration, at least 0s`,
		"score:x=1":              `fit, margin, output, stale, stale_as)`, // one letter for another is no slip
		"a=b=score":              `unknown policy "b=score" (have round-robin, random, least-request, score)`,
		"score:stale_sa=unknown": `did you mean "stale_as"?`,
	} {
		if _, err := policies.Parse(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Parse(%q): error %v, want %s", text, err, want)
		}
	}
}

// Equal values have equal texts, however they were written, so that Diff compares values.
func TestKnobs(t *testing.T) {
	s := parse(t, "score:aff=1.0e1,n=1e3,stale=60s,q=-0,sent=off")
	for name, want := range map[string]string{"aff": "10", "n": "1000", "stale": "1m0s", "q": "0", "sent": "off", "kv": "100", "norm": "work", "none": ""} {
		if got := s.Knob(name); got != want {
			t.Errorf("Knob(%q) = %q, want %q", name, got, want)
		}
	}
	if diff := cmp.Diff([]string{"q", "sent", "n", "stale"}, policies.Diff(s, parse(t, "score"))); diff != "" {
		t.Errorf("knobs that differ (-want +got):\n%s", diff)
	}
	if got := policies.Diff(s, parse(t, "random")); got != nil {
		t.Errorf("Diff of different policies = %v, want nil", got)
	}
}

// Every knob's default, given explicitly, is accepted and changes nothing; every policy can be made twice.
func TestCatalog(t *testing.T) {
	for _, e := range policies.Catalog() {
		plain := parse(t, e.Name)
		for i, k := range e.Knobs {
			if k.Doc == "" || k.Values == "" || strings.Contains(k.Doc, "\n") {
				t.Errorf("%s: knob %s has doc %q and values %q, want a line each", e.Name, k.Name, k.Doc, k.Values)
			}
			given := parse(t, e.Name+":"+k.Name+"="+k.Default)
			if got := policies.Diff(plain, given); got != nil || given.Knobs()[i] != (policies.KnobValue{Name: k.Name, Value: k.Default}) {
				t.Errorf("%s with %s=%s differs from the default in %v", e.Name, k.Name, k.Default, got)
			}
		}
		if plain.New() == plain.New() && e.Name != "least-request" { // which has no memory, and size 0
			t.Errorf("%s: New returned the same instance twice", e.Name)
		}
	}
}

// A configuration made by hand is checked by the same rules as the knobs.
func TestScoreConfigCheck(t *testing.T) {
	c := policies.DefaultScore()
	if err := c.Check(); err != nil {
		t.Fatalf("the default: %v", err)
	}
	c.Weights.Queue = -1
	if err := c.Check(); err == nil || err.Error() != `score: q is "-1", want 0..1e9` {
		t.Errorf("a negative weight: error %v", err)
	}
	defer func() {
		if recover() == nil {
			t.Error("NewScore took a negative weight, want a panic")
		}
	}()
	policies.NewScore(c)
}
