package trust

import (
	"fmt"
	"slices"
	"strings"

	"github.com/seed-2cee110a/triage/engine"
	"github.com/seed-2cee110a/triage/sim"
	"github.com/seed-2cee110a/triage/sim/fidelity"
)

// Status says what step times rest on.
type Status string

const (
	Calibrated   Status = "calibrated"   // fitted to models of the class on the GPU
	Extrapolated Status = "extrapolated" // to a GPU, or a GPU and class of models, that they were not fitted to
	Unknown      Status = "unknown"      // no model of the class was ever measured
	Given        Status = "given"        // a cost model of the user's, which has its own note
	Aid          Status = "aid"          // no latencies at all: a test aid
)

// Statement answers whether a configuration's latencies can be trusted.
type Statement struct {
	Status Status
	Text   string // for the first screen
	Class  string // of the model; "" without a calibration
	GPU    string
	Errors *Group   // nearest to the configuration: of its class and GPU, stable if there is; nil: never measured
	Own    *Group   // of this very model on this GPU, likewise
	Beyond []Beyond // what of the run lies outside of Errors
	Data   string   // digest of the measurements; "" without a calibration
}

// Beyond is a way in which a run lies outside of what was measured.
type Beyond struct {
	What  string  // a setting, or prompt_tokens or in_flight, see the JSON Schema of a replay
	Share float64 // of the requests; 1 for a setting
	Limit float64 // the most that was measured; 0 for a setting
	Text  string
}

// Of is the answer for the runs of one trace on one cluster with a cost model of that note; none of a search, of which
// only the trace and the configuration are known. Another kind of cost model needs a case here.
func Of(cfg sim.Config, note sim.CostNote, use Use) Statement {
	if len(cfg.Pools) > 0 {
		return ofPools(cfg, use)
	}
	switch cfg.Cost {
	case "physical":
		return Embedded().about(cfg, note, use)
	case "unit":
		return Statement{Status: Aid, Text: "no: steps of 1 ms, a test aid, no latencies"}
	}
	return Statement{Status: Given, Text: note.Note}
}

// about answers for the calibrated cost model.
func (t *Table) about(cfg sim.Config, note sim.CostNote, use Use) Statement {
	m, err := cfg.LookupModel()
	if err != nil {
		return Statement{Status: Unknown, Text: err.Error()}
	}
	s := Statement{Class: m.Class(), GPU: cfg.GPU, Data: t.Data, Errors: t.total("class", m.Class(), cfg.GPU)}
	s.Own = t.total("model", registered(cfg), cfg.GPU)
	s.Status = t.status(s.Class, note)
	if s.Errors != nil {
		s.Beyond = t.beyond(cfg, m, s.Errors, use)
	}
	s.Text = s.words()
	return s
}

// status takes the cost model's word for what it was fitted to.
func (t *Table) status(class string, note sim.CostNote) Status {
	switch {
	case note.Calibrated:
		return Calibrated
	case slices.ContainsFunc(t.Rows, func(g Group) bool { return g.Class == class }):
		return Extrapolated
	}
	return Unknown
}

// registered is the name that the registry has for the model's shape, "" if it has none.
func registered(cfg sim.Config) string {
	if cfg.ModelConfig != nil {
		return cfg.ModelConfig.Registered
	}
	return cfg.Model
}

// total returns the errors on a GPU of a class or a model, nil if it was not measured there. The stable regime goes
// first, then what has most stages; overload has no errors of latencies.
func (t *Table) total(field, name, gpu string) *Group {
	var best *Group
	for i := range t.Totals {
		g := &t.Totals[i]
		if !slices.Equal(g.Of, []string{"regime", field, "gpu"}) || g.GPU != gpu || choose(field == "class", g.Class, g.Model) != name || g.TPOT.N == 0 {
			continue
		}
		if best == nil || best.Regime != stable && (g.Regime == stable || g.Stages > best.Stages) {
			best = g
		}
	}
	return best
}

// rows are those of a total over a class and a GPU.
func (t *Table) rows(of *Group) []Group {
	var out []Group
	for _, g := range t.Rows {
		if g.Regime == of.Regime && g.GPU == of.GPU && g.Class == of.Class {
			out = append(out, g)
		}
	}
	return out
}

// beyond lists what lies outside of the rows of a total.
func (t *Table) beyond(cfg sim.Config, m engine.Model, of *Group, use Use) []Beyond {
	out := t.settings(cfg, m, of)
	if n, most := use.longer(of.Prompt[1]), of.Prompt[1]; n > 0 {
		out = append(out, Beyond{"prompt_tokens", n, float64(most), fmt.Sprintf("%s (over %s tokens)", share(n, "prompts"), thousands(most))})
	}
	if n, most := use.crowded(of.InFlight[1]), of.InFlight[1]; n > 0 {
		out = append(out, Beyond{"in_flight", n, float64(most), fmt.Sprintf("%s (over %s in flight at a replica)", share(n, "requests"), thousands(most))})
	}
	return out
}

