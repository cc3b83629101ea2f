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
		{"ttft.p90 ** 2 < 0.2 and ttft.p90 ^ 0.5 < 1 and -ttft.p90 < 0", one, Pass, "ttft.p90 = 0.4"},
		{"held ** -1 > 1", one, Inconclusive, "held = 0; 0 ** -1 has no value"},
		{"not ((0 - ttft.p90) ** 0.5 > 1)", one, Inconclusive, "ttft.p90 = 0.4; -0.4 ** 0.5 has no value"},
		{"gateway_wait.p90 ** 0 == 1", one, Inconclusive, "gateway_wait.p90 is not known"},
		{"max(gateway_wait.p90, ttft.p90) < 1", one, Inconclusive, "ttft.p90 = 0.4; gateway_wait.p90 is not known"},
		{"int(gateway_wait.p90) < 1", one, Inconclusive, "gateway_wait.p90 is not known"},
		{"round(ttft['p90'] * 10) == abs(0 - 4) and ceil(ttft.p90) == 1 and floor(ttft.p90) == min(0, 1) and float(1) == 1", one, Pass, "ttft.p90 = 0.4"},
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
		{"ttft.p90 < 1", []string{"baseline"}, []string{`policy "baseline" is baseline in gates`, "-p other=baseline"}},
		{"ttft.p90 < 1", []string{"trace", "score"}, []string{`policy "trace"`}},
		{"ttft.p90 < 1", []string{"regression", "score"}, []string{`policy "regression"`}},
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

// Whatever could carry a number that is not known past the gate's eyes is refused, here with a wait of nobody.
func TestGateRefusesForms(t *testing.T) {
	s := scopeOf(t, numbersFor("mine", 0.4))
	for _, expr := range []string{
		"let w = gateway_wait; not (w.p90 > 1)",
		"let w = gateway_wait.p90; not (w > 1)",
		"not ((held == 0 ? gateway_wait : ttft).p90 > 1)",
		"held == 0 ? true : gateway_wait.p90 > 1",
		`not (get(gateway_wait, "p90") > 1)`,
		`not (gateway_wait | get("p90") > 1)`,
		"none(values(gateway_wait), # > 1)",
		"not any([1], gateway_wait.p90 > 1)",
		"not ({a: gateway_wait}.a.p90 > 1)",
		"not ([gateway_wait][0].p90 > 1)",
		"not ($env.gateway_wait.p90 > 1)",
		`not ($env["gateway_wait"].p90 > 1)`,
		`not (gateway_wait["p" + "90"] > 1)`,
		"not (gateway_wait?.p90 > 1)",
		"not (gateway_wait.p90 in [1])",
		"(gateway_wait.p90 > 1) == false",
		"(gateway_wait ?? ttft).p90 > 1 or true",
		`number__("gateway_wait.p90") < 1 or true`,
		`"p90" in gateway_wait`,
		"gateway_wait == gateway_wait",
		"not (max([gateway_wait.p90]) > 1)",
		"held == 0; true",
	} {
		if c, err := compile(expr, s); err == nil {
			verdict, detail, err := c.evaluate(s)
			t.Errorf("%s is accepted and comes to %s, %q, %v", expr, verdict, detail, err)
		}
	}
	_, err := compile("true and gateway_wait == ttft", s)
	if err == nil || !strings.Contains(err.Error(), "column 10: gateway_wait is not for gates, want numbers compared by") {
		t.Errorf("got %v", err)
	}
}

