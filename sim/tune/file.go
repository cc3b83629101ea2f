package tune

import (
	"errors"
	"fmt"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"

	"github.com/seed-2cee110a/triage/policies"
)

// File is a study as a YAML file has it, each part optional:
//
//	policy: score:fit=off
//	objective: ttft.p90
//	grid:
//	  q: [0, 1, 3]
//	  load: log:0.01..1:5
//
// Grids keep their order.
type File struct {
	Policy    scalar `yaml:"policy"`
	Objective scalar `yaml:"objective"`
	Grid      grids  `yaml:"grid"`

	name string
}

// scalar is a text and where it stands.
type scalar struct {
	text string
	at   *token.Position
}

// grids are the knobs and their values as written.
type grids []grid

type grid struct {
	knob   string
	values []scalar // of a list
	scale  scalar   // if it is no list
}

// ParseFile reads a study. Errors name file, line and column.
func ParseFile(name string, data []byte) (*File, error) {
	f := &File{name: name}
	err := yaml.UnmarshalWithOptions(data, f, yaml.Strict())
	var at *atError
	var y yaml.Error
	switch {
	case err == nil:
		return f, nil
	case errors.As(err, &at):
		return nil, f.errorAt(at.at, at.error)
	case errors.As(err, &y) && y.GetToken() != nil:
		return nil, f.errorAt(y.GetToken().Position, errors.New(y.GetMessage()))
	}
	return nil, fmt.Errorf("%s: %w", name, err)
}

// atError is an error at a place of the file.
type atError struct {
	error
	at *token.Position
}

func (e *atError) Unwrap() error { return e.error }

func (f *File) errorAt(at *token.Position, err error) error {
	return fmt.Errorf("%s:%d:%d: %w", f.name, at.Line, at.Column, err)
}

// UnmarshalYAML keeps a single value as it is written.
func (s *scalar) UnmarshalYAML(n ast.Node) error {
	v, ok := n.(ast.ScalarNode)
	if !ok {
		return &atError{fmt.Errorf("found %s, want one value", kind(n)), n.GetToken().Position}
	}
	s.text, s.at = v.GetToken().Value, v.GetToken().Position
	return nil
}

// UnmarshalYAML reads knob: [values] and knob: scale.
func (g *grids) UnmarshalYAML(n ast.Node) error {
	m, ok := n.(*ast.MappingNode)
	if !ok {
		return &atError{fmt.Errorf("grid is %s, want knob: [values]", kind(n)), n.GetToken().Position}
	}
	for _, pair := range m.Values {
		k := pair.Key.GetToken()
		x := grid{knob: k.Value, scale: scalar{at: k.Position}}
		list, ok := pair.Value.(*ast.SequenceNode)
		if !ok {
			if err := x.scale.UnmarshalYAML(pair.Value); err != nil {
				return err
			}
			*g = append(*g, x)
			continue
		}
		x.values = []scalar{}
		for _, v := range list.Values {
			var s scalar
			if err := s.UnmarshalYAML(v); err != nil {
				return err
			}
			x.values = append(x.values, s)
		}
		*g = append(*g, x)
	}
	return nil
}

func kind(n ast.Node) string {
	switch n.(type) {
	case *ast.MappingNode:
		return "a mapping"
	case *ast.SequenceNode:
		return "a list"
	case *ast.NullNode:
		return "nothing"
	case ast.ScalarNode:
		return fmt.Sprintf("%q", n.GetToken().Value)
	}
	return n.Type().String()
}

// PolicyText is the policy as written, and ObjectiveText the objective; "" if the file has none.
func (f *File) PolicyText() string    { return f.Policy.text }
func (f *File) ObjectiveText() string { return f.Objective.text }

// PolicyError and ObjectiveError put the place of the policy, or of the objective, before an error about it.
func (f *File) PolicyError(err error) error    { return f.errorAt(f.Policy.at, err) }
func (f *File) ObjectiveError(err error) error { return f.errorAt(f.Objective.at, err) }

// Axes checks the grids against the policy.
func (f *File) Axes(base policies.Spec) ([]Axis, error) {
	var axes []Axis
	for _, g := range f.Grid {
		a, err := g.axis(base)
		if err != nil {
			return nil, f.errorAt(g.scale.at, fmt.Errorf("grid %s: %w", g.knob, err))
		}
		axes = append(axes, a)
	}
	return axes, nil
}

func (g *grid) axis(base policies.Spec) (Axis, error) {
	if g.values == nil {
		return parseValues(base, g.knob, g.scale.text)
	}
	var values []string
	for _, v := range g.values {
		values = append(values, v.text)
	}
	return newAxis(base, g.knob, values)
}