// settings lists those that no measured server had.
func (t *Table) settings(cfg sim.Config, m engine.Model, of *Group) []Beyond {
	rows, weights, d := t.rows(of), fidelity.WeightsOf(m), engine.Default()
	var out []Beyond
	for _, s := range []struct {
		differs    bool
		what, text string
	}{
		{!slices.ContainsFunc(rows, func(g Group) bool { return g.Weights == weights }), "weights", weights + " weights"},
		{!slices.ContainsFunc(rows, func(g Group) bool { return g.TP == cfg.TP }), "tp", fmt.Sprintf("tp %d", cfg.TP)},
		{cfg.CostScale != 0 && cfg.CostScale != 1, "cost_scale", fmt.Sprintf("steps scaled by %v", cfg.CostScale)},
		{cfg.Engine.OverheadBefore != d.OverheadBefore || cfg.Engine.OverheadAfter != d.OverheadAfter, "overheads", "server overheads other than measured"},
		{!cfg.Engine.AsyncScheduling, "async_scheduling", "async-scheduling off"},
	} {
		if s.differs {
			out = append(out, Beyond{What: s.what, Share: 1, Text: s.text})
		}
	}
	return out
}

// words are the answer in a sentence or two.
func (s *Statement) words() string {
	kind := "models with " + s.Class
	if s.Class == "dense" {
		kind = "dense models"
	}
	var b strings.Builder
	switch {
	case s.Status == Unknown:
		return fmt.Sprintf("not known: no %s were ever measured; compare policies, do not trust the seconds", kind)
	case s.Errors == nil && s.Status == Calibrated:
		return fmt.Sprintf("not known: step times were fitted, but %s were measured on %s under overload only", kind, s.GPU)
	case s.Errors == nil:
		return fmt.Sprintf("extrapolated: no %s were measured on %s; compare policies, do not trust the seconds", kind, s.GPU)
	case s.Status == Extrapolated:
		b.WriteString("extrapolated, not fitted to this GPU: ")
	}
	fmt.Fprintf(&b, "%s over %s of %s on %s%s", s.Errors.medians(), s.Errors.size(), kind, s.GPU, s.Errors.when())
	if len(s.Beyond) > 0 {
		b.WriteString("; beyond them: " + s.beyondWords())
	}
	return b.String() + "; " + s.ownWords()
}

func (s *Statement) beyondWords() string {
	var all []string
	for _, x := range s.Beyond {
		all = append(all, x.Text)
	}
	return strings.Join(all, ", ")
}

// ownWords say what is known of the very model.
func (s *Statement) ownWords() string {
	switch {
	case s.Own == nil:
		return "this model was not measured there"
	case s.Own.Regime == s.Errors.Regime && s.Own.Stages == s.Errors.Stages:
		return "all are of this model"
	case s.Own.Regime == s.Errors.Regime:
		return fmt.Sprintf("this model: %s over %d", s.Own.brief(), s.Own.Stages)
	}
	return fmt.Sprintf("this model only%s: %s over %d", s.Own.when(), s.Own.brief(), s.Own.Stages)
}

// medians are the median errors in words.
func (g *Group) medians() string {
	return fmt.Sprintf("TTFT within %s (median), TPOT %s", percent(g.TTFT.Median), percent(g.TPOT.Median))
}

func (g *Group) brief() string {
	return fmt.Sprintf("TTFT %s, TPOT %s", percent(g.TTFT.Median), percent(g.TPOT.Median))
}

func (g *Group) size() string {
	return fmt.Sprintf("%d measured %s", g.Stages, choose(g.Stages == 1, "stage", "stages"))
}

// when says under which load, if not the ordinary one.
func (g *Group) when() string {
	switch {
	case g.Regime == stable:
		return ""
	case strings.HasPrefix(g.Regime, "closed"):
		return " at constant concurrency"
	}
	return " (" + g.Regime + ")"
}

// percent prints an error with two digits.
func percent(v float64) string {
	return fmt.Sprintf("%.*f %%", choose(v < 0.0995, 1, 0), v*100)
}

// share prints a part of things, never as none or all of them if it is not.
func share(v float64, things string) string {
	switch {
	case v == 1:
		return "all " + things
	case v < 0.01:
		return "<1 % of " + things
	case v > 0.99:
		return ">99 % of " + things
	}
	return fmt.Sprintf("%.0f %% of %s", v*100, things)
}

// thousands prints a number of tokens or requests with commas.
func thousands(n int) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return thousands(n/1000) + fmt.Sprintf(",%03d", n%1000)
}
