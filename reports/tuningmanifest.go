package reports

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
)

// TuneManifest records what made the result of a search. Everything outside Volatile is the same for the same inputs and
// tool, unless the search was interrupted.
type TuneManifest struct {
	Schema    string           `json:"schema"`
	Tool      Tool             `json:"tool"`
	Command   string           `json:"command"`
	Status    string           `json:"status"`
	Traces    []traceJSON      `json:"traces"`
	Config    manifestConfig   `json:"config"`
	Digest    string           `json:"config_digest"` // sha256 of config as compact JSON
	Policies  []manifestPolicy `json:"policies"`      // the base of the grid, the recommended one, the baselines
	Grid      []axisJSON       `json:"grid"`
	Objective string           `json:"objective"`
	Seed      uint64           `json:"seed"`
	Cost      costJSON         `json:"cost"`
	Trust     *trustJSON       `json:"trust,omitempty"`
	Warnings  []string         `json:"warnings"`
	Volatile  Volatile         `json:"volatile"`
}

// NewTuneManifest describes how t came about.
func NewTuneManifest(t *Tuning, tool Tool, v Volatile) (*TuneManifest, error) {
	d, s := tuningDocument(t), t.Study
	m := &TuneManifest{
		Schema: "triage/tune-manifest/v1", Tool: tool, Command: t.Command, Status: d.Status, Traces: d.Traces,
		Config: manifestConfig{d.Cluster, d.Signals, t.headers[0].Config.Cost},
		Grid:   d.Grid, Objective: d.Objective, Seed: d.Cluster.Seed, Cost: d.Cost, Trust: d.Trust, Warnings: d.Warnings, Volatile: v,
	}
	recommended := s.Space.Spec(s.Recommended)
	m.Policies = append(m.Policies, manifestPolicy{"base", s.Space.Base.Text, knobs(s.Space.Base)},
		manifestPolicy{"recommended", recommended.Text, knobs(recommended)})
	for _, b := range s.Problem.Baselines {
		m.Policies = append(m.Policies, manifestPolicy{b.Label, b.Text, knobs(b)})
	}
	text, err := json.Marshal(m.Config)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(text)
	m.Digest = "sha256:" + hex.EncodeToString(sum[:])
	return m, nil
}

// JSON writes the manifest as one document.
func (m *TuneManifest) JSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(m)
}
