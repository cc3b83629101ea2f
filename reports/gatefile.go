package reports

import (
	"errors"
	"fmt"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
)

// GateFile are the gates of a project:
//
//	version: 1
//	baseline: baselines/main     # relative to the file; optional
//	policy: score                # whose numbers plain names are; optional with one policy
//	allow_other_trace: false     # compare with a baseline of another trace
//	gates:
//	  - name: first token
//	    expr: ttft.p95 < 0.5
//	  - name: no slower than before
//	    expr: not regression("ttft.mean", 0.02)
//	    policy: round-robin
//
// Every name is checked, and every error says where it stands.
type GateFile struct {
	name       string
	version    place[int]
	baseline   place[string]
	policy     place[string]
	otherTrace place[bool]
	gates      []gateEntry
}

// gateLayout is the layout of the file.
type gateLayout struct {
	Version    place[int]    `yaml:"version"`
	Baseline   place[string] `yaml:"baseline"`
	Policy     place[string] `yaml:"policy"`
	OtherTrace place[bool]   `yaml:"allow_other_trace"`
	Gates      []gateEntry   `yaml:"gates"`
}

type gateEntry struct {
	Name   place[string] `yaml:"name"`
	Expr   place[string] `yaml:"expr"`
	Policy place[string] `yaml:"policy"`
}

// place is a value and where it stands.
type place[T any] struct {
	v  T
	at *token.Position
}

// UnmarshalYAML keeps where the value stands.
func (p *place[T]) UnmarshalYAML(n ast.Node) error {
	p.at = n.GetToken().Position
	if err := yaml.NodeToValue(n, &p.v); err != nil || n.Type() == ast.NullType {
		return &placeError{fmt.Errorf("found %s, want %s", found(n), wanted(p.v)), p.at}
	}
	return nil
}

func found(n ast.Node) string {
	switch n.(type) {
	case *ast.MappingNode, *ast.MappingValueNode:
		return "a mapping"
	case *ast.SequenceNode:
		return "a list"
	case *ast.NullNode:
		return "nothing"
	}
	return fmt.Sprintf("%q", n.GetToken().Value)
}

func wanted(v any) string {
	switch v.(type) {
	case int:
		return "a whole number"
	case bool:
		return "true or false"
	}
	return "a text"
}

// placeError is an error at a place of the file.
type placeError struct {
	error
	at *token.Position
}

func (e *placeError) Unwrap() error { return e.error }

// ParseGates reads a gate file. Errors name file, line and column.
func ParseGates(name string, data []byte) (*GateFile, error) {
	var l gateLayout
	err := yaml.UnmarshalWithOptions(data, &l, yaml.Strict())
	f := &GateFile{name, l.Version, l.Baseline, l.Policy, l.OtherTrace, l.Gates}
	var p *placeError
	var y yaml.Error
	switch {
	case err == nil:
		return f, f.check()
	case errors.As(err, &p):
		return nil, f.errorAt(p.at, p.error)
	case errors.As(err, &y) && y.GetToken() != nil:
		return nil, f.errorAt(y.GetToken().Position, fieldHint(y.GetMessage()))
	}
	return nil, fmt.Errorf("%s: %w", name, err)
}

// gateFields are the keys of a gate file, for messages.
const gateFields = "version, baseline, policy, allow_other_trace, gates; a gate has name, expr, policy"

// fieldHint adds the keys that there are to the error about one that is not.
func fieldHint(message string) error {
	if strings.HasPrefix(message, "unknown field") {
		return fmt.Errorf("%s (have %s)", message, gateFields)
	}
	return errors.New(message)
}

func (f *GateFile) errorAt(at *token.Position, err error) error {
	if at == nil {
		return fmt.Errorf("%s: %w", f.name, err)
	}
	return fmt.Errorf("%s:%d:%d: %w", f.name, at.Line, at.Column, err)
}

// check finds what the syntax does not.
func (f *GateFile) check() error {
	switch {
	case f.version.at == nil:
		return fmt.Errorf("%s:1:1: version is missing, want version: 1", f.name)
	case f.version.v != 1:
		return f.errorAt(f.version.at, fmt.Errorf("version is %d, want 1", f.version.v))
	case len(f.gates) == 0:
		return fmt.Errorf("%s:1:1: no gates, want at least one", f.name)
	}
	lines := map[string]int{}
	for i, g := range f.gates {
		switch {
		case g.Expr.at == nil && g.Name.at == nil:
			return f.errorAt(f.version.at, fmt.Errorf("gate %d has no expr", i+1))
		case g.Expr.at == nil:
			return f.errorAt(g.Name.at, fmt.Errorf("gate %q has no expr", g.Name.v))
		case g.Name.at == nil:
			return f.errorAt(g.Expr.at, errors.New("the gate has no name"))
		case strings.TrimSpace(g.Name.v) == "":
			return f.errorAt(g.Name.at, errors.New("the name is empty"))
		case lines[g.Name.v] > 0:
			return f.errorAt(g.Name.at, fmt.Errorf("gate %q has the name of the gate in line %d", g.Name.v, lines[g.Name.v]))
		}
		lines[g.Name.v] = g.Name.at.Line
	}
	return nil
}

// policyOf is the policy that a gate is about, "" if the file does not say, and where that is written.
func (f *GateFile) policyOf(g *gateEntry) place[string] {
	if g.Policy.at != nil {
		return g.Policy
	}
	return f.policy
}

// BaselinePath is the baseline as written, "" if there is none.
func (f *GateFile) BaselinePath() string { return f.baseline.v }

// AllowOtherTrace says whether the baseline may be of another trace.
func (f *GateFile) AllowOtherTrace() bool { return f.otherTrace.v }

// SetPolicy says whose numbers plain names are in the gates that name no policy.
func (f *GateFile) SetPolicy(label string) {
	f.policy = place[string]{label, &token.Position{Line: 1, Column: 1}}
}
