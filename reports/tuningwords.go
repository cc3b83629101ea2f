package reports

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-2cee110a/triage/sim/tune"
)

// tuningHeader says what was searched on what.
func tuningHeader(t *Tuning) []line {
	var out []line
	for _, c := range t.headers {
		out = append(out, line{"trace", traceLine(c)})
	}
	out = append(out, header(t.headers[0])[1:]...)
	s := t.Study
	return append(out,
		line{"search", fmt.Sprintf("%s of %s: %s", count(s.Space.Len(), "point"), s.Space.Base.Label, grids(s.Space))},
		line{"objective", s.Objective.Text + ", lower is better"})
}

// few is how many values of a knob are listed.
const few = 12

// grids lists the knobs with their values, or how many there are if they are not few.
func grids(s *tune.Space) string {
	out := s.Grids()
	for i, a := range s.Axes {
		if n := len(a.Values); n > few {
			out[i] = fmt.Sprintf("%s=%s..%s (%d values)", a.Knob, a.Values[0], a.Values[n-1], n)
		}
	}
	return strings.Join(out, " x ")
}

// tuningFindings is what the study means, in words.
func tuningFindings(t *Tuning) []string {
	out := t.gains()
	out = append(out, t.losses()...)
	out = append(out, t.keep()...)
	return append(out, t.plateau(), t.classes(),
		"no interval: one deterministic replay per point; differences of about 2 % are noise of a single replay")
}

// gains compare the recommended point with the baselines, trace by trace.
func (t *Tuning) gains() []string {
	var out []string
	best := t.recommended()
	for trace, c := range t.Study.Cases {
		var parts []string
		for _, b := range t.baselines() {
			parts = append(parts, fmt.Sprintf("%s against %s", change(tune.Gain(b.cells[trace], best.cells[trace])), b.label))
		}
		if len(parts) > 0 {
			text := t.Study.Objective.Text + " " + strings.Join(parts, ", ")
			if len(t.Study.Cases) > 1 {
				text = c.Name + ": " + text
			}
			out = append(out, text)
		}
	}
	if len(t.Study.Cases) > 1 {
		worst, mean := t.Study.Regrets(best.cells)
		out = append(out, fmt.Sprintf("over %d traces the recommended point loses at most %s against the best point of each, %s on average",
			len(t.Study.Cases), loss(worst), loss(mean)))
	}
	return out
}

// losses say what each trace's own best point costs on the others.
func (t *Tuning) losses() []string {
	s := t.Study
	if len(s.Best) > 1 && len(slices.Compact(slices.Clone(s.Best))) == 1 {
		return []string{"one point is the best on every trace"}
	}
	var out []string
	for from, p := range s.Best {
		var parts []string
		for on, c := range s.Points[p] {
			if on != from {
				parts = append(parts, fmt.Sprintf("%s on %s", loss(s.Regret(c, on)), s.Cases[on].Name))
			}
		}
		if len(parts) > 0 {
			out = append(out, fmt.Sprintf("tuned on %s alone (%s) it loses %s", s.Cases[from].Name, s.Space.Spec(p).Text, strings.Join(parts, ", ")))
		}
	}
	return out
}

// loss prints a regret as a percentage, with a decimal below 10.
func loss(regret float64) string {
	decimals := 0
	if regret > 0 && regret < 0.0995 {
		decimals = 1
	}
	return strconv.FormatFloat(regret*100, 'f', decimals, 64) + " %"
}

// keep says that a policy need not be changed: it is as good as the recommended point.
func (t *Tuning) keep() []string {
	s := t.Study
	least, _ := s.Regrets(s.Points[s.Recommended])
	var out []string
	for _, b := range t.baselines() {
		switch worst, _ := s.Regrets(b.cells); {
		case worst < 0:
			out = append(out, b.label+" is better than every point of the grid: keep it, or search around it")
		case worst <= least+tune.Noise:
			out = append(out, b.label+" is on the plateau: if that is what runs, keep it")
		}
	}
	return out
}

// plateau says how many points are as good as the recommended one, and what they have in common.
func (t *Tuning) plateau() string {
	s := t.Study
	if s.Done == 1 {
		return "plateau: the grid has one point, so nothing says how steep it is around it"
	}
	if len(s.Plateau) == 1 {
		return fmt.Sprintf("plateau: none of the other %d points is within 2 %% of the best: a spike, look around it before you trust it", s.Done-1)
	}
	text := fmt.Sprintf("plateau: %d of %s within 2 %% of the best, which decide in %s", len(s.Plateau), count(s.Done, "point"),
		count(t.plateauClasses(), "different way"))
	var parts []string
	for i, a := range s.Space.Axes {
		switch on, off := t.onPlateau(i); {
		case len(off) == 0:
		case len(off) < len(on) && len(off) <= few:
			parts = append(parts, a.Knob+" is not "+strings.Join(off, " or "))
		case len(on) <= few:
			parts = append(parts, a.Knob+" is "+strings.Join(on, " or "))
		default:
			parts = append(parts, fmt.Sprintf("%s has %d of its %d values", a.Knob, len(on), len(a.Values)))
		}
	}
	if len(parts) == 0 {
		return text + "; every value of every knob is on it"
	}
	return text + "; on it " + strings.Join(parts, ", ")
}

// onPlateau returns the values of an axis that some point of the plateau has, and those that none has.
func (t *Tuning) onPlateau(axis int) (on, off []string) {
	a := t.Study.Space.Axes[axis]
	seen := make([]bool, len(a.Values))
	for _, p := range t.Study.Plateau {
		seen[t.Study.Space.Indices(p)[axis]] = true
	}
	for i, v := range a.Values {
		if seen[i] {
			on = append(on, v)
		} else {
			off = append(off, v)
		}
	}
	return on, off
}

// classes says how many points were really compared.
func (t *Tuning) classes() string {
	if t.Study.Classes == 1 && t.Study.Done > 1 {
		return "classes: every point decides alike, these knobs make no difference here"
	}
	if t.Study.Classes == t.Study.Done {
		return "classes: no two points decide alike"
	}
	return fmt.Sprintf("classes: %d of %s decide differently, the others repeat one of them", t.Study.Classes, count(t.Study.Done, "point"))
}

// tuningWarnings are doubts about the answer.
func tuningWarnings(t *Tuning) []string {
	s := t.Study
	var out []string
	if s.Interrupted {
		out = append(out, fmt.Sprintf("interrupted: only %d of %s were replayed on every trace; the answer is the best of those",
			s.Done, count(s.Space.Len(), "point")))
	}
	for _, e := range s.Edges {
		border, more := "smallest", "smaller"
		if e.Upper {
			border, more = "largest", "larger"
		}
		out = append(out, fmt.Sprintf("%s=%s is the %s value of its grid, and %s still improves towards it: add %s ones", e.Knob,
			e.Value, border, s.Objective.Text, more))
	}
	if b := s.Space.Spec(s.Recommended).Knob("prefix"); b == "oracle" {
		out = append(out, "the recommended policy has prefix=oracle, the truth that only a simulator has: no router can run it")
	}
	for trace, f := range s.Facts {
		for _, w := range f.Warnings {
			if len(s.Facts) > 1 {
				w = s.Cases[trace].Name + ": " + w
			}
			out = append(out, w)
		}
	}
	return out
}

// tuningNext are the commands worth running next, and what each shows.
func tuningNext(t *Tuning) [][2]string {
	var out [][2]string
	for _, command := range t.Replays {
		out = append(out, [2]string{command + " -p round-robin -p " + t.spec(), "the recommended policy in full"})
	}
	return out
}
