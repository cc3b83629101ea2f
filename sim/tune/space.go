package tune

import (
	"fmt"
	"strings"

	"github.com/seed-2cee110a/triage/policies"
)

// MaxPoints is how many points a space may have.
const MaxPoints = 1_000_000

// Space is a grid over the knobs of one policy: every combination of the axes' values. Points are numbered from 0; the last
// axis varies fastest.
type Space struct {
	Base policies.Spec // knobs without an axis keep the values they have here
	Axes []Axis
}

// ParseSpace makes a space of grids as ParseAxis reads them. Without any it takes the default grid of the policy.
func ParseSpace(base policies.Spec, grids []string) (*Space, error) {
	if len(grids) == 0 {
		grids = DefaultGrid(base.Name)
	}
	var axes []Axis
	for _, text := range grids {
		a, err := ParseAxis(base, text)
		if err != nil {
			return nil, err
		}
		axes = append(axes, a)
	}
	return NewSpace(base, axes)
}

// NewSpace checks that the axes make a grid.
func NewSpace(base policies.Spec, axes []Axis) (*Space, error) {
	s := &Space{Base: base, Axes: axes}
	if len(base.Knobs()) == 0 {
		return nil, fmt.Errorf("policy %q has no knobs to tune", base.Name)
	}
	if len(axes) == 0 {
		var names []string
		for _, k := range base.Knobs() {
			names = append(names, k.Name)
		}
		return nil, fmt.Errorf("policy %q has no default grid, want --grid KNOB=VALUES with a knob of %s", base.Name, strings.Join(names, ", "))
	}
	seen := map[string]bool{}
	n := 1
	for _, a := range axes {
		if seen[a.Knob] {
			return nil, fmt.Errorf("knob %s has two grids, want one", a.Knob)
		}
		seen[a.Knob] = true
		if n *= len(a.Values); n > MaxPoints {
			return nil, fmt.Errorf("the grid has more than %d points, want fewer values or knobs", MaxPoints)
		}
	}
	return s, nil
}

// DefaultGrid returns the grids to search when none is given, nil for a policy that has no such choice. Only ratios of
// weights decide, so that one weight, aff, is only on or off.
func DefaultGrid(policy string) []string {
	if policy != "score" {
		return nil
	}
	return []string{"aff=0,10", "q=0,0.3,1,3,10,30", "load=0,0.02,0.2,2", "norm=work,absolute", "fit=spill,off"}
}

// Len returns the number of points.
func (s *Space) Len() int {
	n := 1
	for _, a := range s.Axes {
		n *= len(a.Values)
	}
	return n
}

// Indices returns which value of each axis a point has.
func (s *Space) Indices(point int) []int {
	at := make([]int, len(s.Axes))
	for i := len(s.Axes) - 1; i >= 0; i-- {
		n := len(s.Axes[i].Values)
		at[i] = point % n
		point /= n
	}
	return at
}

// Index returns the point that has these values; it undoes Indices.
func (s *Space) Index(at []int) int {
	point := 0
	for i, a := range s.Axes {
		point = point*len(a.Values) + at[i]
	}
	return point
}

// Values returns the point's value on each axis.
func (s *Space) Values(point int) []string {
	values := make([]string, len(s.Axes))
	for i, v := range s.Indices(point) {
		values[i] = s.Axes[i].Values[v]
	}
	return values
}

// changes counts the axes on which a point differs from the base.
func (s *Space) changes(point int) int {
	n := 0
	for i, v := range s.Indices(point) {
		if s.Axes[i].Values[v] != s.Base.Knob(s.Axes[i].Knob) {
			n++
		}
	}
	return n
}

// Spec returns the policy at a point. Its text names every knob that has an axis or differs from the default.
func (s *Space) Spec(point int) policies.Spec {
	values := map[string]string{}
	for i, v := range s.Values(point) {
		values[s.Axes[i].Knob] = v
	}
	var pairs []string
	for i, k := range s.Base.Knobs() {
		v, searched := values[k.Name]
		if !searched {
			if v = k.Value; v == defaults(s.Base.Name)[i].Default {
				continue
			}
		}
		pairs = append(pairs, k.Name+"="+v)
	}
	spec, err := policies.Parse(s.Base.Name + ":" + strings.Join(pairs, ","))
	if err != nil {
		panic("tune: checked values are refused: " + err.Error())
	}
	return spec
}

func defaults(policy string) []policies.Knob {
	for _, e := range policies.Catalog() {
		if e.Name == policy {
			return e.Knobs
		}
	}
	return nil
}

// Grids returns the axes as ParseAxis reads them.
func (s *Space) Grids() []string {
	var out []string
	for _, a := range s.Axes {
		out = append(out, a.Knob+"="+strings.Join(a.Values, ","))
	}
	return out
}
