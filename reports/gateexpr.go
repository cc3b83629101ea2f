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

// Gates read, divide and raise through functions, so that what is not known is noticed.
const (
	numberOf   = "number__"
	textOf     = "text__"
	quotientOf = "quotient__"
	powerOf    = "power__"
)

// compile checks an expression against the names of a scope.
func compile(text string, s *scope) (*condition, error) {
	if strings.TrimSpace(text) == "" {
		return nil, errors.New("the gate is empty, want a condition such as ttft.p90 < 0.5")
	}
	env := shape(s.tree)
	r := &reading{}
	env[numberOf], env[textOf] = types.TypeOf(r.number), types.TypeOf(r.text)
	env[quotientOf], env[powerOf] = types.TypeOf(r.quotient), types.TypeOf(r.power)
	if s.pair != nil {
		env["regression"] = types.TypeOf(r.regression)
	}
	v := &reader{scope: s}
	program, err := expr.Compile(text, append(language(), expr.Env(env), expr.Patch(v))...)
	switch {
	case v.err != nil:
		return nil, v.err
	case err != nil:
		return nil, misread(text, err, s)
	}
	lone, err := formOf(text, s)
	if err != nil {
		return nil, err
	}
	return &condition{text: text, program: program, lone: lone}, nil
}

// language is what all gates are compiled with.
func language() []expr.Option {
	out := []expr.Option{expr.AsBool(), expr.DisableAllBuiltins()}
	for _, name := range functions {
		out = append(out, expr.EnableBuiltin(name))
	}
	return out
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
	if !known(v) {
		v = math.NaN()
	}
	r.look(path, strconv.FormatFloat(v, 'g', 6, 64), known(v))
	return v
}

// text is a text of the scope; those that are known are not empty.
func (r *reading) text(path string) string {
	v := r.scope.texts[path]
	r.look(path, v, v != "")
	return v
}

// look takes down a value when it is read for the first time.
func (r *reading) look(path, value string, isKnown bool) {
	switch {
	case r.seen[path]:
		return
	case isKnown:
		r.looked = append(r.looked, path+" = "+value)
	case r.scope.why(path) != "":
		r.doubts = append(r.doubts, path+" is not known: "+r.scope.why(path))
	default:
		r.doubts = append(r.doubts, path+" is not known")
	}
	r.seen[path] = true
}

// quotient is a/b; 0/0 and x/0 are no numbers, and a comparison with them says nothing.
func (r *reading) quotient(a, b any) float64 {
	x, y := r.float(a), r.float(b)
	return r.valued("a division by 0", x/y, x, y)
}

// power is a to the b. A root of a negative number and a negative power of 0 are no numbers.
func (r *reading) power(a, b any) float64 {
	x, y := r.float(a), r.float(b)
	return r.valued(fmt.Sprintf("%v ** %v", x, y), math.Pow(x, y), x, y)
}

// valued notices a result that is no number although the operands are; an operand that is not known is told already.
func (r *reading) valued(what string, v, x, y float64) float64 {
	if !known(v) && known(x, y) {
		r.doubts = append(r.doubts, what+" has no value")
	}
	return v
}

func (r *reading) float(v any) float64 {
	switch v := v.(type) {
	case float64:
		return v
	case int:
		return float64(v)
	}
	r.err = fmt.Errorf("%v is divided, divides, or is in a power, and is no number", v)
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
	env := map[string]any{numberOf: r.number, textOf: r.text, quotientOf: r.quotient, powerOf: r.power, "regression": r.regression}
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
	r.unevenWork()
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
