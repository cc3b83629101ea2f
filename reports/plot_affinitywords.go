package reports

import (
	"fmt"
	"math"
	"strings"
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
	_, all := s.judged()
	if len(all) == 0 {
		return fmt.Sprintf("Does affinity pay? No telling: no band of prompt lengths has %d requests that hit little and %d warm ones", fewSamples, fewSamples)
	}
	var pays, not []Contrast
	for _, v := range all {
		if v.ratio() < 1-noise {
			pays = append(pays, v)
		} else {
			not = append(not, v)
		}
	}
	few := s.judgeable() - len(all)
	switch {
	case len(pays) == 0:
		return "Affinity does not pay: " + s.likeLength(all)
	case len(not)+few == 0:
		return "Affinity pays: " + s.likeLength(all)
	}
	text := fmt.Sprintf("Affinity pays for prompts of %s tokens (%s)", s.lengths(pays), multiples(pays))
	if len(not) > 0 {
		text += fmt.Sprintf(", not for %s ones (%s)", s.against(not, pays), upTo(not))
	}
	if few > 0 {
		text += ", no telling for others"
	}
	return text
}

// judgeable is the number of bands of like length.
func (s *AffinitySeries) judgeable() int { return max(1, len(s.Bands)-1) }

// ratio is the warm median TTFT as a multiple of the other.
func (c *Contrast) ratio() float64 { return c.WarmP50 / c.LittleP50 }

// extremes are the lowest and the highest ratio.
func extremes(of []Contrast) (low, high float64) {
	low, high = math.Inf(1), 0
	for i := range of {
		low, high = math.Min(low, of[i].ratio()), math.Max(high, of[i].ratio())
	}
	return low, high
}

// likeLength is the answer where it is the same for all lengths.
func (s *AffinitySeries) likeLength(all []Contrast) string {
	low, high := extremes(all)
	span := ratio(low)
	if ratio(low) != ratio(high) {
		span += " to " + ratio(high)
	}
	return fmt.Sprintf("of like length, a warm prompt's median TTFT is %s times that of one with at most 25 %% hit (under %s)", span, s.Policies[all[0].Policy])
}

// multiples writes ratios as "0.33x" or "0.33x to 0.50x".
func multiples(of []Contrast) string {
	low, high := extremes(of)
	if ratio(low) == ratio(high) {
		return ratio(low) + "x"
	}
	return ratio(low) + "x to " + ratio(high) + "x"
}

// upTo writes the highest of several ratios.
func upTo(of []Contrast) string {
	if low, high := extremes(of); ratio(low) != ratio(high) {
		return "up to " + ratio(high) + "x"
	}
	return multiples(of)
}

// lengths writes the bands as ranges of tokens; those next to each other are one range.
func (s *AffinitySeries) lengths(of []Contrast) string {
	var parts []string
	for i := 0; i < len(of); i++ {
		from := s.Bands[of[i].Band]
		for i+1 < len(of) && of[i+1].Band == of[i].Band+1 {
			i++
		}
		parts = append(parts, LengthBand{From: from.From, To: s.Bands[of[i].Band].To}.tokens())
	}
	return strings.Join(parts, " and of ")
}

// against says how the lengths of some bands relate to those of others.
func (s *AffinitySeries) against(of, others []Contrast) string {
	switch {
	case of[len(of)-1].Band < others[0].Band:
		return "shorter"
	case of[0].Band > others[len(others)-1].Band:
		return "longer"
	}
	return "other"
}

// tokens writes the range.
func (b LengthBand) tokens() string {
	if b.To > b.From {
		return group(int64(b.From)) + " to " + group(int64(b.To))
	}
	return group(int64(b.From))
}

// notes say what the policies make of it, and what the picture leaves out.
func (s *AffinitySeries) notes() []string {
	policy, _ := s.judged()
	text := "Warm is more than 75 % of the prompt hit, or all that could hit. " +
		"0.5x: the warm have half the median TTFT of prompts of like length with at most 25 % hit, under " + s.Policies[policy] + "."
	for p, name := range s.Policies {
		mean, warm := s.overall(p)
		text += fmt.Sprintf(" %s: %s warm, mean TTFT %s.", name, percent(warm), duration(mean))
	}
	out := []string{text, "Boxes: p25 to p75; whiskers: p5 to p95; bold below: p50; above: p95; hollow, in brackets: fewer than 30 requests. " +
		"Bars on top: cost, n x (mean TTFT - mean TTFT of the warm), by bucket; none if it is below 5 % of the summed TTFT."}
	if s.Unknown > 0 {
		out = append(out, fmt.Sprintf("Left out: %s without prefix identity, over all policies.", count(s.Unknown, "request")))
	}
	return out
}

// name is a band as a heading.
func (s *AffinitySeries) name(band int) string {
	b := s.Bands[band]
	text := fmt.Sprintf("prompts of %s tokens, %s", b.tokens(), count(b.Requests, "request"))
	if band == 0 {
		return "all: " + text
	}
	return text
}
