package reports

import (
	"fmt"
	"strings"
)

// unevenWork adds a doubt if times or hits of two runs were read of which one completed clearly less of its requests than
// the other: what a run refuses takes no time, and so it looks faster than one that answered everything.
func (r *reading) unevenWork() {
	var leads []string
	for _, lead := range r.scope.leads {
		if r.timed(lead) {
			leads = append(leads, lead)
		}
	}
	for i, a := range leads {
		for _, b := range leads[i+1:] {
			if doubt := r.scope.unevenWork(a, b); doubt != "" {
				r.doubts = append(r.doubts, doubt)
				return
			}
		}
	}
}

// timed says whether a time or the hit ratio below a lead was read.
func (r *reading) timed(lead string) bool {
	for path := range r.seen {
		name := path
		if lead != "" {
			var below bool
			if name, below = strings.CutPrefix(path, lead+"."); !below {
				continue
			}
		}
		group, _, _ := strings.Cut(name, ".")
		switch group {
		case "ttft", "tpot", "e2e", "gateway_wait", "hit_ratio":
			return true
		}
	}
	return false
}

// unevenWork says why the times of two runs do not compare, "" if they do.
func (s *scope) unevenWork(a, b string) string {
	ca, ra := s.work(a)
	cb, rb := s.work(b)
	if !known(ca, ra, cb, rb) || !uneven(int(ca*rb), int(cb*ra)) {
		return ""
	}
	return fmt.Sprintf("%s completed %.0f of %.0f requests and %s %.0f of %.0f: over more than 1 %% different work, times and hits do not compare",
		titleOf(a), ca, ra, titleOf(b), cb, rb)
}

// work is how many requests of how many the run below a lead completed.
func (s *scope) work(lead string) (completed, requests float64) {
	return s.numbers[strings.TrimPrefix(lead+".completed", ".")], s.numbers[strings.TrimPrefix(lead+".requests", ".")]
}

func titleOf(lead string) string {
	if lead == "" {
		return "the run"
	}
	return lead
}
