package tune

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/types"
	"github.com/expr-lang/expr/vm"

	"github.com/seed-2cee110a/triage/sim"
)

// DefaultObjective is the 90th percentile of the TTFT, seconds.
const DefaultObjective = "ttft.p90"

// Objective is an expression over a run's numbers; lower is better.
type Objective struct {
	Text    string
	program *vm.Program
	refuses bool // see CountsRefusals
}

// ParseObjective reads an expression over the names of sim.Summary.Env and goodput(TTFT, TPOT), the share of requests within
// both bounds in seconds: "ttft.p90", "-hit_ratio", "-goodput(2, 0.05)", "ttft.p90 + 10*rejected_ratio".
func ParseObjective(text string) (*Objective, error) {
	if strings.TrimSpace(text) == "" {
		return nil, errors.New("the objective is empty, want an expression such as " + DefaultObjective)
	}
	env := kinds(sim.Summary{}.Env())
	env["goodput"] = types.TypeOf(func(ttft, tpot float64) float64 { return 0 })
	program, err := expr.Compile(text, expr.Env(env), expr.AsFloat64())
	if err != nil {
		return nil, explain(text, err)
	}
	return &Objective{text, program, counts(program.Node())}, nil
}

// CountsRefusals says that the objective itself has what a refused request costs: it names rejected, rejected_ratio,
// completed or goodput.
func (o *Objective) CountsRefusals() bool { return o.refuses }

func counts(n ast.Node) bool {
	var v refusalNames
	ast.Walk(&n, &v)
	return bool(v)
}

// refusalNames becomes true at a name that depends on how many requests were refused.
type refusalNames bool

func (v *refusalNames) Visit(n *ast.Node) {
	if name, ok := (*n).(*ast.IdentifierNode); ok && slices.Contains([]string{"rejected", "rejected_ratio", "completed", "goodput"}, name.Value) {
		*v = true
	}
}

// kinds is the shape of an environment; names outside it are refused.
func kinds(env map[string]any) types.Map {
	out := types.Map{}
	for name, v := range env {
		if inner, ok := v.(map[string]any); ok {
			out[name] = kinds(inner)
		} else {
			out[name] = types.TypeOf(v)
		}
	}
	return out
}

// explain says where an expression is wrong and what it may use.
func explain(text string, err error) error {
	var at *file.Error
	if !errors.As(err, &at) {
		return fmt.Errorf("objective %q is not a number, want one such as %s", text, DefaultObjective)
	}
	return fmt.Errorf("objective %q, column %d: %s (have %s, goodput(TTFT, TPOT) with bounds in seconds; TIME is ttft, tpot, e2e or gateway_wait)",
		text, at.Column+1, at.Message, strings.Join(sim.EnvNames(), ", "))
}

// notFinite is the error of an objective that has no value for a run, such as the mean of no requests.
type notFinite struct{ text string }

func (e *notFinite) Error() string { return e.text }

// Value evaluates the objective; a value that is not finite is a notFinite error.
func (o *Objective) Value(r *sim.Result, s *sim.Summary) (float64, error) {
	env := s.Env()
	env["goodput"] = r.Goodput
	v, err := expr.Run(o.program, env)
	if err != nil {
		return 0, fmt.Errorf("objective %q: %w", o.Text, err)
	}
	x, ok := v.(float64)
	if !ok || math.IsNaN(x) || math.IsInf(x, 0) {
		return 0, &notFinite{fmt.Sprintf("objective %q is %v, want a finite number", o.Text, v)}
	}
	return x, nil
}
