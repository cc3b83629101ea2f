package reports

import (
	"math"
	"strings"
	"testing"

	"github.com/seed-2cee110a/triage/sim"
)

// Each rule has a comparison that triggers it and one near it that does not.
func TestFindings(t *testing.T) {
	rr := func(mean float64, change ...func(*Run)) Run { return made(t, "round-robin", mean, 0.2, 1.1, change...) }
	run := func(policy string, mean, hit, imbalance float64, change ...func(*Run)) Run {
		return made(t, policy, mean, hit, imbalance, change...)
	}
	partly := func(n int) func(*Comparison) { return func(c *Comparison) { c.Trace.Unidentified = n } }
	for _, test := range []struct {
		name string
		id   string
		runs []Run
		set  func(*Comparison)
		want string // substring of the finding, "" if the rule must be silent
	}{
		{"a policy beats the baseline", "best", []Run{rr(2), run("score", 1, 0.36, 1.04)}, nil,
			"score has the lowest mean TTFT: 1.00 s against 2.00 s of round-robin (-50 %); p90 2.00 s against 4.00 s; meanwhile hit ratio 0.20 -> 0.36 and imbalance 1.10 -> 1.04"},
		{"a small move of the imbalance is none", "best", []Run{rr(2), run("score", 1, 0.36, 1.06)}, nil, "4.00 s; meanwhile hit ratio 0.20 -> 0.36$"},
		{"uneven work is a price", "best", []Run{rr(2), run("score", 1, 0.36, 1.56)}, nil,
			"; meanwhile hit ratio 0.20 -> 0.36, at the price of imbalance 1.10 -> 1.56"},
		{"nothing but a price", "best", []Run{rr(2), run("score", 1, 0.2, 1.56)}, nil, "4.00 s; at the price of imbalance 1.10 -> 1.56"},
		{"the baseline wins", "best", []Run{rr(1), run("score", 2, 0.36, 1.05)}, nil,
			"round-robin, the baseline, has the lowest mean TTFT: 1.00 s against 2.00 s of score, the next best (-50 %)"},
		{"a difference within noise is none", "best", []Run{rr(2), run("score", 1.97, 0.36, 1.05)}, nil, "no clear difference in mean TTFT: the lowest is 1.97 s (score), against 2.00 s of round-robin"},
		{"the baseline leads within noise", "best", []Run{rr(1.97), run("score", 2, 0.36, 1.05)}, nil, "no clear difference in mean TTFT"},
		{"another policy wins the tail", "best", []Run{rr(2), run("score", 1, 0.36, 1.05, ttft(3)), run("random", 1.5, 0.2, 1, ttft(2.5))}, nil,
			"random has the lowest p90 TTFT: 2.50 s against 3.00 s of score"},
		{"one run has nobody to beat", "best", []Run{rr(2)}, nil, ""},
		{"nothing completed, nothing to say", "best", []Run{rr(math.NaN()), run("score", 1, 0.2, 1)}, nil, ""},
		{"who refuses half cannot win", "best",
			[]Run{rr(2), run("score", 1, 0.3, 1, rejects(map[sim.Reason]int{sim.Deadline: 50}))}, nil, "round-robin is the only policy that served (nearly) all requests: mean TTFT 2.00 s; score refused 50 of 100 requests and does not compare"},
		{"a baseline that refuses half is no measure", "best",
			[]Run{rr(0.0341, rejects(map[sim.Reason]int{sim.Deadline: 50})), run("score", 123, 0.3, 1)}, nil,
			"score is the only policy that served (nearly) all requests: mean TTFT 123 s; round-robin refused 50 of 100 requests and does not compare"},
		{"the best of those that serve all", "best",
			[]Run{rr(0.0341, rejects(map[sim.Reason]int{sim.Deadline: 50})), run("score", 1, 0.3, 1), run("random", 2, 0.3, 1)}, nil,
			"of the policies that served (nearly) all requests score has the lowest mean TTFT: 1.00 s against 2.00 s of random (-50 %); round-robin refused"},
		{"all refuse, one less", "best",
			[]Run{rr(1, rejects(map[sim.Reason]int{sim.Deadline: 50})), run("score", 2, 0.3, 1, rejects(map[sim.Reason]int{sim.Deadline: 40}))}, nil,
			"score is the only policy that served the most requests: mean TTFT 2.00 s; round-robin"},

		{"all work on one replica", "affinity-catastrophe", []Run{rr(2), run("score:q=0,load=0", 820, 0.37, 7.9)}, nil,
			"score:q=0,load=0 sends nearly all work to one replica (imbalance 7.9 of 8): its hit ratio of 0.37 is the best here and its mean TTFT is 820 s, 410x that of round-robin; affinity needs a load term (here q=0, load=0)"},
		{"its hits are not the best", "affinity-catastrophe", []Run{rr(2), run("score:q=0,load=0", 820, 0.1, 5)}, nil,
			"score:q=0,load=0 sends nearly all work to too few replicas (imbalance 5.0 of 8): its mean TTFT is 820 s, 410x"},
		{"piled, against a baseline that refuses half", "affinity-catastrophe",
			[]Run{rr(2, rejects(map[sim.Reason]int{sim.Deadline: 50})), run("score:q=0,load=0", 820, 0.37, 7.9)}, nil, "its mean TTFT is 820 s; affinity needs"},
		{"alone, on one replica", "affinity-catastrophe", []Run{run("score:q=0,load=0", 820, 0.37, 7.9)}, nil,
			"score:q=0,load=0 sends nearly all work to one replica (imbalance 7.9 of 8): its mean TTFT is 820 s; affinity needs"},
		{"the baseline itself", "affinity-catastrophe", []Run{run("score:q=0,load=0", 820, 0.37, 7.9), run("random", 2, 0.1, 1)}, nil, "410x that of random"},
		{"alone, merely uneven", "affinity-catastrophe", []Run{run("score", 820, 0.37, 5)}, nil, ""},
		{"alone, too few requests to tell", "affinity-catastrophe", []Run{run("score", 820, 0.37, 8, rejects(map[sim.Reason]int{sim.Deadline: 90}))}, nil, ""},
		{"uneven, but it pays", "affinity-catastrophe", []Run{rr(2), run("score", 1.5, 0.37, 7.9)}, nil, ""},
		{"slow, but even", "affinity-catastrophe", []Run{rr(2), run("score", 820, 0.37, 4.7)}, nil, ""},

		{"affinity helps", "affinity-pays", []Run{rr(2), run("score:aff=0", 3, 0.11, 1), run("score", 1.2, 0.36, 1)}, nil,
			"affinity (aff=10) pays: mean TTFT 1.20 s against 3.00 s of score:aff=0 (-60 %); hit ratio 0.11 -> 0.36"},
		{"affinity hurts", "affinity-pays", []Run{run("score", 3, 0.36, 1), run("score:aff=0", 1.2, 0.11, 1)}, nil, "affinity (aff=10) does not pay: mean TTFT 3.00 s against 1.20 s of score:aff=0 (2.5x)"},
		{"another knob differs too", "affinity-pays", []Run{run("score:aff=0,q=1", 3, 0.11, 1), run("score", 1.2, 0.36, 1)}, nil, ""},
		{"two weights, none of them 0", "affinity-pays", []Run{run("score:aff=5", 3, 0.11, 1), run("score", 1.2, 0.36, 1)}, nil, ""},
		{"affinity of nothing", "affinity-pays", []Run{run("score:aff=0", 3, 0.11, 1), run("score", 1.2, 0.36, 1)}, partly(100), ""},

		{"spilling evicts", "spill-price", []Run{run("score", 4, 0.2, 1), run("score:fit=off", 2, 0.5, 1)}, nil,
			"filtering on KV room (fit=spill) costs: hit ratio 0.50 -> 0.20, mean TTFT 2.00 s -> 4.00 s (score:fit=off -> score): each spill evicts"},
		{"spilling saves", "spill-price", []Run{run("score:fit=off", 4, 0.2, 1), run("score", 2, 0.2, 1)}, nil, "saves: hit ratio 0.20 -> 0.20, mean TTFT 4.00 s -> 2.00 s"},
		{"spilling costs, but not by evictions", "spill-price", []Run{run("score", 4, 0.5, 1), run("score:fit=off", 2, 0.5, 1)}, nil, "2.00 s -> 4.00 s (score:fit=off -> score)"},
		{"margins differ too", "spill-price", []Run{run("score:margin=0.1", 4, 0.2, 1), run("score:fit=off", 2, 0.5, 1)}, nil, ""},

		{"times over different requests", "spill-price",
			[]Run{run("score:fit=off", 4, 0.5, 1), run("score", 1, 0.6, 1, rejects(map[sim.Reason]int{sim.Deadline: 51}))}, nil,
			"fit=off and fit=spill do not compare by time, as they completed 100 and 49 of 100 requests (score:fit=off, score); hit ratio 0.50 -> 0.60"},
		{"affinity over different requests", "affinity-pays",
			[]Run{run("score:aff=0", 4, 0.1, 1), run("score", 1, 0.6, 1, rejects(map[sim.Reason]int{sim.Deadline: 2}))}, nil, "aff=0 and aff=10 do not compare by time"},
		{"affinity pays all the more", "affinity-pays",
			[]Run{run("score:aff=0", 4, 0.1, 1, rejects(map[sim.Reason]int{sim.Deadline: 2})), run("score", 1, 0.6, 1)}, nil,
			"1.00 s against 4.00 s of score:aff=0 (-75 %); hit ratio 0.10 -> 0.60; at least, since score:aff=0 completed only 98 of 100 requests"},
		{"spilling costs all the more", "spill-price",
			[]Run{run("score:fit=off", 1, 0.5, 1), run("score", 4, 0.2, 1, rejects(map[sim.Reason]int{sim.Deadline: 51}))}, nil,
			"somebody else's prompt; at least, since score completed only 49 of 100 requests"},
		{"norm over different requests", "stale-signals",
			[]Run{run("score:norm=absolute", 4, 0.1, 1, aged(15)), run("score", 1, 0.6, 1, aged(15), rejects(map[sim.Reason]int{sim.Deadline: 2}))}, nil,
			"norm=absolute and norm=work do not compare by time"},

		{"old signals, worse than the baseline", "stale-signals", []Run{rr(2), run("score:norm=absolute,sent=off", 5, 0.3, 1, aged(15))}, nil,
			"its signals are 15.0 s old (mean; p95 30.0 s) and its mean TTFT is worse than that of round-robin: 5.00 s against 2.00 s; try sent=on, norm=work, fit=off"},
		{"worse than a baseline that refuses half", "stale-signals",
			[]Run{rr(2, rejects(map[sim.Reason]int{sim.Deadline: 50})), run("score:sent=off", 5, 0.3, 1, aged(15))}, nil, ""},
		{"counting at least", "stale-signals", []Run{rr(2), run("score:sent=off", 5, 0.3, 1, aged(15))}, nil, "try sent=on, fit=off"},
		{"fresh enough", "stale-signals", []Run{rr(2), run("score:norm=absolute,sent=off", 5, 0.3, 1, aged(0.9))}, nil, ""},
		{"old signals, and better all the same", "stale-signals", []Run{rr(2), run("score", 1, 0.3, 1, aged(15))}, nil, ""},
		{"what sent is worth", "stale-signals",
			[]Run{run("score:norm=absolute,sent=off", 5, 0.3, 1, aged(15)), run("score:norm=absolute", 2, 0.3, 1, aged(15))}, nil,
			"with signals 15.0 s old, sent=on instead of sent=off moves the mean TTFT 5.00 s -> 2.00 s (-60 %)"},
		{"what norm is worth", "stale-signals",
			[]Run{run("score", 1, 0.3, 1, aged(15)), run("score:norm=absolute", 2, 0.3, 1, aged(15))}, nil,
			"norm=work instead of norm=absolute moves the mean TTFT 2.00 s -> 1.00 s"},
		{"norm under live signals", "stale-signals", []Run{run("score", 1, 0.3, 1), run("score:norm=absolute", 0.9, 0.3, 1)}, nil, ""},

		{"no identity at all", "unknown-identity", []Run{rr(2)}, partly(100), "no request says which prefix it shares"},
		{"some identity", "unknown-identity", []Run{rr(2)}, partly(7), "7 of 100 requests do not say"},
		{"full identity", "unknown-identity", []Run{rr(2)}, partly(0), ""},

		{"refusals by reason", "rejections",
			[]Run{rr(2, rejects(map[sim.Reason]int{sim.TooLong: 3, sim.Deadline: 1}))}, nil,
			"round-robin: 4 of 100 requests rejected (4 %): 3 too_long (prompt + output exceed --max-model-len: raise it); 1 deadline (no replica had room in time"},
		{"equal refusals are told once", "rejections",
			[]Run{rr(2, rejects(map[sim.Reason]int{sim.TooLong: 3})), run("score", 1, 0.3, 1, rejects(map[sim.Reason]int{sim.TooLong: 3}))}, nil,
			"round-robin and score: 3 of 100"},
		{"no refusals", "rejections", []Run{rr(2)}, nil, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := hand(t, test.runs...)
			if test.set != nil {
				test.set(c)
				c.conclude()
			}
			got := textsOf(c, test.id)
			switch {
			case test.want == "" && len(got) > 0:
				t.Errorf("%s says %q, want silence", test.id, got)
			case !strings.Contains(strings.Join(got, "$\n")+"$", test.want):
				t.Errorf("%s says %q, want it to contain %q", test.id, got, test.want)
			}
		})
	}
}

