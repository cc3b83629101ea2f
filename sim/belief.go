package sim

import (
	"cmp"
	"slices"

	"github.com/seed-2cee110a/triage/policies"
)

// Belief is what the routers believed of the replicas' caches at the end of a run, all together, and the affinity that they
// gave up knowingly. It is all zero for policies that tell nothing of it.
type Belief struct {
	policies.BeliefStats
	GivenUp int64 // as in Result
	Prompt  int64 // prompt tokens of all requests that were sent to a replica, which the above is a part of
}

// hotShown is how many hot prefixes a Summary has.
const hotShown = 10

// Belief asks the routers. It takes time, as it goes through all that they remember.
func (r *Result) Belief(hot int) Belief {
	b := Belief{GivenUp: r.GivenUp}
	for i := range r.Outcomes {
		if o := &r.Outcomes[i]; o.Dispatched >= 0 {
			b.Prompt += int64(r.Trace.Prompt[o.Row])
		}
	}
	for _, router := range r.reporters {
		s := router.BeliefStats(hot)
		b.Entries, b.Blocks, b.Tokens = b.Entries+s.Entries, b.Blocks+s.Blocks, b.Tokens+s.Tokens
		b.Duplicated, b.Evictions = b.Duplicated+s.Duplicated, b.Evictions+s.Evictions
		b.Owners = max(b.Owners, s.Owners)
		b.Hot = append(b.Hot, s.Hot...)
	}
	b.Hot = hottest(b.Hot, hot)
	return b
}

// hottest joins the prefixes that several routers know, with the most copies that one of them believes in, and keeps the n
// most used.
func hottest(all []policies.HotPrefix, n int) []policies.HotPrefix {
	slices.SortStableFunc(all, func(a, b policies.HotPrefix) int { return cmp.Compare(a.Hash, b.Hash) })
	var out []policies.HotPrefix
	for _, h := range all {
		if k := len(out) - 1; k >= 0 && out[k].Hash == h.Hash {
			out[k].Uses += h.Uses
			out[k].Copies, out[k].Tokens = max(out[k].Copies, h.Copies), max(out[k].Tokens, h.Tokens)
			continue
		}
		out = append(out, h)
	}
	slices.SortStableFunc(out, func(a, b policies.HotPrefix) int { return cmp.Compare(b.Uses, a.Uses) })
	return out[:min(n, len(out))]
}
