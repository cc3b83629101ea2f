package reports

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/types"
	"github.com/expr-lang/expr/vm"
)

// condition is the compiled expression of a gate.
type condition struct {
	text    string
	program *vm.Program
	lone    bool // a call of regression and nothing else: it holds if there is none
}

// Gates read numbers and divide through functions, so that a number that is not known is noticed.
const (
	numberOf = "number__"
	quotient = "quotient__"
)

// compile checks an expression against the names of a scope.
func compile(text string, s *scope) (*condition, error) {
	if strings.TrimSpace(text) == "" {
		return nil, errors.New("the gate is empty, want a condition such as ttft.p90 < 0.5")
	}
	env := shape(s.tree)
	env[numberOf] = types.TypeOf(func(string) float64 { return 0 })
	env[quotient] = types.TypeOf(func(a, b any) float64 { return 0 })
	if s.pair != nil {
		env["regression"] = types.TypeOf(func(string, float64) bool { return false })
	}
	v := &reader{scope: s}
	program, err := expr.Compile(text, expr.Env(env), expr.AsBool(), expr.Patch(v))
	switch {
	case v.err != nil:
		return nil, v.err
	case err != nil:
		return nil, misread(text, err, s)
	case v.calls > v.negated && !v.lone(program.Node()):
		return nil, fmt.Errorf("%q: among other conditions regression is true when there is one, want not regression(...)", text)
	}
	return &condition{text: text, program: program, lone: v.lone(program.Node())}, nil
}

// shape is the type of an environment; names outside it are refused.
func shape(tree map[string]any) types.Map {
	out := types.Map{}
	for name, v := range tree {
		if inner, ok := v.(map[string]any); ok {
			out[name] = shape(inner)
		} else {
			out[name] = types.TypeOf(v)
		}
	}
	return out
}

// reading is what a gate looked at.
type reading struct {
	scope  *scope
	seen   map[string]bool
	looked []string // "ttft.p90 = 0.41"
	doubts []string // why the gate cannot tell
	err    error
}

func (r *reading) number(path string) float64 {
	v := r.scope.numbers[path]
	if r.seen[path] {
		return v
	}
	r.seen[path] = true
	if known(v) {
		r.looked = append(r.looked, path+" = "+strconv.FormatFloat(v, 'g', 6, 64))
		return v
	}
	doubt := path + " is not known"
	if why := r.scope.why(path); why != "" {
		doubt += ": " + why
	}
	r.doubts = append(r.doubts, doubt)
	return math.NaN()
}

// quotient is a/b; 0/0 and x/0 are no numbers, and a comparison with them says nothing.
func (r *reading) quotient(a, b any) float64 {
	x, y := r.float(a), r.float(b)
	q := x / y
	if !known(q) && known(x, y) { // an operand that is not known is told already
		r.doubts = append(r.doubts, "a division by 0 has no value")
	}
	return q
}

func (r *reading) float(v any) float64 {
	switch v := v.(type) {
	case float64:
		return v
	case int:
		return float64(v)
	}
	r.err = fmt.Errorf("%v is divided, or divides, and is no number", v)
	return math.NaN()
}

func (r *reading) regression(metric string, slack float64) bool {
	if !(slack >= 0) || math.IsInf(slack, 0) {
		r.err = fmt.Errorf("regression(%q, %v): want a slack of 0 or more, such as 0.02 for 2 %%", metric, slack)
		return false
	}
	p, err := r.scope.pair(metric)
	if err != nil {
		r.err = err
		return false
	}
	worse, doubt := p.regressed(slack)
	r.looked = append(r.looked, p.words())
	if doubt != "" {
		r.doubts = append(r.doubts, doubt)
	}
	return worse
}

// evaluate says whether the condition holds, and what it looked at.
func (c *condition) evaluate(s *scope) (Verdict, string, error) {
	r := &reading{scope: s, seen: map[string]bool{}}
	env := map[string]any{numberOf: r.number, quotient: r.quotient, "regression": r.regression}
	for name, v := range s.tree {
		env[name] = v
	}
	out, err := expr.Run(c.program, env)
	if err == nil {
		err = r.err
	}
	if err != nil {
		return Inconclusive, "", fmt.Errorf("%q: %w", c.text, err)
	}
	detail := strings.Join(append(r.looked, r.doubts...), "; ")
	holds, _ := out.(bool)
	switch {
	case len(r.doubts) > 0:
		return Inconclusive, detail, nil
	case holds != c.lone:
		return Pass, detail, nil
	}
	return Fail, detail, nil
}
