package sim

import (
	"github.com/seed-2cee110a/triage/engine"
	"github.com/seed-2cee110a/triage/traces"
)

// Summary is a run in numbers. Times in seconds, ratios from 0 to 1. Over no values every statistic is NaN.
type Summary struct {
	Policy          string
	Requests        int
	Completed       int
	Rejected        int
	RejectedBy      [NumReasons]int
	TTFT, TPOT, E2E Quantiles
	EngineWait      Quantiles
	HitRatio        float64 // prompt tokens served from the cache at first admission / prompt tokens, completed requests
	Believed        float64 // the same as the router believed it at dispatch; NaN without a belief
	Imbalance       float64 // max / mean of the replicas' busy time; of several pools, the mean of each one's by busy time
	Preemptions     int64
	Recomputed      float64 // tokens computed again after preemptions, per output token of completed requests
	OutputPerS      float64 // output tokens per second of makespan
	RequestsPerS    float64
	Makespan        float64 // from the first arrival to the last delivery or refusal
	Affinity        []Bucket
	Retries         int // requests that were sent again after a crash
	Crashes         []CrashReport
	Adapters        bool      // they play a part
	Loads           int64     // of adapters into slots
	Held            int       // requests that waited at the gateway
	GatewayWait     Quantiles // of those
	RetryAfter      Quantiles // what requests were told that were refused for their tenants' rates
	Belief          Belief
	Tenants         []TenantSummary // most tokens first; nil if the trace names none
	Replicas        []ReplicaSummary
}

// Quantiles are nearest-rank quantiles of a sample, its mean and its size.
type Quantiles struct {
	N                             int
	Mean, P50, P90, P95, P99, Max float64
}

// Bucket is the TTFT of the requests with a share of their prompt truly hit.
type Bucket struct {
	Name  string // "cold", "(0,0.25]", "(0.25,0.75]", "(0.75,1)", "full"; one "unknown" bucket without identity
	N     int
	TTFT  Quantiles
	Share float64 // of the completed requests
}

// ReplicaSummary is one replica in numbers.
type ReplicaSummary struct {
	Name      string
	Pool      string // "" if no pools are named
	Requests  int
	BusyRatio float64 // busy time / makespan
	HitRatio  float64 // NaN if it served nothing
	Loads     int64   // of adapters into slots
}

// LoadsPer1000 is adapter loads per 1,000 completed requests.
func (s *Summary) LoadsPer1000() float64 { return float64(s.Loads*1000) / float64(s.Completed) }

// bounds of the buckets between cold and full: the share of the prompt that hit is above the first and at most the
// second; the last one ends below what could hit at all.
var middle = []struct {
	name string
	most float64
}{{"(0,0.25]", 0.25}, {"(0.25,0.75]", 0.75}, {"(0.75,1)", 1}}

// Summary computes the run's numbers.
func (r *Result) Summary() Summary {
	s := r.Brief()
	var wait []float64
	for i := range r.Outcomes {
		if o := &r.Outcomes[i]; o.Status == Completed {
			wait = append(wait, (o.Scheduled - o.Dispatched).Seconds())
		}
	}
	s.EngineWait, s.Affinity = quantiles(wait), r.buckets()
	s.Belief = r.Belief(hotShown)
	s.RetryAfter, s.Tenants = r.retryAfter(), r.Tenants()
	return s
}

// Brief is Summary without affinity buckets, engine waits and tenants, which a search over many runs does not look at.
func (r *Result) Brief() Summary {
	s := Summary{Policy: r.Policy, Crashes: r.Crashes, Adapters: r.Adapters, Requests: len(r.Outcomes), Believed: nan, HitRatio: nan}
	var held []float64
	ttft, tpot, e2e := r.sample(), r.sample(), r.sample()
	var prompt, hit, output int64
	for i := range r.Outcomes {
		o := &r.Outcomes[i]
		s.Preemptions += int64(o.Preemptions)
		s.Retries += int(o.Retries)
		if o.Held {
			s.Held++
			held = append(held, (o.left() - o.Arrived).Seconds())
		}
		if o.Status != Completed {
			s.Rejected++
			s.RejectedBy[o.Reason]++
			continue
		}
		out := max(1, r.Trace.Output[o.Row])
		prompt += int64(r.Trace.Prompt[o.Row])
		hit += int64(o.Hit)
		output += int64(out)
		ttft = append(ttft, (o.First - o.Arrived).Seconds())
		e2e = append(e2e, (o.Finished - o.Arrived).Seconds())
		if out > 1 {
			tpot = append(tpot, (o.Finished-o.First).Seconds()/float64(out-1))
		}
	}
	s.Completed = len(ttft)
	s.TTFT, s.TPOT, s.E2E = quantiles(ttft), quantiles(tpot), quantiles(e2e)
	s.GatewayWait = quantiles(held)
	if prompt > 0 {
		s.HitRatio = float64(hit) / float64(prompt)
		if r.Believed >= 0 {
			s.Believed = float64(r.Believed) / float64(prompt)
		}
	}
	s.rates(r, output)
	return s
}

