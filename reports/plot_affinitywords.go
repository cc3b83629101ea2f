package reports

import (
	"fmt"
	"math"
)

// fewSamples is the number of requests below which a quantile is not relied on.
const fewSamples = 30

// verdicts returns the contrasts of a policy within bands of like length that have enough requests on both sides.
func (s *AffinitySeries) verdicts(policy int) []Contrast {
	var out []Contrast
	for _, c := range s.Contrasts {
		whole := c.Band == 0 && len(s.Bands) > 1
		if c.Policy == policy && !whole && c.LittleN >= fewSamples && c.WarmN >= fewSamples && c.LittleP50 > 0 {
			out = append(out, c)
		}
	}
	return out
}

// judged returns the policy with the lowest mean TTFT and its verdicts, or if it has none the first policy that has.
func (s *AffinitySeries) judged() (policy int, verdicts []Contrast) {
	best := s.best()
	if v := s.verdicts(best); len(v) > 0 {
		return best, v
	}
	for p := range s.Policies {
		if v := s.verdicts(p); len(v) > 0 {
			return p, v
		}
	}
	return best, nil
}

// answer says whether affinity pays, at like prompt length.
func (s *AffinitySeries) answer() string {
	policy, all := s.judged()
	if len(all) == 0 {
		return fmt.Sprintf("Does affinity pay? No telling: no band of prompt lengths has %d requests that hit little and %d warm ones", fewSamples, fewSamples)
	}
	pays, low, high := 0, math.Inf(1), 0.0
	for _, v := range all {
		r := v.WarmP50 / v.LittleP50
		low, high = math.Min(low, r), math.Max(high, r)
		if r < 1-noise {
			pays++
		}
	}
	span := ratio(low)
	if ratio(low) != ratio(high) {
		span += " to " + ratio(high)
	}
	word := "Affinity pays"
	switch {
	case pays == 0:
		word = "Affinity does not pay"
	case pays < len(all):
		word = fmt.Sprintf("Affinity pays in %d of %d bands of length", pays, len(all))
	}
	return fmt.Sprintf("%s: of like length, a warm prompt's median TTFT is %s times that of one with at most 25 %% hit (under %s)", word, span, s.Policies[policy])
}

// notes say what the policies make of it, and what the picture leaves out.
func (s *AffinitySeries) notes() []string {
	text := "Warm is more than 75 % of the prompt hit, or all that could hit."
	for p, name := range s.Policies {
		mean, warm := s.overall(p)
		text += fmt.Sprintf(" %s: %s warm, mean TTFT %s.", name, percent(warm), duration(mean))
	}
	out := []string{text, "Boxes: p25 to p75; whiskers: p5 to p95; bold below: p50; above: p95; hollow, in brackets: fewer than 30 requests. " +
		"Bars on top: cost, n x (mean TTFT - mean TTFT of the warm), by bucket."}
	if s.Unknown > 0 {
		out = append(out, fmt.Sprintf("Left out: %s without prefix identity, over all policies.", count(s.Unknown, "request")))
	}
	return out
}

// name is a band as a heading.
func (s *AffinitySeries) name(band int) string {
	b := s.Bands[band]
	lengths := group(int64(b.From))
	if b.To > b.From {
		lengths += " to " + group(int64(b.To))
	}
	text := fmt.Sprintf("prompts of %s tokens, %s", lengths, count(b.Requests, "request"))
	if band == 0 {
		return "all: " + text
	}
	return text
}
