package policies

import "math"

// passed is the reason of a replica that no filter stopped.
const passed = NumReasons

// podium keeps the best and the second best candidate seen so far, -1 where there is none.
type podium struct{ first, second int }

func emptyPodium() podium { return podium{-1, -1} }

// place enters candidate i; better tells whether its first argument beats its second.
func (p *podium) place(i int, better func(i, j int) bool) {
	switch {
	case p.first < 0 || better(i, p.first):
		p.first, p.second = i, p.first
	case p.second < 0 || better(i, p.second):
		p.second = i
	}
}

// capable is the filter that every policy has: model, capability, cordon, in this order.
func capable(r *Request, rep *Replica) Reason {
	switch {
	case !serves(r, rep):
		return WrongModel
	case rep.Caps&r.Needs != r.Needs:
		return NoCapability
	case rep.Cordoned:
		return Cordoned
	case rep.Full:
		return AtLimit
	}
	return passed
}

func serves(r *Request, rep *Replica) bool { return r.Model == 0 || rep.Model == r.Model }

// lighter breaks ties: fewest requests in flight, then the smallest hash of the request and the replica. It never
// looks at the index.
func lighter(r *Request, v *View, i, j int) bool {
	if a, b := v.Local[i].InFlight, v.Local[j].InFlight; a != b {
		return a < b
	}
	return mix(r.Key, v.Replicas[i].Salt) < mix(r.Key, v.Replicas[j].Salt)
}

// pickPlain decides for a policy without a score: the best of the capable replicas. better must be a total order.
func pickPlain(r *Request, v *View, d *Decision, better func(i, j int) bool) {
	*d = undecided()
	top := emptyPodium()
	for i := range v.Replicas {
		if reason := capable(r, &v.Replicas[i]); reason != passed {
			d.Rejected[reason]++
			continue
		}
		top.place(i, better)
	}
	if !d.settle(top) {
		return
	}
	d.Charge, d.Output = r.PromptTokens, output(r)
	d.Need = int64(r.PromptTokens) + int64(d.Output)
}

// output is the request's expected output in tokens: what the caller expects, never more than it allows; all that it
// allows if the caller expects nothing.
func output(r *Request) int32 {
	switch {
	case r.EstOutput == 0:
		return r.MaxOutput
	case r.MaxOutput > 0:
		return min(r.EstOutput, r.MaxOutput)
	}
	return r.EstOutput
}

func undecided() Decision {
	nan := math.NaN()
	return Decision{Replica: -1, RunnerUp: -1, Score: nan, Margin: nan, Affinity: nan}
}

// settle writes the action, the winner and the runner-up; it tells whether there is a winner. Nobody able to serve
// the request is a failure; nobody able to serve it now is a hold.
func (d *Decision) settle(top podium) bool {
	d.Replica, d.RunnerUp = top.first, top.second
	switch {
	case top.first >= 0:
		d.Action = Dispatch
	case d.Rejected[Cordoned]+d.Rejected[Stale]+d.Rejected[NoAdapterSlot]+d.Rejected[NoRoom]+d.Rejected[AtLimit] > 0:
		d.Action = Hold
	default:
		d.Action = Fail
	}
	return d.Action == Dispatch
}