func TestSpillCostWithoutEvictionsBlamesNobody(t *testing.T) {
	c := hand(t, made(t, "score", 4, 0.5, 1), made(t, "score:fit=off", 2, 0.5, 1))
	if got := textsOf(c, "spill-price"); len(got) != 1 || strings.Contains(got[0], "evicts") {
		t.Errorf("got %q, want one finding that does not speak of evictions: the hit ratio did not fall", got)
	}
}

// A rule reads numbers that may be unknown: none may print them.
func TestFindingsNeverPrintUnknownNumbers(t *testing.T) {
	nan := math.NaN()
	c := hand(t, made(t, "round-robin", nan, nan, nan), made(t, "score", nan, nan, nan, aged(15)),
		made(t, "score:aff=0", 1, nan, nan, aged(15)), made(t, "score:fit=off", nan, nan, nan, aged(15)))
	for _, f := range c.Findings {
		if strings.Contains(f.Text, "NaN") || strings.Contains(f.Text, "Inf") || strings.Contains(f.Text, " - ") {
			t.Errorf("%s prints an unknown number: %s", f.ID, f.Text)
		}
	}
}

func TestEqualRefusalsAreToldOnce(t *testing.T) {
	three := rejects(map[sim.Reason]int{sim.TooLong: 3})
	c := hand(t, made(t, "round-robin", 2, 0.2, 1, three), made(t, "score", 1, 0.3, 1, three), made(t, "random", 1, 0.3, 1))
	if got := textsOf(c, "rejections"); len(got) != 1 {
		t.Errorf("got %q, want one finding for both", got)
	}
}

func TestEveryReasonHasAdvice(t *testing.T) {
	for reason := sim.None + 1; reason < sim.NumReasons; reason++ {
		if advice[reason] == "" {
			t.Errorf("no advice for %s", reason)
		}
	}
}

func textsOf(c *Comparison, id string) []string {
	var out []string
	for _, f := range c.Findings {
		if f.ID == id {
			out = append(out, f.Text)
		}
	}
	return out
}
