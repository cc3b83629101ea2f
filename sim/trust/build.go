package trust

import (
	"cmp"
	"math"
	"slices"

	"github.com/seed-2cee110a/triage/sim/fidelity"
)

// New makes the table of a folder that was scored; data and files are its digest.
func New(r *fidelity.Report, data string, files int) *Table {
	t := &Table{Schema: SchemaName, Data: data, Files: files, Seed: r.Seed, Cost: CostDigest()}
	all := stages(r)
	t.Rows = grouped(all, nil)
	for _, of := range [][]string{{"regime"}, {"regime", "gpu"}, {"regime", "model"}, {"regime", "class", "gpu"}, {"regime", "model", "gpu"}} {
		t.Totals = append(t.Totals, grouped(all, of)...)
	}
	return t
}

// scores are those of stage means, by metric in the order of Group.metrics.
type scores [4][]fidelity.Score

// stage is a measured stage and its scores.
type stage struct {
	fidelity.Load
	scores
}

// stages returns what was scored of each stage that was played, in order; a stage of which nothing was is left out.
func stages(r *fidelity.Report) []stage {
	type id struct{ experiment, stage, regime string }
	at := map[id]int{}
	var all []stage
	for _, l := range r.Loads {
		at[id{l.Experiment, l.Stage, l.Regime}] = len(all)
		all = append(all, stage{Load: l})
	}
	for _, s := range slices.Concat(r.Scores, r.Closed) {
		i, ok := at[id{s.Experiment, s.Stage, s.Regime}]
		if m := metric(&s); ok && m >= 0 {
			all[i].scores[m] = append(all[i].scores[m], s)
		}
	}
	return slices.DeleteFunc(all, func(s stage) bool {
		return !slices.ContainsFunc(s.scores[:], func(of []fidelity.Score) bool { return len(of) > 0 })
	})
}

// metric is the place of what a score is about, -1 if it is not in the table.
func metric(s *fidelity.Score) int {
	switch {
	case !s.Best || s.Stat != "mean":
		return -1
	case s.Overload:
		return choose(s.Metric == "busy_throughput", 3, -1)
	}
	return slices.Index(fidelity.Metrics, s.Metric)
}

func choose[T any](cond bool, yes, no T) T {
	if cond {
		return yes
	}
	return no
}

// grouped puts stages together that have the fields of in common, all of a Group's name for nil. Groups are sorted by
// name, so that what is played first does not matter.
func grouped(all []stage, of []string) []Group {
	type set struct {
		Group
		scores
	}
	var sets []*set
	for _, s := range all {
		name := nameOf(&s.Load, of)
		i := slices.IndexFunc(sets, func(x *set) bool { return compare(&x.Group, &name) == 0 })
		if i < 0 {
			i = len(sets)
			name.Calibrated = true
			sets = append(sets, &set{Group: name})
		}
		sets[i].add(&s.Load)
		for m := range s.scores {
			sets[i].scores[m] = append(sets[i].scores[m], s.scores[m]...)
		}
	}
	slices.SortFunc(sets, func(a, b *set) int { return compare(&a.Group, &b.Group) })
	var out []Group
	for _, s := range sets {
		for m, e := range s.metrics() {
			*e = summary(s.scores[m])
		}
		out = append(out, s.Group)
	}
	return out
}

func nameOf(l *fidelity.Load, of []string) Group {
	g := Group{Of: of, Regime: l.Regime}
	has := func(field string) bool { return of == nil || slices.Contains(of, field) }
	g.GPU, g.Class, g.Model = choose(has("gpu"), l.GPU, ""), choose(has("class"), l.Class, ""), choose(has("model"), l.Model, "")
	if of == nil {
		g.Weights, g.TP = l.Weights, l.TP
	}
	return g
}

func compare(a, b *Group) int {
	return cmp.Or(rank(a.Regime)-rank(b.Regime), cmp.Compare(a.Regime, b.Regime), cmp.Compare(a.GPU, b.GPU), cmp.Compare(a.Class, b.Class),
		cmp.Compare(a.Model, b.Model), cmp.Compare(a.Weights, b.Weights), a.TP-b.TP)
}

// rank puts the stable regime first.
func rank(regime string) int { return choose(regime == stable, 0, 1) }

const stable = "stable"

// add widens the ranges.
func (g *Group) add(l *fidelity.Load) {
	g.Calibrated = g.Calibrated && l.Calibrated
	g.Stages++
	over := func(s *Span, least, most int) {
		if *s == (Span{}) {
			*s = Span{least, most}
		}
		*s = Span{min(s[0], least), max(s[1], most)}
	}
	over(&g.Prompt, l.Prompt.Least, l.Prompt.Most)
	over(&g.Output, l.Output.Least, l.Output.Most)
	over(&g.InFlight, l.InFlight, l.InFlight)
	if rate := round(l.PerS); rate > 0 {
		if g.PerS == (Range{}) {
			g.PerS = Range{rate, rate}
		}
		g.PerS = Range{min(g.PerS[0], rate), max(g.PerS[1], rate)}
	}
}

// summary rounds to a millionth, so that every machine writes the same.
func summary(of []fidelity.Score) Errors {
	if len(of) == 0 {
		return Errors{}
	}
	e := fidelity.Summarise(of)
	return Errors{e.N, round(e.Mean), round(e.Median), round(e.Bias)}
}

func round(v float64) float64 { return math.Round(v*1e6) / 1e6 }
