package reports

import (
	"encoding/json"
	"io"
)

// FidelityManifest records what made a comparison with measurements. Everything outside Volatile is the same for the same
// inputs and tool.
type FidelityManifest struct {
	Schema   string   `json:"schema"`
	Tool     Tool     `json:"tool"`
	Command  string   `json:"command"`
	Data     string   `json:"data"` // digest of the measurements
	Files    int      `json:"files"`
	Seed     uint64   `json:"seed"`
	Cost     string   `json:"cost"` // digest of the cost model's step times
	Volatile Volatile `json:"volatile"`
}

// JSON writes the manifest as one document.
func (m *FidelityManifest) JSON(w io.Writer) error {
	m.Schema = "triage/fidelity-manifest/v1"
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(m)
}
