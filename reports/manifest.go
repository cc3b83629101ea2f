package reports

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"strings"

	"github.com/seed-2cee110a/triage/policies"
)

// Manifest records what made a result. Everything outside Volatile is the same for the same inputs and tool.
type Manifest struct {
	Schema   string           `json:"schema"`
	Tool     Tool             `json:"tool"`
	Command  string           `json:"command"` // gives the result again
	Trace    traceJSON        `json:"trace"`
	Config   manifestConfig   `json:"config"`
	Digest   string           `json:"config_digest"` // sha256 of config as compact JSON
	Policies []manifestPolicy `json:"policies"`
	Seed     uint64           `json:"seed"`
	Cost     costJSON         `json:"cost"`
	Trust    *trustJSON       `json:"trust,omitempty"`
	Warnings []string         `json:"warnings"`
	Volatile Volatile         `json:"volatile"`
}

// Tool names the program that made a result.
type Tool struct {
	Name     string `json:"name"`
	Version  string `json:"version"`
	Revision string `json:"revision"`
	Go       string `json:"go"`
}

// Volatile is what differs from run to run.
type Volatile struct {
	WallS float64 `json:"wall_s"`
	CPUS  float64 `json:"cpu_s"`
}

type manifestConfig struct {
	Cluster clusterJSON `json:"cluster"`
	Signals string      `json:"signals"`
	Cost    string      `json:"cost"`
}

type manifestPolicy struct {
	Policy string         `json:"policy"`
	Spec   string         `json:"spec"`
	Knobs  []manifestKnob `json:"knobs"`
}

type manifestKnob struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// NewManifest describes how c came about.
func NewManifest(c *Comparison, tool Tool, v Volatile) (*Manifest, error) {
	d := document(c)
	m := &Manifest{
		Schema: "triage/manifest/v1", Tool: tool, Command: strings.TrimSpace(c.Command + " " + c.Policies), Trace: d.Trace,
		Config: manifestConfig{d.Cluster, d.Signals.Mode, c.Config.Cost},
		Seed:   c.Config.Seed, Cost: d.Cost, Trust: d.Trust, Warnings: append([]string{}, warningLines(c)...), Volatile: v,
	}
	for _, r := range c.Runs {
		m.Policies = append(m.Policies, manifestPolicy{r.Policy, r.Spec.Text, knobs(r.Spec)})
	}
	text, err := json.Marshal(m.Config)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(text)
	m.Digest = "sha256:" + hex.EncodeToString(sum[:])
	return m, nil
}

func knobs(s policies.Spec) []manifestKnob {
	out := []manifestKnob{}
	for _, k := range s.Knobs() {
		out = append(out, manifestKnob(k))
	}
	return out
}

// JSON writes the manifest as one document.
func (m *Manifest) JSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(m)
}