// sample returns room for a value a request.
func (r *Result) sample() []float64 { return make([]float64, 0, len(r.Outcomes)) }

// left returns when a request left the gateway, for a replica or for good.
func (o *Outcome) left() engine.Time {
	if o.Dispatched >= 0 {
		return o.Dispatched
	}
	return o.Finished
}

// rates fills in what is relative to the makespan.
func (s *Summary) rates(r *Result, output int64) {
	s.Makespan = (r.End - r.Outcomes[0].Arrived).Seconds()
	s.OutputPerS, s.RequestsPerS = float64(output)/s.Makespan, float64(s.Completed)/s.Makespan
	var recomputed int64
	for _, rep := range r.Replicas {
		s.Replicas = append(s.Replicas, ReplicaSummary{Name: rep.Name, Pool: r.poolName(rep.Pool), Requests: rep.Requests,
			BusyRatio: rep.Stats.Busy.Seconds() / s.Makespan, HitRatio: float64(rep.HitTokens) / float64(rep.PromptTokens),
			Loads: rep.Stats.AdapterLoads})
		s.Loads += rep.Stats.AdapterLoads
		recomputed += rep.Stats.Recomputed
	}
	if output > 0 {
		s.Recomputed = float64(recomputed) / float64(output)
	}
	s.Imbalance = r.imbalance()
}

func (r *Result) poolName(pool int) string {
	if len(r.Config.Pools) == 0 {
		return ""
	}
	return r.Config.Pools[pool].Name
}

// imbalance is the busiest replica's busy time over the mean: of each pool, since how busy pools are beside one another is
// the traffic's doing more than the router's, and then the mean by busy time. It is NaN if nobody was busy.
func (r *Result) imbalance() float64 {
	pools := make([]struct{ busy, most, n float64 }, max(1, len(r.Config.Pools)))
	total := 0.0
	for _, rep := range r.Replicas {
		p, b := &pools[rep.Pool], rep.Stats.Busy.Seconds()
		p.busy += b
		p.most = max(p.most, b)
		p.n++
		total += b
	}
	if total == 0 {
		return nan
	}
	out := 0.0
	for _, p := range pools {
		if p.busy > 0 {
			out += float64(p.busy / total * (p.most / (p.busy / p.n)))
		}
	}
	return max(1, out) // rounding
}

// buckets sorts the completed requests by the share of their prompt that hit. Full is all that could hit: all whole
// blocks of the identified prefix but one with the prompt's last token. A request without prefix identity could not tell, so it has its own bucket.
func (r *Result) buckets() []Bucket {
	names := []string{"cold"}
	for _, m := range middle {
		names = append(names, m.name)
	}
	names = append(names, "full", "unknown")
	ttft := make([][]float64, len(names))
	total := 0
	for i := range r.Outcomes {
		if o := &r.Outcomes[i]; o.Status == Completed {
			b := r.bucket(o)
			ttft[b] = append(ttft[b], (o.First - o.Arrived).Seconds())
			total++
		}
	}
	unknown := len(names) - 1
	if len(ttft[unknown]) == total && total > 0 { // nobody's share is known: the others would be empty claims
		return []Bucket{{Name: names[unknown], N: total, TTFT: quantiles(ttft[unknown]), Share: 1}}
	}
	var out []Bucket
	for i, name := range names {
		if n := len(ttft[i]); n > 0 || i != unknown {
			out = append(out, Bucket{Name: name, N: n, TTFT: quantiles(ttft[i]), Share: float64(n) / float64(total)})
		}
	}
	return out
}

// bucket returns the index of an outcome's bucket.
func (r *Result) bucket(o *Outcome) int {
	prompt, block, could := r.Trace.Prompt[o.Row], int32(r.BlockSize(o.Replica)), int32(0)
	if leaf := r.Trace.Leaf[o.Row]; leaf != traces.Unknown {
		could = min(r.Trace.Forest.End[leaf], prompt-1) / block * block
	}
	switch {
	case !r.Trace.Identified(int(o.Row)):
		return len(middle) + 2
	case o.Hit == 0:
		return 0
	case o.Hit >= could:
		return len(middle) + 1
	}
	share := float64(o.Hit) / float64(prompt)
	for i, m := range middle {
		if share <= m.most {
			return i + 1
		}
	}
	return len(middle)
}
