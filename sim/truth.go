package sim

import (
	"slices"

	"github.com/seed-2cee110a/triage/policies"
)

// transit holds, by replica, the leaves of requests dispatched whose first token has not come: what will be cached
// there although the engine does not show it yet.
type transit [][]int32

func (t transit) add(replica int, leaf int32) { t[replica] = append(t[replica], leaf) }

func (t transit) remove(replica int, leaf int32) {
	l := t[replica]
	i := slices.Index(l, leaf)
	l[i] = l[len(l)-1]
	t[replica] = l[:len(l)-1]
}

// reveal fills in the hits that a request would find on each replica: what is cached at this instant, and what is
// dispatched and not yet served.
func (r *run) reveal(w *router, row int32) {
	leaf, most := r.trace.Leaf[row], max(0, r.trace.Prompt[row]-1)
	for i, e := range r.engines {
		h := &w.view.Hits[i]
		if *h = (policies.Hit{}); leaf < 0 {
			continue
		}
		e.Load(r.now)
		h.Tokens = e.Cached(leaf)
		if o, ok := e.(holder); ok {
			h.Held = o.Held()
		}
		for _, other := range r.transit[i] {
			h.Tokens = max(h.Tokens, r.shared(leaf, other))
		}
		h.Tokens, h.Held = min(h.Tokens, most), min(h.Held, most)
	}
}

// shared returns the prompt tokens that two leaves have in common. Parents come before their children.
func (s *Stage) shared(a, b int32) int32 {
	f := &s.trace.Forest
	for a != b {
		if a < b {
			a, b = b, a
		}
		if a = f.Parent[a]; a < 0 {
			return 0
		}
	}
	return f.End[a]
}
