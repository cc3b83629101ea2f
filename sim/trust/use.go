package trust

import (
	"slices"

	"github.com/seed-2cee110a/triage/engine"
	"github.com/seed-2cee110a/triage/sim"
)

// Use is what runs ask of their replicas.
type Use struct {
	Prompts []int32       // tokens, of every request
	Results []*sim.Result // the runs; none of a search
}

// longer is the share of prompts with more tokens than most.
func (u Use) longer(most int) float64 {
	n := 0
	for _, p := range u.Prompts {
		if int(p) > most {
			n++
		}
	}
	return ratio(n, len(u.Prompts))
}

// crowded is the share of requests that come to a replica with that many in flight or more, in the run where it is
// largest.
func (u Use) crowded(most int) float64 {
	worst := 0.0
	for _, r := range u.Results {
		worst = max(worst, ratio(crowded(r, most), len(r.Outcomes)))
	}
	return worst
}

func crowded(r *sim.Result, most int) int {
	sent := make([][]engine.Time, len(r.Replicas))
	finish := make([][]engine.Time, len(r.Replicas))
	for i, rep := range r.Replicas {
		if rep.Requests > most { // else there are never so many at once
			sent[i], finish[i] = make([]engine.Time, 0, rep.Requests), make([]engine.Time, 0, rep.Requests)
		}
	}
	for i := range r.Outcomes {
		if o := &r.Outcomes[i]; o.Status == sim.Completed && sent[o.Replica] != nil {
			sent[o.Replica], finish[o.Replica] = append(sent[o.Replica], o.Dispatched), append(finish[o.Replica], o.Finished)
		}
	}
	n := 0
	for i := range sent {
		slices.Sort(sent[i])
		slices.Sort(finish[i])
		n += over(sent[i], finish[i], most)
	}
	return n
}

// over counts the instants of sent, sorted, at which more than most are in flight, that one included. What ends at an
// instant, of finish, has left.
func over(sent, finish []engine.Time, most int) int {
	n, ended := 0, 0
	for i, at := range sent {
		for finish[ended] <= at && ended < i {
			ended++
		}
		if i+1-ended > most {
			n++
		}
	}
	return n
}

func ratio(n, of int) float64 {
	if of == 0 {
		return 0
	}
	return float64(n) / float64(of)
}
