package main

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/seed-2cee110a/triage/policies"
	"github.com/seed-2cee110a/triage/sim/tune"
)

// studyFlags say what to search for: from a file, from flags, or both; flags go before the file.
type studyFlags struct {
	policy    string
	grids     []string
	file      string
	objective string
}

// studyFlagNames are the flags of a study that a replay does not have.
var studyFlagNames = []string{"grid", "file", "objective"}

func (s *studyFlags) bind(f *pflag.FlagSet) {
	f.StringVarP(&s.policy, "policy", "p", "", "`POLICY` to tune, as for replay (default score)")
	f.StringArrayVar(&s.grids, "grid", nil, "`KNOB=VALUES` to try; repeat it for several knobs")
	f.StringVarP(&s.file, "file", "f", "", "YAML `FILE` with policy, objective and grid")
	f.StringVar(&s.objective, "objective", "", "`EXPR` to minimise (default "+tune.DefaultObjective+")")
}

// problem makes all of a search but its traces.
func (s *studyFlags) problem() (tune.Problem, error) {
	file, err := s.read()
	if err != nil {
		return tune.Problem{}, err
	}
	base, err := s.base(file)
	if err != nil {
		return tune.Problem{}, err
	}
	p := tune.Problem{Baselines: baselinesOf(base)}
	if p.Space, err = s.space(base, file); err != nil {
		return p, err
	}
	p.Objective, err = s.goal(file)
	return p, err
}

func (s *studyFlags) read() (*tune.File, error) {
	if s.file == "" {
		return &tune.File{}, nil
	}
	data, err := os.ReadFile(s.file)
	if err != nil {
		return nil, named(s.file, err)
	}
	return tune.ParseFile(s.file, data)
}

func (s *studyFlags) base(file *tune.File) (policies.Spec, error) {
	if s.policy == "" && file.PolicyText() != "" {
		base, err := parsePolicy(file.PolicyText())
		if err != nil {
			err = file.PolicyError(err)
		}
		return base, err
	}
	if s.policy == "" {
		return policies.Parse("score")
	}
	return parsePolicy(s.policy)
}

// space joins the grids of the file and of the flags; a flag replaces the file's grid of the same knob.
func (s *studyFlags) space(base policies.Spec, file *tune.File) (*tune.Space, error) {
	axes, err := file.Axes(base)
	if err != nil {
		return nil, err
	}
	fromFile := len(axes)
	for _, text := range s.grids {
		a, err := tune.ParseAxis(base, text)
		if err != nil {
			return nil, fmt.Errorf("--%w", err)
		}
		i := slices.IndexFunc(axes[:fromFile], func(b tune.Axis) bool { return b.Knob == a.Knob })
		if i >= 0 {
			axes = append(slices.Delete(axes, i, i+1), a)
			fromFile--
		} else {
			axes = append(axes, a)
		}
	}
	if len(axes) == 0 {
		return tune.ParseSpace(base, nil)
	}
	return tune.NewSpace(base, axes)
}

func (s *studyFlags) goal(file *tune.File) (*tune.Objective, error) {
	switch {
	case s.objective != "":
		return tune.ParseObjective(s.objective)
	case file.ObjectiveText() != "":
		o, err := tune.ParseObjective(file.ObjectiveText())
		if err != nil {
			err = file.ObjectiveError(err)
		}
		return o, err
	}
	return tune.ParseObjective(tune.DefaultObjective)
}

// baselinesOf are round robin, the policy at its defaults, and the policy as given if that differs.
func baselinesOf(base policies.Spec) []policies.Spec {
	var out []policies.Spec
	for _, text := range []string{"round-robin", base.Name} {
		spec, err := policies.Parse(text)
		if err != nil {
			panic("triage: " + err.Error())
		}
		out = append(out, spec)
	}
	if len(policies.Diff(base, out[1])) > 0 {
		out = append(out, base)
	}
	return out
}

// flagsOf writes a study as flags, in shell syntax.
func flagsOf(s *tune.Study) []string {
	out := []string{"-p", quote(s.Space.Base.Text)}
	for _, g := range s.Space.Grids() {
		out = append(out, "--grid", quote(g))
	}
	return append(out, "--objective", quote(s.Objective.Text))
}

// shellLine is a command with its arguments and flags.
func shellLine(command string, args, flags []string) string {
	parts := []string{command}
	for _, a := range args {
		parts = append(parts, quote(a))
	}
	if slices.Contains(args, "-") {
		parts = append([]string{"... |"}, parts...)
	}
	return strings.Join(append(parts, flags...), " ")
}
