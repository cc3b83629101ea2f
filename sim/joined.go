package sim

import (
	"iter"
	"math"
	"strconv"
	"strings"

	"github.com/seed-2cee110a/triage/engine"
	"github.com/seed-2cee110a/triage/policies"
	"github.com/seed-2cee110a/triage/traces"
)

// Joined yields every request with what became of it, in trace order. Arrivals are those that were played. Scores and
// terms are there if Config.Decisions asked for them.
func (r *Result) Joined() iter.Seq[traces.Outcome] {
	return func(yield func(traces.Outcome) bool) {
		row := 0
		for rec := range r.Trace.Records() {
			if row == len(r.Outcomes) || !yield(r.join(rec, row)) {
				return
			}
			row++
		}
	}
}

func (r *Result) join(rec traces.Record, row int) traces.Outcome {
	o := &r.Outcomes[row]
	rec.ArrivalNs = int64(o.Arrived.Duration())
	j := traces.Outcome{Record: rec, Row: int64(o.Row), Policy: r.Policy, Replica: r.name(o.Replica), Outcome: o.Status.String(),
		Reason: o.Reason.String(), HitTokens: traces.Unknown, Preemptions: o.Preemptions, Retries: int32(o.Retries), Affinity: math.NaN(),
		TTFTs: since(o.Arrived, o.First), E2Es: math.NaN(), GatewayWaitS: since(o.Arrived, o.Dispatched),
		EngineWaitS: since(o.Dispatched, o.Scheduled), Score: math.NaN(), Margin: math.NaN(), RetryAfterS: math.NaN()}
	if after, ok := r.RetryAfter[o.Row]; ok {
		j.RetryAfterS = after.Seconds()
	}
	identified := r.Trace.Identified(row) // without, what would have hit is unknown, not 0
	if o.Status == Completed {
		j.E2Es = since(o.Arrived, o.Finished)
		if identified {
			j.HitTokens = o.Hit
		}
	}
	if r.Decided != nil {
		d := &r.Decided[row]
		j.Score, j.Margin, j.Terms = d.Score, d.Margin, terms(d)
		if identified {
			j.Affinity = d.Affinity
		}
		if !math.IsNaN(d.Score) {
			j.RunnerUp = r.name(d.RunnerUp)
		}
	}
	return j
}

func (r *Result) name(replica int32) string {
	if replica < 0 {
		return ""
	}
	return r.Replicas[replica].Name
}

// since returns the seconds between two instants, NaN if the second never came.
func since(from, to engine.Time) float64 {
	if to < 0 {
		return math.NaN()
	}
	return (to - from).Seconds()
}

// terms prints the terms that are not 0, such as "aff=8.4,q=-0.6"; nothing for a policy without a score.
func terms(d *Decided) string {
	if math.IsNaN(d.Score) {
		return ""
	}
	var parts []string
	for t, x := range d.Terms {
		if x != 0 {
			parts = append(parts, policies.Term(t).String()+"="+strconv.FormatFloat(x, 'g', -1, 64))
		}
	}
	return strings.Join(parts, ",")
}
