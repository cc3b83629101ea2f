package reports

import (
	"fmt"

	"github.com/seed-2cee110a/triage/sim"
)

const (
	hotLoad = 2   // times the mean requests in flight of the pool's other replicas from which a replica is hot,
	hotWait = 1.5 // if the mean TTFT of its requests is so many times that of the others', too
)

// hotReplica finds a replica that has far more in flight than the others of its pool, at the price of time.
func hotReplica(c *Comparison, r *Run) *Finding {
	if r.result == nil {
		return nil
	}
	loads := loadsOf(r.result)
	h := hottest(loads)
	if h < 0 {
		return nil
	}
	hot, rest := loads[h], others(loads, h)
	if hot.requests < thin || rest.n == 0 || hot.flight < hotLoad*rest.flight/float64(rest.n) || hot.ttft() < hotWait*rest.ttft() {
		return nil
	}
	span := r.Makespan
	name, busy := r.Replicas[h].Name, r.Replicas[h].BusyRatio
	text := fmt.Sprintf("%s is hot: %s requests in flight on average against %s on each of the others (busy %s of the time), and mean TTFT is %s there",
		name, significant(hot.flight/span), significant(rest.flight/float64(rest.n)/span), percent(busy), duration(hot.ttft()))
	numbers := map[string]float64{"in_flight_mean": hot.flight / span, "in_flight_mean_of_others": rest.flight / float64(rest.n) / span,
		"busy_ratio": busy, "ttft_mean_s": hot.ttft(), "imbalance": r.Imbalance}
	if rest.requests > 0 {
		text += " against " + duration(rest.ttft())
		numbers["ttft_mean_of_others_s"] = rest.ttft()
	}
	e := &Evidence{Replicas: []string{name}, Numbers: numbers}
	if p := commonPrefix(r.result, int32(h)); p.requests > 0 {
		text += fmt.Sprintf("; it holds a prefix of %s tokens that %s of its %s requests share%s", group(int64(p.tokens)), percent(float64(p.requests)/float64(hot.requests)),
			group(int64(hot.requests)), p.whose())
		numbers["prefix_tokens"], numbers["prefix_requests"] = float64(p.tokens), float64(p.requests)
		if p.tenant != "" {
			e.Tenants = []string{p.tenant}
		}
	}
	remedy := "; choose by load: least-request, or score"
	if r.Spec.Name == "score" {
		remedy = "; weigh load more (q, load), or bound it"
	}
	return &Finding{Text: text + remedy, Evidence: e}
}

// load is what a replica, or several, had to do.
type load struct {
	pool, n, requests int
	flight            float64 // time in flight of all its requests, seconds
	first             float64 // time to first token, likewise
}

func (l load) ttft() float64 { return l.first / float64(l.requests) }

// loadsOf returns the loads of the replicas, by completed requests.
func loadsOf(r *sim.Result) []load {
	out := make([]load, len(r.Replicas))
	for i := range out {
		out[i].pool, out[i].n = r.Replicas[i].Pool, 1
	}
	for i := range r.Outcomes {
		if o := &r.Outcomes[i]; o.Status == sim.Completed {
			l := &out[o.Replica]
			l.requests++
			l.flight += (o.Finished - o.Dispatched).Seconds()
			l.first += (o.First - o.Arrived).Seconds()
		}
	}
	return out
}

// hottest returns the replica with the most in flight of those with others in their pool, -1 if there is none.
func hottest(loads []load) int {
	h := -1
	for i := range loads {
		if (h < 0 || loads[i].flight > loads[h].flight) && others(loads, i).n > 0 {
			h = i
		}
	}
	return h
}

// others sums up the loads of the other replicas of a pool.
func others(loads []load, h int) load {
	var sum load
	for i, l := range loads {
		if i != h && l.pool == loads[h].pool {
			sum.n, sum.requests, sum.flight, sum.first = sum.n+1, sum.requests+l.requests, sum.flight+l.flight, sum.first+l.first
		}
	}
	return sum
}

// prefix is what some requests share.
type prefix struct {
	node     int32
	tokens   int32
	requests int
	tenant   string // of all of them, "" if there is none
}

func (p prefix) whose() string {
	if p.tenant == "" {
		return ""
	}
	return " (tenant " + p.tenant + ")"
}

// commonPrefix returns the longest prefix that at least half of a replica's requests share; none has no requests.
func commonPrefix(r *sim.Result, replica int32) prefix {
	return common(r, func(o *sim.Outcome) bool { return o.Replica == replica })
}

// common returns the longest prefix that at least half of the completed requests of a kind share.
func common(r *sim.Result, of func(*sim.Outcome) bool) prefix {
	f := &r.Trace.Forest
	walks, total := make([]int, len(f.Parent)), 0
	for i := range r.Outcomes {
		if o := &r.Outcomes[i]; o.Status == sim.Completed && of(o) {
			total++
			for n := r.Trace.Leaf[o.Row]; n >= 0; n = f.Parent[n] {
				walks[n]++
			}
		}
	}
	p := prefix{node: -1}
	for n, w := range walks {
		if w > 1 && 2*w >= total && f.End[n] > p.tokens {
			p = prefix{node: int32(n), tokens: f.End[n], requests: w}
		}
	}
	p.tenant = owner(r, p.node)
	return p
}

// owner returns the tenant that alone has a prefix, "" if several have.
func owner(r *sim.Result, node int32) string {
	name, found := "", false
	for i := range r.Outcomes {
		row := r.Outcomes[i].Row
		if node < 0 || !passes(r, row, node) {
			continue
		}
		switch t := r.Trace.Strings[r.Trace.Tenant[row]]; {
		case !found:
			name, found = t, true
		case t != name:
			return ""
		}
	}
	return name
}

// passes says whether a request has a prefix.
func passes(r *sim.Result, row, node int32) bool {
	n := r.Trace.Leaf[row]
	for n > node {
		n = r.Trace.Forest.Parent[n]
	}
	return n == node
}
