package reports

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/seed-2cee110a/triage/policies"
	"github.com/seed-2cee110a/triage/sim"
)

const (
	coldRare      = 0.1  // share of the completed requests up to which cold routes are rare,
	coldExpensive = 2    // times the mean TTFT of the others from which they are expensive,
	coldWeight    = 0.05 // and the share of all TTFT that they cost beyond the others' mean from which it matters
	coldLeast     = 5    // cold routes below which nothing is said
)

// warmAnother finds cold routes that are rare but expensive, and says what one more warm replica would save.
func warmAnother(c *Comparison, r *Run) *Finding {
	cold := coldRoutes(c, r)
	if cold == nil {
		return nil
	}
	text := fmt.Sprintf("cold routes are rare but expensive: %s of its requests (%s) went to a replica without a prefix that another had, and their mean TTFT is %s",
		group(int64(cold.n)), percent(float64(cold.n)/float64(r.Completed)), against(cold.ttft, cold.rest)+" of the others")
	e := &Evidence{Replicas: cold.landed, Numbers: map[string]float64{"cold_routes": float64(cold.n), "cold_ttft_mean_s": cold.ttft, "other_ttft_mean_s": cold.rest}}
	p := cold.prefix
	text += fmt.Sprintf("; %s of them share a prefix of %s tokens%s, warm on %s: warm replicas for that prefix", group(int64(p.requests)),
		group(int64(p.tokens)), p.whose(), count(cold.copies, "replica"))
	e.Numbers["prefix_tokens"], e.Numbers["prefix_warm_replicas"] = float64(p.tokens), float64(cold.copies)
	if more := r.beside(OneMoreOwner); more != nil {
		text += fmt.Sprintf("; with one owner more (%s replayed) %s", more.spec.Text, saving(c, r, more, e.Numbers))
	}
	return &Finding{Text: text, Evidence: e}
}

// saving says what a variant of a run saves.
func saving(c *Comparison, r *Run, more *beside, numbers map[string]float64) string {
	numbers["one_more_ttft_mean_s"], numbers["saving"] = more.TTFT.Mean, 1-more.TTFT.Mean/r.TTFT.Mean
	after := &Run{Summary: *more.Summary, Spec: more.spec, result: more.result}
	left := 0
	if x := routesOf(after); x != nil {
		left = x.n
	}
	numbers["one_more_cold_routes"] = float64(left)
	d := differ(r.TTFT.Mean, more.TTFT.Mean)
	if d == "" {
		d = "no clear difference"
	}
	return fmt.Sprintf("the mean TTFT moves %s (%s), the p90 %s, cold routes to %s", shift(r.TTFT.Mean, more.TTFT.Mean), d,
		shift(r.TTFT.P90, more.TTFT.P90), group(int64(left)))
}

// cold are requests that went to a replica without a prefix that another had.
type cold struct {
	n          int
	ttft, rest float64 // means, seconds: theirs and that of the other completed requests
	prefix     prefix  // that most of them share
	copies     int     // replicas that served it from their caches
	landed     []string
}

// coldRoutes returns the cold routes of a run if they are rare but expensive, nil otherwise.
func coldRoutes(c *Comparison, r *Run) *cold {
	if r.result == nil || r.Spec.Name != "score" || !known(r.Believed) || c.Trace.Unidentified == c.Trace.Requests {
		return nil
	}
	x := routesOf(r)
	if x == nil || x.n < coldLeast || x.prefix.requests == 0 || float64(x.n) > coldRare*float64(r.Completed) || x.ttft < coldExpensive*x.rest ||
		float64(x.n)*(x.ttft-x.rest) < coldWeight*float64(r.Completed)*r.TTFT.Mean {
		return nil
	}
	return x
}

// routesOf finds all cold routes of a run, nil if there are none.
func routesOf(r *Run) *cold {
	res := r.result
	is := coldRows(res)
	x := &cold{}
	var total float64
	for i := range res.Outcomes {
		if o := &res.Outcomes[i]; is[o.Row] {
			x.n++
			x.ttft += (o.First - o.Arrived).Seconds()
		} else if o.Status == sim.Completed {
			total += (o.First - o.Arrived).Seconds()
		}
	}
	if x.n == 0 {
		return nil
	}
	x.ttft, x.rest = x.ttft/float64(x.n), total/math.Max(1, float64(r.Completed-x.n))
	x.prefix = common(res, func(o *sim.Outcome) bool { return is[o.Row] })
	x.copies = copies(res, x.prefix)
	x.landed = landed(res, is)
	return x
}

