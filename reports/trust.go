package reports

import (
	"encoding/json"
	"os"
	"path/filepath"

	"github.com/seed-2cee110a/triage/sim"
	"github.com/seed-2cee110a/triage/sim/trust"
	"github.com/seed-2cee110a/triage/sim/tune"
)

// trustTitle is the question that every result answers.
const trustTitle = "can I trust it?"

// trustOf answers it for runs of one trace.
func trustOf(results []*sim.Result) trust.Statement {
	r := results[0]
	return trust.Of(r.Config, r.Cost, trust.Use{Prompts: r.Trace.Prompt[:len(r.Outcomes)], Results: results})
}

// trustOfSearch answers it for the traces of a search, whose runs are not kept. They are replayed on one cluster.
func trustOfSearch(facts []tune.Facts) trust.Statement {
	var use trust.Use
	for _, f := range facts {
		use.Prompts = append(use.Prompts, f.Trace.Prompt[:f.Config.Limit]...)
	}
	return trust.Of(facts[0].Config, facts[0].Cost, use)
}

// trustJSON is the answer; errors are relative to what was measured.
type trustJSON struct {
	Status trust.Status `json:"status"`
	Text   string       `json:"text"`
	Class  string       `json:"model_class,omitempty"`
	Errors *groupJSON   `json:"errors"`       // null: no model of the class was measured on the GPU
	Own    *groupJSON   `json:"model_errors"` // null: this model was not measured on the GPU
	Beyond []beyondJSON `json:"beyond"`
	Data   string       `json:"data,omitempty"` // digest of the measurements
}

type groupJSON struct {
	Regime   string          `json:"regime"`
	GPU      string          `json:"gpu"`
	Stages   int             `json:"stages"`
	Prompt   trust.Span      `json:"prompt_tokens"`
	InFlight trust.Span      `json:"in_flight"`
	TTFT     trustErrorsJSON `json:"ttft"`
	TPOT     trustErrorsJSON `json:"tpot"`
	E2E      trustErrorsJSON `json:"e2e"`
}

// trustErrorsJSON has null for errors over none.
type trustErrorsJSON struct {
	N      int      `json:"n"`
	Mean   *float64 `json:"mean"`
	Median *float64 `json:"median"`
	Bias   *float64 `json:"bias"`
}

type beyondJSON struct {
	What  string  `json:"what"`
	Share float64 `json:"share"`
	Limit float64 `json:"limit"`
}

func trustOut(s trust.Statement) *trustJSON {
	if s.Status == "" {
		return nil
	}
	out := &trustJSON{Status: s.Status, Text: s.Text, Class: s.Class, Errors: groupOut(s.Errors), Own: groupOut(s.Own), Beyond: []beyondJSON{}, Data: s.Data}
	for _, b := range s.Beyond {
		out.Beyond = append(out.Beyond, beyondJSON{b.What, b.Share, b.Limit})
	}
	return out
}

func groupOut(g *trust.Group) *groupJSON {
	if g == nil {
		return nil
	}
	return &groupJSON{g.Regime, g.GPU, g.Stages, g.Prompt, g.InFlight, errorsOut(g.TTFT), errorsOut(g.TPOT), errorsOut(g.E2E)}
}

func errorsOut(e trust.Errors) trustErrorsJSON {
	if e.N == 0 {
		return trustErrorsJSON{}
	}
	return trustErrorsJSON{e.N, &e.Mean, &e.Median, &e.Bias}
}

// trustText is the answer that a kept result has, or else what its cost model said of itself.
func (k *Kept) trustText() string {
	if t := k.doc.Trust; t != nil {
		return t.Text
	}
	return k.doc.Cost.Note
}

// trust answers for both results, in one line if they have one answer.
func (t *Two) trust() []line {
	a, b := t.A.trustText(), t.B.trustText()
	if a == b {
		return []line{{trustTitle, a}}
	}
	return []line{{"A: " + trustTitle, a}, {"B: " + trustTitle, b}}
}

// KeptTrust is the answer in a folder that a replay or a search wrote, "" if it has none.
func KeptTrust(dir string) string {
	var doc struct {
		Trust *trustJSON `json:"trust"`
	}
	data, err := os.ReadFile(filepath.Join(dir, "result.json"))
	if err != nil || json.Unmarshal(data, &doc) != nil || doc.Trust == nil {
		return ""
	}
	return trustTitle + " " + doc.Trust.Text
}
