package reports

import (
	"fmt"
	"slices"
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
	out = append(out, t.ruledOut()...)
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
			parts = append(parts, t.compared(b, best.cells, trace))
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
			len(t.Study.Cases), t.loss(worst, t.traces()...), t.loss(mean, t.traces()...)))
	}
	return out
}

// compared is the recommended point against a baseline on a trace.
func (t *Tuning) compared(b tuned, best []tune.Cell, trace int) string {
	from, to := b.cells[trace], best[trace]
	if !known(from.Value) {
		return "- against " + b.label + ", which has no value"
	}
	text := t.gain(from, to) + " against " + b.label
	if t.apart(from, to) {
		text += fmt.Sprintf(" (do not compare: it refused %s of the requests, the recommended point %s)",
			percent(from.Metrics[tune.Rejected]), percent(to.Metrics[tune.Rejected]))
	}
	return text
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
				parts = append(parts, fmt.Sprintf("%s on %s", t.loss(s.Regret(c, on), on), s.Cases[on].Name))
			}
		}
		if len(parts) > 0 {
			out = append(out, fmt.Sprintf("tuned on %s alone (%s) it loses %s", s.Cases[from].Name, s.Space.Spec(p).Text, strings.Join(parts, ", ")))
		}
	}
	return out
}

// keep says that a policy need not be changed, as it is as good as the recommended point, or where it is better.
func (t *Tuning) keep() []string {
	s := t.Study
	least, _ := s.Regrets(s.Points[s.Recommended])
	var out []string
	for _, b := range t.baselines() {
		worst, _ := s.Regrets(b.cells)
		if t.comparable(b) && worst < 0 {
			out = append(out, b.label+" is better than every point of the grid: keep it, or search around it")
			continue
		}
		out = append(out, t.beaten(b)...)
		if t.comparable(b) && worst <= least+tune.Noise {
			out = append(out, b.label+" is on the plateau: if that is what runs, keep it")
		}
	}
	return out
}

// Outdone returns the label of a baseline that is clearly better than every point on every trace, "" if there is none.
func (t *Tuning) Outdone() string {
	if t.Study.Recommended < 0 {
		return ""
	}
	for _, b := range t.baselines() {
		if worst, _ := t.Study.Regrets(b.cells); t.comparable(b) && worst < -tune.Noise {
			return b.label
		}
	}
	return ""
}

// comparable says that a baseline has a value on every trace over about the requests of the recommended point.
func (t *Tuning) comparable(b tuned) bool {
	for trace, c := range b.cells {
		if !known(c.Value) || t.apart(c, t.recommended().cells[trace]) {
			return false
		}
	}
	return true
}

// beaten names the traces on which a baseline is clearly better than the recommended point over about the same requests.
func (t *Tuning) beaten(b tuned) []string {
	var out []string
	for trace, c := range t.recommended().cells {
		if tune.Gain(c, b.cells[trace]) < -tune.Noise && !t.apart(c, b.cells[trace]) {
			out = append(out, fmt.Sprintf("on %s %s beats the recommended point: %s %s", t.Study.Cases[trace].Name, b.label,
				t.Study.Objective.Text, t.gain(c, b.cells[trace])))
		}
	}
	return out
}

// ruledOut says how many points were not considered, and why.
func (t *Tuning) ruledOut() []string {
	s := t.Study
	var out []string
	if n := len(s.Refusing); n > 0 {
		out = append(out, fmt.Sprintf("%d of %s ruled out, over 0.1 %% more of the requests refused than by the %s that refuses least: their times are over an easier set",
			n, count(s.Done, "point"), either(s.Excess > tune.RefusalSlack, "point", "point or baseline")))
	}
	if n := len(s.Valueless); n > 0 {
		out = append(out, fmt.Sprintf("%s no value (%s)", either(n == 1, "1 point has", count(n, "point")+" have"), why(s.Points[s.Valueless[0]])))
	}
	return out
}

// why is the reason why a row has no value, "" if it has one.
func why(cells []tune.Cell) string {
	for _, c := range cells {
		if c.Why != "" {
			return c.Why
		}
	}
	return ""
}

// plateau says how many points are as good as the recommended one, and what they have in common.
func (t *Tuning) plateau() string {
	s := t.Study
	if s.Done == 1 {
		return "plateau: the grid has one point, so nothing says how steep it is around it"
	}
	if s.Competitors() == 1 {
		return "plateau: every other point is ruled out or has no value, so nothing says how steep it is around this one"
	}
	if len(s.Plateau) == 1 {
		return fmt.Sprintf("plateau: none of the other %s is within 2 %% of the best: a spike, look around it before you trust it",
			count(s.Competitors()-1, "point"))
	}
	text := fmt.Sprintf("plateau: %d of %s within 2 %% of the best, which decide in %s", len(s.Plateau), count(s.Competitors(), "point"),
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
	if s.Excess > tune.RefusalSlack {
		out = append(out, fmt.Sprintf("every point refuses on some trace at least %.2g %% more of the requests than what refuses least there; the answer is among the points that refuse least",
			s.Excess*100))
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
