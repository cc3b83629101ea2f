package reports

import (
	"fmt"
	"strings"

	"github.com/seed-2cee110a/triage/policies"
	"github.com/seed-2cee110a/triage/sim"
)

// staleAge is the mean age of signals, in seconds, from which a scorer's picks may suffer.
const staleAge = 1

// staleSignals says what old signals cost, and what the knobs against them are worth.
func staleSignals(c *Comparison) []string {
	var out []string
	for i := range c.Runs {
		r, b := &c.Runs[i], c.base()
		if r == b || r.Spec.Name != "score" || !(r.Age.Mean > staleAge) || !known(r.TTFT.Mean, b.TTFT.Mean) || easier(b, r) {
			continue
		}
		if r.TTFT.Mean > float64(b.TTFT.Mean*(1+noise)) {
			out = append(out, fmt.Sprintf("%s: its signals are %s old (mean; p95 %s) and its mean TTFT is worse than that of %s: %s; try %s",
				r.Policy, duration(r.Age.Mean), duration(r.Age.P95), b.Policy, against(r.TTFT.Mean, b.TTFT.Mean), fresher(r.Spec)))
		}
	}
	out = append(out, worthWhenStale(c, "sent", "off", "on")...)
	return append(out, worthWhenStale(c, "norm", "absolute", "work")...)
}

// fresher lists what makes a score depend less on old numbers.
func fresher(s policies.Spec) string {
	var tries []string
	if s.Knob("sent") == "off" {
		tries = append(tries, "sent=on")
	}
	if s.Knob("norm") != "work" {
		tries = append(tries, "norm=work")
	}
	if s.Knob("fit") == "spill" {
		tries = append(tries, "fit=off (the KV filter reads old samples)")
	}
	return strings.Join(append(tries, "a fresher scrape (--signals scrape=1s)"), ", ")
}

// worthWhenStale compares runs that differ in one knob under old signals.
func worthWhenStale(c *Comparison, knob, from, to string) []string {
	var out []string
	for _, p := range pairs(c, knob) {
		if p.av == to {
			p = p.swap()
		}
		if p.av != from || p.bv != to || !(p.a.Age.Mean > staleAge) {
			continue
		}
		if p.lopsided() {
			out = append(out, p.incomparable(knob))
			continue
		}
		d := differ(p.a.TTFT.Mean, p.b.TTFT.Mean)
		if d == "" {
			d = "no clear difference"
		}
		out = append(out, fmt.Sprintf("with signals %s old, %s=%s instead of %s=%s moves the mean TTFT %s (%s)",
			duration(p.a.Age.Mean), knob, to, knob, from, shift(p.a.TTFT.Mean, p.b.TTFT.Mean), d))
	}
	return out
}

// unknownIdentity says what a trace without prefix identity cannot show.
func unknownIdentity(c *Comparison) []string {
	t := c.Trace
	switch {
	case t.Unidentified == 0:
		return nil
	case t.Unidentified == t.Requests:
		return []string{"no request says which prefix it shares: hit ratios and affinity say nothing, and policies differ here by load alone"}
	}
	return []string{fmt.Sprintf("%s of %s requests do not say which prefix they share: hit ratios and affinity say nothing about them",
		group(int64(t.Unidentified)), group(int64(t.Requests)))}
}

// muchAgain is the share of recomputed tokens from which preemptions are worth a word.
const muchAgain = 0.05

// preemptions says how much work was done twice.
func preemptions(c *Comparison) []string {
	var out []string
	for i := range c.Runs {
		if r := &c.Runs[i]; r.Recomputed >= muchAgain {
			out = append(out, fmt.Sprintf("%s: %s preemptions: %.2f tokens were computed again for every token of output; KV is too small for what runs at once: raise --kv-tokens, lower --max-num-seqs, or add --replicas",
				r.Policy, group(r.Preemptions), r.Recomputed))
		}
	}
	return out
}

// advice says what to do about a refusal.
var advice = [sim.NumReasons]string{
	sim.TooLong:     "prompt + output exceed --max-model-len: raise it",
	sim.NeverFits:   "they need more KV blocks than a replica has: raise --kv-tokens or --tp, or take a larger GPU",
	sim.NoReplica:   "no pool serves what they ask for: the warnings name it; see serves and caps in the cluster file",
	sim.Deadline:    "no replica had room in time: add --replicas, raise --gateway-deadline, or use fit=off",
	sim.QueueFull:   "the gateway's queue was full: raise --gateway-queue, or add --replicas",
	sim.RateLimited: "their tenant used more tokens than it may: raise its limit, or spread its load",
	sim.Crashed:     "their replica crashed: --config with on_crash: retry sends them once more",
	sim.Shed:        "the policy refused them: loosen its limits, or add --replicas",
}

// rejections says what was refused and what to do; runs with equal refusals share a finding.
func rejections(c *Comparison) []string {
	var out []string
	done := map[[sim.NumReasons]int]bool{}
	for i := range c.Runs {
		r := &c.Runs[i]
		if r.Rejected == 0 || done[r.RejectedBy] {
			continue
		}
		done[r.RejectedBy] = true
		out = append(out, fmt.Sprintf("%s: %s of %s requests rejected (%s): %s", sharers(c, r),
			group(int64(r.Rejected)), group(int64(r.Requests)), percent(float64(r.Rejected)/float64(r.Requests)), byReason(r)))
	}
	return out
}

// sharers names the runs with the same refusals as r.
func sharers(c *Comparison, r *Run) string {
	var names []string
	for _, other := range c.Runs {
		if other.RejectedBy == r.RejectedBy {
			names = append(names, other.Policy)
		}
	}
	return join(names)
}

func byReason(r *Run) string {
	var parts []string
	for reason, n := range r.RejectedBy {
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%s %s (%s)", group(int64(n)), sim.Reason(reason), advice[reason]))
		}
	}
	return strings.Join(parts, "; ")
}
