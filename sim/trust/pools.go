package trust

import (
	"slices"
	"strings"

	"github.com/seed-2cee110a/triage/sim"
)

// weakness orders statuses from the most trusted on.
var weakness = []Status{Given, Calibrated, Extrapolated, Unknown, Aid}

// ofPools is the answer for a cluster of several pools: the least trusted one's, in the words of all.
func ofPools(cfg sim.Config, use Use) Statement {
	var all []Statement
	var texts, names []string
	for i, p := range cfg.Pools {
		s := Of(p.In(cfg), p.Note, use.of(i))
		all = append(all, s)
		if k := slices.Index(texts, s.Text); k >= 0 {
			names[k] += ", " + p.Name
			continue
		}
		texts, names = append(texts, s.Text), append(names, p.Name)
	}
	worst := slices.MaxFunc(all, func(a, b Statement) int {
		return slices.Index(weakness, a.Status) - slices.Index(weakness, b.Status)
	})
	if len(texts) > 1 {
		for i := range texts {
			texts[i] = names[i] + ": " + texts[i]
		}
	}
	worst.Text = strings.Join(texts, "; ")
	return worst
}

// of is what runs ask of one pool. Of a search it is not known, and what they ask of all is taken.
func (u Use) of(pool int) Use {
	if len(u.Results) == 0 {
		return u
	}
	var out Use
	for i, r := range u.Results {
		in := *r
		in.Outcomes = nil
		for _, o := range r.Outcomes {
			if o.Replica < 0 || r.Replicas[o.Replica].Pool != pool {
				continue
			}
			in.Outcomes = append(in.Outcomes, o)
			if i == 0 {
				out.Prompts = append(out.Prompts, r.Trace.Prompt[o.Row])
			}
		}
		out.Results = append(out.Results, &in)
	}
	return out
}
