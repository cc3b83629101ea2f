package reports

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/agnivade/levenshtein"
	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/file"

	"github.com/seed-2cee110a/triage/sim"
)

// reader makes every number and text that an expression names a call of numberOf or textOf, and every division and power
// one of quotientOf or powerOf. It checks the metrics of regression.
type reader struct {
	scope *scope
	err   error
}

// through are the functions that stand for operators whose result may be no number.
var through = map[string]string{"/": quotientOf, "**": powerOf, "^": powerOf}

// Visit is called for children before their parents.
func (r *reader) Visit(node *ast.Node) {
	switch n := (*node).(type) {
	case *ast.IdentifierNode, *ast.MemberNode:
		switch path := pathOf(n); {
		case r.scope.isNumber(path):
			called(node, numberOf, &ast.StringNode{Value: path})
		case r.scope.leaf(path):
			called(node, textOf, &ast.StringNode{Value: path})
		}
	case *ast.BinaryNode:
		if name, ok := through[n.Operator]; ok {
			called(node, name, n.Left, n.Right)
		}
	case *ast.CallNode:
		if call, ok := regressionCall(n); ok {
			r.metric(call)
		}
	}
}

// called puts a call in the place of a node.
func called(node *ast.Node, name string, args ...ast.Node) {
	ast.Patch(node, &ast.CallNode{Callee: &ast.IdentifierNode{Value: name}, Arguments: args})
}

// metric checks the name of a metric when it is written out.
func (r *reader) metric(n *ast.CallNode) {
	if len(n.Arguments) == 0 || r.err != nil {
		return
	}
	if name, ok := n.Arguments[0].(*ast.StringNode); ok {
		_, r.err = pairedMetric(name.Value)
	}
}

// pathOf is the dotted path that a node names, "" if it is none.
func pathOf(n ast.Node) string {
	switch n := n.(type) {
	case *ast.IdentifierNode:
		return n.Value
	case *ast.MemberNode:
		if name, ok := n.Property.(*ast.StringNode); ok {
			if lead := pathOf(n.Node); lead != "" {
				return lead + "." + name.Value
			}
		}
	}
	return ""
}

// misread says where an expression is wrong, what may have been meant and what there is.
func misread(text string, err error, s *scope) error {
	var at *file.Error
	if !errors.As(err, &at) {
		return fmt.Errorf("%q is not a condition, want one such as ttft.p90 < 0.5", text)
	}
	said := strings.ReplaceAll(at.Message, "map[string]interface {}", "group of numbers")
	near := ""
	for _, lead := range []string{"unknown name ", "unknown field "} {
		if name, ok := strings.CutPrefix(said, lead); ok {
			near = s.suggest(text, at.Column, name)
		}
	}
	return fmt.Errorf("%q, column %d: %s%s (%s)", text, at.Column+1, said, near, s.have())
}

// suggest looks for what may have been meant by the path around a column.
func (s *scope) suggest(text string, column int, name string) string {
	if slices.Contains(sim.EnvNames(), name) || name == "ttft" || name == "tpot" || name == "e2e" || name == "gateway_wait" {
		if len(s.leads) > 0 && s.leads[0] != "" {
			return fmt.Sprintf(": there are several runs, want LABEL.%s", name)
		}
	}
	if near := nearest(pathAround(text, column), s.paths()); near != "" {
		return fmt.Sprintf("; did you mean %s?", near)
	}
	return ""
}

// pathAround returns the dotted path that a column of text is in.
func pathAround(text string, column int) string {
	inside := func(c byte) bool {
		return c == '_' || c == '.' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
	}
	from, to := min(column, len(text)), min(column, len(text))
	for from > 0 && inside(text[from-1]) {
		from--
	}
	for to < len(text) && inside(text[to]) {
		to++
	}
	return text[from:to]
}

// have lists the names.
func (s *scope) have() string {
	names := strings.Join(sim.EnvNames(), ", ")
	var labels []string
	for _, lead := range s.leads {
		if lead != "" {
			labels = append(labels, lead)
		}
	}
	out := "have " + names
	switch {
	case len(s.leads) > 0 && s.leads[0] != "":
		out = "have LABEL." + strings.Join(sim.EnvNames(), ", ") + " with LABEL one of " + strings.Join(labels, ", ")
	case len(labels) > 0:
		out += ", and the same after " + strings.Join(labels, ". or ") + "."
	}
	if s.pair != nil {
		out += ", regression(METRIC, SLACK)"
	}
	return out + "; TIME is ttft, tpot, e2e or gateway_wait, seconds"
}

// nearest returns the name closest to the given one, "" if none is close.
func nearest(name string, have []string) string {
	best, least := "", max(1, len(name)/3)+1
	for _, h := range have {
		if d := levenshtein.ComputeDistance(name, h); d < least {
			best, least = h, d
		}
	}
	return best
}
