package reports

import (
	"math"
	"strings"
	"testing"

	"github.com/seed-2cee110a/triage/sim"
)

// numbersFor is a run with a p90 of the TTFT in seconds, and nothing that waited at the gateway.
func numbersFor(policy string, p90 float64) sim.Summary {
	nan := math.NaN()
	s := sim.Summary{Policy: policy, Requests: 100, Completed: 100, HitRatio: 0.4, Imbalance: 1.1}
	s.TTFT = sim.Quantiles{Mean: p90 / 2, P50: p90 / 3, P90: p90, P95: p90 * 1.5, P99: p90 * 2, Max: p90 * 3}
	s.GatewayWait = sim.Quantiles{Mean: nan, P50: nan, P90: nan, P95: nan, P99: nan, Max: nan}
	return s
}

func scopeOf(t *testing.T, runs ...sim.Summary) *scope {
	t.Helper()
	var labels []string
	for _, r := range runs {
		labels = append(labels, r.Policy)
	}
	s, err := runScope(runs, labels)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestGateVerdicts(t *testing.T) {
	one := []sim.Summary{numbersFor("mine", 0.4)}
	two := []sim.Summary{numbersFor("round-robin", 0.9), numbersFor("score:aff=5", 0.4)}
	for _, test := range []struct {
		expr   string
		runs   []sim.Summary
		want   Verdict
		detail string
	}{
		{"ttft.p90 < 0.5", one, Pass, "ttft.p90 = 0.4"},
		{"ttft.p90 < 0.4", one, Fail, "ttft.p90 = 0.4"},
		{"ttft.p90 < 1 and hit_ratio >= 0.4", one, Pass, "ttft.p90 = 0.4; hit_ratio = 0.4"},
		{"mine.ttft.p90 < 0.5", one, Pass, "mine.ttft.p90 = 0.4"},
		{"rejected == 0", one, Pass, "rejected = 0"},
		{"round_robin.ttft.p90 > 2 * score_aff_5.ttft.p90", two, Pass, "round_robin.ttft.p90 = 0.9; score_aff_5.ttft.p90 = 0.4"},
		// What is not known never passes, whichever way it is asked for; a condition that does not get there is not touched.
		{"gateway_wait.p90 < 1", one, Inconclusive, "gateway_wait.p90 is not known"},
		{"not (gateway_wait.p90 > 1)", one, Inconclusive, "gateway_wait.p90 is not known"},
		{"gateway_wait.p90 != 1", one, Inconclusive, "gateway_wait.p90 is not known"},
		{"not (preemptions / held > 1)", one, Inconclusive, "preemptions = 0; held = 0; a division by 0 has no value"},
		{"ttft.p90 / held > 1", one, Inconclusive, "ttft.p90 = 0.4; held = 0; a division by 0 has no value"},
		{"gateway_wait.p90 / 2 < 1", one, Inconclusive, "gateway_wait.p90 is not known"},
		{"ttft.p90 / 2 < 1 / 4 and 1 / (1 + 1) == 0.5", one, Pass, "ttft.p90 = 0.4"},
		{"held == 0 or gateway_wait.p90 < 1", one, Pass, "held = 0"},
		{"ttft.p90 < 0.1 and gateway_wait.p90 < 1", one, Fail, "ttft.p90 = 0.4"},
	} {
		s := scopeOf(t, test.runs...)
		c, err := compile(test.expr, s)
		if err != nil {
			t.Errorf("%s: %v", test.expr, err)
			continue
		}
		got, detail, err := c.evaluate(s)
		if err != nil || got != test.want || detail != test.detail {
			t.Errorf("%s: got %s, %q, %v; want %s, %q", test.expr, got, detail, err, test.want, test.detail)
		}
	}
}

// Every error says where the expression is wrong and what there is.
func TestGateErrors(t *testing.T) {
	one := []string{"mine"}
	two := []string{"round-robin", "score"}
	for _, test := range []struct {
		expr   string
		labels []string
		want   []string
	}{
		{"", one, []string{"the gate is empty", "such as ttft.p90 < 0.5"}},
		{"ttft.p91 < 1", one, []string{"column 6", "unknown field p91", "did you mean ttft.p90?", "hit_ratio", "seconds"}},
		{"tft.p90 < 1", one, []string{"column 1", "unknown name tft", "did you mean ttft.p90?"}},
		{"1 > 0 and hitratio > 0", one, []string{"column 11", "did you mean hit_ratio?"}},
		{"ttft.p90", one, []string{"not a condition"}},
		{"ttft.p90 <", one, []string{"column 10", "EOF"}},
		{"ttft < 1", one, []string{"group of numbers"}},
		{`ttft.p90 < "1"`, one, []string{"column 10", "mismatched types"}},
		{"ttft.p90 < 1", two, []string{"column 1", "several runs, want LABEL.ttft", "LABEL one of round_robin, score"}},
		{"round_robbin.ttft.p90 < 1", two, []string{"did you mean round_robin.ttft.p90?"}},
		{"ttft.p90 < 1", []string{"a=b", "a:b"}, []string{`"a=b" and "a:b" are both a_b`}},
		{`regression("ttft.p95", 0.02)`, one, []string{"unknown name regression"}},
	} {
		_, err := CompileRunGates([]string{test.expr}, test.labels)
		if err == nil {
			t.Errorf("%q is accepted", test.expr)
			continue
		}
		for _, want := range test.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%q: %v, want it to say %q", test.expr, err, want)
			}
		}
	}
}

func TestOverall(t *testing.T) {
	for _, test := range []struct {
		verdicts []Verdict
		want     Verdict
		words    string
	}{
		{[]Verdict{Pass, Pass}, Pass, "2 gates passed"},
		{[]Verdict{Pass, Inconclusive}, Inconclusive, "1 of 2 gates inconclusive"},
		{[]Verdict{Inconclusive, Fail, Pass}, Fail, "1 of 3 gates failed, 1 of 3 gates inconclusive"},
	} {
		var gates []GateResult
		for _, v := range test.verdicts {
			gates = append(gates, GateResult{Verdict: v})
		}
		if got := Overall(gates); got != test.want || Verdicts(gates) != test.words {
			t.Errorf("%v: %s, %q; want %s, %q", test.verdicts, got, Verdicts(gates), test.want, test.words)
		}
	}
}

func TestGateDividesNumbersOnly(t *testing.T) {
	s := scopeOf(t, numbersFor("mine", 0.4))
	c, err := compile(`"a" / 2 < 1`, s)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := c.evaluate(s); err == nil || !strings.Contains(err.Error(), "a is divided, or divides, and is no number") {
		t.Errorf("got %v", err)
	}
}
