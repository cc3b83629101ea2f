package reports

import (
	"fmt"
	"math"
)

const (
	heldLeast  = 10   // requests held below which a queue at the gateway is no news
	spareLeast = 0.25 // mean share of the replicas with nothing to do while requests wait for one, from which engines look idle
)

// pickerOrStale finds a queue at the gateway that grows while replicas have nothing to do.
func pickerOrStale(c *Comparison, r *Run) *Finding {
	if r.course == nil || r.Held < heldLeast {
		return nil
	}
	w := r.course.idlest()
	if w < 0 {
		return nil
	}
	s, at := &r.course.all[w], r.course.span(w)
	idle, names := s.idle(), r.spare(s)
	text := fmt.Sprintf("requests queue at the gateway (%s from %s to %s on) while engines look idle: on average %s of %d replicas have no request waiting and most of their KV free (%s); ",
		rises(r.course, w), clock(at.from), clock(at.to), significant(idle), len(s.spare), join(firstOf(names, 4)))
	numbers := map[string]float64{"held_mean": s.held, "held_requests": float64(r.Held), "idle_replicas_mean": idle,
		"gateway_wait_p90_s": r.GatewayWait.P90}
	if c.stale() && known(r.Age.P95) {
		text += fmt.Sprintf("the signals are stale (%s old at p50, %s at p95) or the picker is wrong: try fresher signals (--signals live shows the most they can do), %s",
			duration(r.Age.P50), duration(r.Age.P95), loosen(c, r))
		numbers["signal_age_p50_s"], numbers["signal_age_p95_s"] = r.Age.P50, r.Age.P95
	} else {
		text += "the signals are live, so the picker or a limit is wrong: try " + loosen(c, r)
	}
	return &Finding{Text: text, Evidence: &Evidence{Window: at, Replicas: names, Numbers: numbers}}
}

// loosen says what may keep requests from idle replicas.
func loosen(c *Comparison, r *Run) string {
	g := &c.Config.Gateway
	switch {
	case g.InFlight > 0 || g.InFlightTokens > 0:
		return "a higher --max-inflight"
	case r.Spec.Knob("fit") == "hold":
		return "fit=spill, which takes another replica when the best has no room"
	case r.Spec.Knob("fit") == "spill":
		return "fit=off (the KV filter goes by the signals)"
	case r.Spec.Knob("stale_as") == "full":
		return "stale_as=unknown"
	}
	return "another policy"
}

// idlest returns the window with the most requests held of those in which the queue grows and engines look idle, -1 if
// there is none.
func (c *course) idlest() int {
	best := -1
	for w := range c.all {
		s := &c.all[w]
		if s.held < 1 || s.idle() < spareLeast*float64(len(s.spare)) || c.after(w) <= s.depth && (w == 0 || s.held <= c.all[w-1].held) {
			continue
		}
		if best < 0 || s.held > c.all[best].held {
			best = w
		}
	}
	return best
}

// idle is the mean number of replicas that had nothing to do while requests were held that they might have served.
func (s *stretch) idle() float64 {
	sum := 0.0
	for _, t := range s.spare {
		sum += t
	}
	return sum / math.Max(s.queueing, tinyTime)
}

// tinyTime avoids a division by 0, seconds.
const tinyTime = 1e-12

// after is the depth of the queue at the end of a window.
func (c *course) after(w int) int {
	if w+1 < len(c.all) {
		return c.all[w+1].depth
	}
	return 0
}

// rises says how the queue grew.
func rises(c *course, w int) string {
	before := 0.0
	if w > 0 {
		before = c.all[w-1].held
	}
	return fmt.Sprintf("%s -> %s held", significant(before), significant(c.all[w].held))
}

// spare names the replicas that were idle for half of the time that requests were held, all that were if none was.
func (r *Run) spare(s *stretch) []string {
	for _, least := range []float64{0.5, 0} {
		var names []string
		for i, t := range s.spare {
			if t > least*s.queueing {
				names = append(names, r.Replicas[i].Name)
			}
		}
		if names != nil {
			return names
		}
	}
	return nil
}

// firstOf cuts a list of names.
func firstOf(names []string, most int) []string {
	if len(names) <= most {
		return names
	}
	return append(names[:most-1:most-1], fmt.Sprintf("%d more", len(names)-most+1))
}

// clock prints an instant of a run.
func clock(s float64) string { return fmt.Sprintf("%.0f s", s) }