// coldRows says by row which completed requests hit less than half of a prefix, a quarter of the prompt or more, that
// another replica had computed before they were sent.
func coldRows(r *sim.Result) []bool {
	f := &r.Trace.Forest
	when, who := make([]float64, len(f.Parent)), make([]int32, len(f.Parent)) // a node was first computed
	for n := range when {
		when[n] = math.Inf(1)
	}
	for i := range r.Outcomes {
		o := &r.Outcomes[i]
		if o.Status != sim.Completed {
			continue
		}
		for n := r.Trace.Leaf[o.Row]; n >= 0; n = f.Parent[n] {
			if at := o.First.Seconds(); at < when[n] {
				when[n], who[n] = at, o.Replica
			}
		}
	}
	is := make([]bool, r.Trace.Len())
	for i := range r.Outcomes {
		o := &r.Outcomes[i]
		if o.Status != sim.Completed {
			continue
		}
		n := r.Trace.Leaf[o.Row]
		for n >= 0 && when[n] > o.Dispatched.Seconds() {
			n = f.Parent[n]
		}
		is[o.Row] = n >= 0 && who[n] != o.Replica && 2*o.Hit < f.End[n] && 4*f.End[n] >= r.Trace.Prompt[o.Row]
	}
	return is
}

// copies counts the replicas that served most of a prefix from their caches.
func copies(r *sim.Result, p prefix) int {
	if p.requests == 0 {
		return 0
	}
	served, n := make([]bool, len(r.Replicas)), 0
	for i := range r.Outcomes {
		o := &r.Outcomes[i]
		if o.Status == sim.Completed && !served[o.Replica] && 2*o.Hit >= p.tokens && passes(r, o.Row, p.node) {
			served[o.Replica] = true
			n++
		}
	}
	return n
}

// landed names the replicas that some rows went to.
func landed(r *sim.Result, is []bool) []string {
	on := make([]bool, len(r.Replicas))
	for i := range r.Outcomes {
		if o := &r.Outcomes[i]; is[o.Row] {
			on[o.Replica] = true
		}
	}
	var out []string
	for i, yes := range on {
		if yes {
			out = append(out, r.Replicas[i].Name)
		}
	}
	return out
}

// oneMoreOwner returns the policy of a run with one more owner a prefix, if its cold routes ask for it: owners named by a
// hash, one more of them than there are or than replicas were warm.
func oneMoreOwner(c *Comparison, r *Run) (policies.Spec, bool) {
	x := coldRoutes(c, r)
	if x == nil {
		return policies.Spec{}, false
	}
	k := max(1, x.copies) + 1
	if r.Spec.Knob("prefix") == "bucket" {
		k, _ = strconv.Atoi(r.Spec.Knob("k"))
		k++
	}
	if k > c.widest() {
		return policies.Spec{}, false
	}
	knobs := map[string]string{"prefix": "bucket", "k": strconv.Itoa(k)}
	if n := x.prefix.tokens; n > 0 && n < bucketTokens && r.Spec.Knob("prefix") != "bucket" {
		knobs["n"] = strconv.Itoa(int(n))
	}
	spec, err := policies.Parse(with(r.Spec.Text, knobs))
	return spec, err == nil
}

// bucketTokens are the tokens of a prefix that its owners are named by, unless the knob n says otherwise.
const bucketTokens = 1024

// with sets knobs in the text of a policy.
func with(text string, knobs map[string]string) string {
	name, given, _ := strings.Cut(text, ":")
	var parts []string
	for pair := range strings.SplitSeq(given, ",") {
		if key, _, _ := strings.Cut(pair, "="); pair != "" && knobs[key] == "" {
			parts = append(parts, pair)
		}
	}
	for _, key := range []string{"prefix", "k", "n"} {
		if knobs[key] != "" {
			parts = append(parts, key+"="+knobs[key])
		}
	}
	return name + ":" + strings.Join(parts, ",")
}
