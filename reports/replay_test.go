package reports

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/seed-2cee110a/triage/policies"
	"github.com/seed-2cee110a/triage/sim"
	"github.com/seed-2cee110a/triage/traces"
)

func replay(t *testing.T, tr *traces.Trace, policy ...string) []*sim.Result {
	t.Helper()
	var out []*sim.Result
	for _, p := range policy {
		spec, err := policies.Parse(p)
		if err != nil {
			t.Fatal(err)
		}
		r, err := sim.Run(quick(), spec, tr)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, r)
	}
	return out
}

// A real result goes through: the header, the rows and the notes of the trace arrive.
func TestCompare(t *testing.T) {
	tr := traceOf(t, request{0, 30, 4, []int64{1, 2, 3}}, request{50, 30, 4, []int64{1, 2, 3}}, request{50, 10, 1, nil})
	c, err := Compare("triage replay hand.jsonl", replay(t, tr, "score", "rr=round-robin")...)
	if err != nil {
		t.Fatal(err)
	}
	if c.Baseline != 1 || c.Trace.Requests != 3 || c.Trace.Tied != 2 || c.Trace.Unidentified != 1 || c.Trace.SpanS != 0.05 {
		t.Errorf("baseline %d, trace %+v", c.Baseline, c.Trace)
	}
	if c.Config.KVTokens == 0 {
		t.Error("the header shows no KV capacity")
	}
	for _, r := range c.Runs {
		if r.Completed != 3 || !known(r.HitRatio) {
			t.Errorf("%s: completed %d of 3, hit ratio %v", r.Policy, r.Completed, r.HitRatio)
		}
		if !strings.Contains(strings.Join(r.Warnings, "\n"), "prefix identity") {
			t.Errorf("%s: warnings %q do not speak of the missing identity", r.Policy, r.Warnings)
		}
	}
	if len(textsOf(c, "unknown-identity")) != 1 {
		t.Errorf("findings %v", c.Findings)
	}
}

func TestCompareForgetsHitsThatNobodyKnows(t *testing.T) {
	c, err := Compare("", replay(t, traceOf(t, request{0, 30, 4, nil}), "round-robin")...)
	if err != nil {
		t.Fatal(err)
	}
	if known(c.Runs[0].HitRatio) {
		t.Errorf("hit ratio %v without any prefix identity, want it unknown", c.Runs[0].HitRatio)
	}
}

func TestCompareRefuses(t *testing.T) {
	if _, err := Compare(""); err == nil {
		t.Error("no results are accepted")
	}
	a := replay(t, traceOf(t, request{0, 30, 4, nil}), "round-robin")
	b := replay(t, traceOf(t, request{0, 31, 4, nil}), "random")
	if _, err := Compare("", a[0], b[0]); err == nil || !strings.Contains(err.Error(), "want one trace") {
		t.Errorf("two traces: got %v", err)
	}
}

// All but the volatile block follows from the inputs, and the digest of the configuration from the configuration.
func TestManifest(t *testing.T) {
	tr := traceOf(t, request{0, 30, 4, []int64{1, 2, 3}})
	write := func(cfg func(*sim.Config), wall float64) (string, *Manifest) {
		c, err := Compare("triage replay hand.jsonl", replay(t, tr, "mine=score:aff=5")...)
		if err != nil {
			t.Fatal(err)
		}
		cfg(&c.Config)
		m, err := NewManifest(c, Tool{Name: "triage", Version: "v1"}, Volatile{WallS: wall})
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := m.JSON(&b); err != nil {
			t.Fatal(err)
		}
		return b.String(), m
	}
	same := func(*sim.Config) {}
	one, m := write(same, 1)
	two, _ := write(same, 2)
	if cut, _, _ := strings.Cut(one, `"volatile"`); one == two || !strings.HasPrefix(two, cut) {
		t.Error("another wall time changes more than the volatile block, or nothing")
	}
	if _, other := write(func(c *sim.Config) { c.Engine.Watermark = 0.1 }, 1); other.Digest == m.Digest {
		t.Error("another configuration has the same digest")
	}
	var doc struct {
		Policies []struct {
			Policy, Spec string
			Knobs        []struct{ Name, Value string }
		}
		Seed  uint64
		Trace struct{ Digest string }
	}
	if err := json.Unmarshal([]byte(one), &doc); err != nil {
		t.Fatal(err)
	}
	if p := doc.Policies[0]; p.Policy != "mine" || p.Spec != "score:aff=5" || p.Knobs[0].Name != "aff" || p.Knobs[0].Value != "5" {
		t.Errorf("policy %+v", p)
	}
	if doc.Seed != 1 || doc.Trace.Digest != tr.Digest {
		t.Errorf("seed %d, digest %q", doc.Seed, doc.Trace.Digest)
	}
}
