package reports

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-2cee110a/triage/sim/tune"
)

// bestIsZero marks a difference where there is nothing to be relative to.
const bestIsZero = " (best is 0)"

// against prints the regret of a cell for a table, marked where the two are over different requests.
func (t *Tuning) against(c tune.Cell, trace int) string {
	text := t.signed(t.Study.Regret(c, trace), trace)
	if text != "-" && t.apart(c, t.best(trace)) {
		text += "*"
	}
	return text
}

// regrets are the worst and the mean regret of a row, marked like against.
func (t *Tuning) regrets(cells []tune.Cell) (worst, mean string) {
	w, m := t.Study.Regrets(cells)
	mark := ""
	for trace, c := range cells {
		if known(w) && t.apart(c, t.best(trace)) {
			mark = "*"
		}
	}
	return t.signed(w, t.traces()...) + mark, t.signed(m, t.traces()...) + mark
}

func (t *Tuning) best(trace int) tune.Cell { return t.Study.Points[t.Study.Best[trace]][trace] }

func (t *Tuning) traces() []int {
	out := make([]int, len(t.Study.Cases))
	for i := range out {
		out[i] = i
	}
	return out
}

// signed prints a regret over some traces as a percentage with its sign: "+961 %".
func (t *Tuning) signed(regret float64, traces ...int) string {
	if regret != 0 && known(regret) && t.zero(traces) {
		return t.difference(regret) + bestIsZero
	}
	return percentChange(regret)
}

// loss prints a regret over some traces for a sentence, with a decimal below 10 %.
func (t *Tuning) loss(regret float64, traces ...int) string {
	switch {
	case regret != 0 && t.zero(traces):
		return strings.TrimPrefix(t.difference(regret), "+") + bestIsZero
	case regret > 0 && regret < 0.0995:
		return strconv.FormatFloat(regret*100, 'f', 1, 64) + " %"
	}
	return group(int64(math.Round(regret*100))) + " %"
}

// zero says whether the best value of one of the traces is 0, and so its regrets are differences.
func (t *Tuning) zero(traces []int) bool {
	return slices.ContainsFunc(traces, func(trace int) bool { return t.Study.BestValue(trace) == 0 })
}

// difference prints a value of the objective with its sign.
func (t *Tuning) difference(v float64) string {
	u := t.unit()
	text := u.cell(math.Abs(v))
	if a := math.Abs(v) * u.factor; a < 0.0995 {
		text = strconv.FormatFloat(a, 'g', 3, 64)
	}
	return strings.TrimSpace(either(v < 0, "-", "+") + text + " " + u.name)
}

// percentChange prints a relative change as a percentage however large: "-58 %", "+25 %", "+1,230 %".
func percentChange(v float64) string {
	if v >= 1 && known(v) {
		return "+" + group(int64(math.Round(min(v, 1e12)*100))) + " %"
	}
	return change(v)
}

// gain says how the objective changes from one cell to another: "-40 %", or "better by 40 %" where values below 0 would
// turn the sign around.
func (t *Tuning) gain(from, to tune.Cell) string {
	switch v := tune.Gain(from, to); {
	case from.Value == 0 && v != 0:
		return t.difference(v)
	case math.Round(v*100) == 0 || from.Value >= 0 && to.Value >= 0:
		return percentChange(v)
	default:
		return either(v < 0, "better by ", "worse by ") + strings.TrimPrefix(percentChange(math.Abs(v)), "+")
	}
}

// apart says that two replays completed clearly different shares of the trace, and the objective does not say what a
// refused request costs: so the two do not compare.
func (t *Tuning) apart(a, b tune.Cell) bool {
	x, y := 1-a.Metrics[tune.Rejected], 1-b.Metrics[tune.Rejected]
	return !t.Study.Objective.CountsRefusals() && min(x, y) < 0.99*max(x, y)
}

// apartNote explains the marks in the table, "" if there are none.
func (t *Tuning) apartNote() string {
	for _, r := range t.rows() {
		for trace, c := range r.cells {
			if known(c.Value) && t.apart(c, t.best(trace)) {
				return "* do not compare: clearly more requests were refused on one side, and its times are over an easier set"
			}
		}
	}
	return ""
}
