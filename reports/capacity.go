package reports

import (
	"fmt"

	"github.com/seed-2cee110a/triage/sim"
)

const (
	refusedLeast = 0.01 // share of the requests refused for lack of room from which it is worth a word
	pegged       = 0.95 // share of the replicas' time with requests in flight from which engines are pegged
)

// capacity finds refusals that rise while engines are pegged.
func capacity(c *Comparison, r *Run) *Finding {
	lacking := r.RejectedBy[sim.Deadline] + r.RejectedBy[sim.QueueFull] + r.RejectedBy[sim.Shed]
	if r.course == nil || float64(lacking) < refusedLeast*float64(r.Requests) {
		return nil
	}
	w := r.course.worst()
	s, first := &r.course.all[w], &r.course.all[0]
	n := float64(len(r.Replicas))
	busy := min(s.busy/n, 1) // rounding
	if busy < pegged || s.idle() >= spareLeast*n || s.refused <= first.refused {
		return nil
	}
	at := r.course.span(w)
	text := fmt.Sprintf("the engines are pegged (busy %s of the time from %s to %s) and refusals rise, %d -> %d in %s; %s: "+
		"this is capacity or shedding: add replicas, or refuse sooner and by class", percent(busy), clock(at.from), clock(at.to), first.refused, s.refused,
		clock(r.course.size), lackOf(r))
	return &Finding{Text: text, Evidence: &Evidence{Window: at, Replicas: r.names(), Numbers: map[string]float64{"busy_ratio": busy,
		"refused": float64(lacking), "refused_in_window": float64(s.refused), "arrived_in_window": float64(s.arrived),
		"refused_in_first_window": float64(first.refused), "held_mean": s.held}}}
}

// lackOf says how many requests were refused and what they waited before.
func lackOf(r *Run) string {
	text := ""
	for _, reason := range []sim.Reason{sim.Deadline, sim.QueueFull, sim.Shed} {
		if n := r.RejectedBy[reason]; n > 0 {
			text += fmt.Sprintf(", %s %s", group(int64(n)), reason)
		}
	}
	text = "in all " + text[2:]
	if r.RejectedBy[sim.Deadline] > 0 && known(r.GatewayWait.P90) {
		text += fmt.Sprintf(", after up to %s (p90 of the waits)", duration(r.GatewayWait.P90))
	}
	return text
}

// worst returns the window with the most refusals for lack of room, the first of equals.
func (c *course) worst() int {
	w := 0
	for i := range c.all {
		if c.all[i].refused > c.all[w].refused {
			w = i
		}
	}
	return w
}

// names lists the replicas.
func (r *Run) names() []string {
	var out []string
	for _, rep := range r.Replicas {
		out = append(out, rep.Name)
	}
	return out
}