// By hand: of 100 requests, 99 and 100 completed are within 1 %, 98 and 100 are not.
func TestGateUnevenWork(t *testing.T) {
	run := func(policy string, completed int) sim.Summary {
		s := numbersFor(policy, 0.4)
		s.Completed, s.Rejected = completed, s.Requests-completed
		return s
	}
	for _, test := range []struct {
		expr string
		runs []sim.Summary
		want Verdict
	}{
		{"a.ttft.p90 <= b.ttft.p90", []sim.Summary{run("a", 98), run("b", 100)}, Inconclusive},
		{"a.ttft.p90 < b.ttft.p90", []sim.Summary{run("a", 100), run("b", 98)}, Inconclusive},
		{"a.hit_ratio >= b.hit_ratio", []sim.Summary{run("a", 98), run("b", 100)}, Inconclusive},
		{"a.ttft.p90 <= b.ttft.p90", []sim.Summary{run("a", 99), run("b", 100)}, Pass},
		{"a.ttft.p90 <= 0.4 and b.rejected == 0", []sim.Summary{run("a", 98), run("b", 100)}, Pass},
		{"a.rejected <= b.rejected", []sim.Summary{run("a", 98), run("b", 100)}, Fail},
		{"a.ttft.p90 < 1 and ttft.p90 < 1", []sim.Summary{run("a", 98)}, Pass},
	} {
		s := scopeOf(t, test.runs...)
		c, err := compile(test.expr, s)
		if err != nil {
			t.Errorf("%s: %v", test.expr, err)
			continue
		}
		got, detail, err := c.evaluate(s)
		if err != nil || got != test.want || (got == Inconclusive) != strings.Contains(detail, "over more than 1 % different work") {
			t.Errorf("%s: %s, %q, %v; want %s", test.expr, got, detail, err, test.want)
		}
	}
}

// A gate of one regression holds if there is none; elsewhere regression has an odd number of nots around it.
func TestGateRegressionPolarity(t *testing.T) {
	s := scopeOf(t, numbersFor("mine", 0.4))
	for _, test := range []struct {
		expr       string
		a, b, want string // what is worse, what is expected: pass, fail or refused
	}{
		{`regression("ttft.mean", 0)`, "worse", "", "fail"},
		{`regression("ttft.mean", 0)`, "", "", "pass"},
		{`not regression("ttft.mean", 0)`, "worse", "", "fail"},
		{`not regression("ttft.mean", 0)`, "", "", "pass"},
		{`!(regression("ttft.mean", 0) or regression("e2e.mean", 0))`, "", "worse", "fail"},
		{`!(regression("ttft.mean", 0) or regression("e2e.mean", 0))`, "", "", "pass"},
		{`not (regression("ttft.mean", 0) and regression("e2e.mean", 0))`, "worse", "", "pass"},
		{`ttft.p90 < 1 and not not not regression("ttft.mean", 0)`, "worse", "", "fail"},
		{`not not regression("ttft.mean", 0)`, "", "", "refused"},
		{`not (not regression("ttft.mean", 0))`, "", "", "refused"},
		{`ttft.p90 < 1 and regression("ttft.mean", 0)`, "", "", "refused"},
		{`not (ttft.p90 > 1 or not regression("ttft.mean", 0))`, "", "", "refused"},
		{`not regression("ttft.mean", 0) and regression("e2e.mean", 0)`, "", "", "refused"},
		{`regression("ttft.mean", 0) == false`, "", "", "refused"},
		{`regression("ttft.mean", 0) ? true : false`, "", "", "refused"},
	} {
		differs := map[string]string{"ttft.mean": test.a, "e2e.mean": test.b}
		s.pair = func(metric string) (pairing, error) {
			p := pairing{metric: metric, interval: interval{n: 12}}
			if differs[metric] == "worse" {
				p.low, p.mean, p.high = 0.1, 0.2, 0.3
			}
			return p, nil
		}
		got := "refused"
		if c, err := compile(test.expr, s); err == nil {
			v, _, err := c.evaluate(s)
			if err != nil {
				t.Fatal(err)
			}
			got = string(v)
		}
		if got != test.want {
			t.Errorf("%s with %v: %s, want %s", test.expr, differs, got, test.want)
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
	if _, _, err := c.evaluate(s); err == nil || !strings.Contains(err.Error(), "a is divided, divides, or is in a power, and is no number") {
		t.Errorf("got %v", err)
	}
}
