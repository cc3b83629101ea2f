package reports

import (
	"errors"
	"math"

	"github.com/seed-2cee110a/triage/engine"
	"github.com/seed-2cee110a/triage/sim"
	"github.com/seed-2cee110a/triage/traces"
)

// Gallery is what the pictures of a replay are made of: what became of each request under each policy.
type Gallery struct {
	Trace string
	Runs  []Played
}

// Played is one policy's run.
type Played struct {
	Policy   string
	Replicas []string
	Requests []PlayedRequest // in trace order
}

// PlayedRequest is one request of it. Times are seconds since the run began, NaN if they never came; one that was
// not completed has only an arrival and perhaps a dispatch.
type PlayedRequest struct {
	Prompt     int32 // tokens
	Hit        int32 // of them served from the cache, traces.Unknown if nobody knows
	Could      int32 // of them that a cache could have served at most, likewise
	Replica    int32 // -1 if it was never dispatched
	Completed  bool
	Arrived    float64
	Dispatched float64
	Finished   float64
	TTFT       float64
}

var errNoRuns = errors.New("no runs: there is nothing to draw")

// NewGallery takes what the pictures need from results, all of one trace.
func NewGallery(results ...*sim.Result) (*Gallery, error) {
	if len(results) == 0 {
		return nil, errNoRuns
	}
	g := &Gallery{Trace: results[0].Trace.Name}
	for _, r := range results {
		p := Played{Policy: r.Policy, Requests: make([]PlayedRequest, len(r.Outcomes))}
		for _, rep := range r.Replicas {
			p.Replicas = append(p.Replicas, rep.Name)
		}
		for i := range r.Outcomes {
			p.Requests[i] = played(r, &r.Outcomes[i])
		}
		g.Runs = append(g.Runs, p)
	}
	return g, nil
}

func played(r *sim.Result, o *sim.Outcome) PlayedRequest {
	q := PlayedRequest{Prompt: r.Trace.Prompt[o.Row], Hit: traces.Unknown, Could: couldHit(r.Trace, int(o.Row), r.BlockSize(o.Replica)),
		Replica: o.Replica, Completed: o.Status == sim.Completed, Arrived: float64(o.Arrived.Duration()) / 1e9,
		Finished: math.NaN(), TTFT: math.NaN()}
	q.Dispatched = q.Arrived + after(o.Arrived, o.Dispatched)
	if q.Completed {
		q.TTFT, q.Finished = after(o.Arrived, o.First), q.Arrived+after(o.Arrived, o.Finished)
		if q.Could != traces.Unknown {
			q.Hit = o.Hit
		}
	}
	return q
}

// after returns the seconds between two instants, NaN if the second never came. Sums of these are the same for a result and
// for what is kept of it.
func after(from, to engine.Time) float64 {
	if to < 0 {
		return math.NaN()
	}
	return (to - from).Seconds()
}

// couldHit returns how much of a prompt a cache with blocks of that size can serve at most: all whole blocks of the
// identified prefix but one with the last token. It is traces.Unknown without identity.
func couldHit(t *traces.Trace, row, blockSize int) int32 {
	if !t.Identified(row) {
		return traces.Unknown
	}
	leaf, block := t.Leaf[row], int32(max(blockSize, 1))
	if leaf == traces.Unknown {
		return 0
	}
	return min(t.Forest.End[leaf], t.Prompt[row]-1) / block * block
}

// Affinity buckets in order, by index.
const (
	coldBucket    = 0
	warmBucket    = 3 // from here to full a request is warm
	fullBucket    = 4
	unknownBucket = 5
)

// bucketOrder is those of sim.Bucket.
func bucketOrder() []string {
	var out []string
	for _, b := range csvBuckets {
		out = append(out, b.name)
	}
	return out
}

// bucket is the index of a completed request's bucket, by the rule of sim.Bucket.
func (q *PlayedRequest) bucket() int {
	switch {
	case q.Hit == traces.Unknown || q.Could == traces.Unknown:
		return unknownBucket
	case q.Hit == 0:
		return coldBucket
	case q.Hit >= q.Could:
		return fullBucket
	}
	share := float64(q.Hit) / float64(q.Prompt)
	for i, most := range []float64{0.25, 0.75} {
		if share <= most {
			return i + 1
		}
	}
	return warmBucket
}

// ttfts returns the TTFT of the completed requests, in trace order.
func (p *Played) ttfts() []float64 {
	var out []float64
	for i := range p.Requests {
		if q := &p.Requests[i]; q.Completed {
			out = append(out, q.TTFT)
		}
	}
	return out
}

func (g *Gallery) policies() []string {
	var out []string
	for _, r := range g.Runs {
		out = append(out, r.Policy)
	}
	return out
}
