package reports

import (
	"fmt"
	"slices"
	"strings"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/parser"
)

// A gate is built from a few forms, all of which notice a number that is not known. Whatever else the expression language
// has (variables, ternaries, lists, access by computed names) could carry such a number past them, and is refused.
var (
	joining   = []string{"and", "&&", "or", "||"}
	comparing = []string{"<", "<=", ">", ">=", "==", "!="}
	reckoning = []string{"+", "-", "*", "/", "%", "**", "^"}
	functions = []string{"abs", "ceil", "float", "floor", "int", "max", "min", "round"}
)

// form checks the forms of an expression from its root to its leaves.
type form struct {
	text  string
	scope *scope
}

// formOf says whether an expression is a call of regression and nothing else, or what in it is not for gates.
func formOf(text string, s *scope) (lone bool, err error) {
	tree, err := parser.Parse(text)
	if err != nil {
		return false, misread(text, err, s)
	}
	f := form{text, s}
	if call, ok := regressionCall(tree.Node); ok {
		return true, f.values(call.Arguments)
	}
	return false, f.condition(tree.Node, false)
}

// condition checks what is true or false. Negated says that an odd number of nots is around it.
func (f form) condition(n ast.Node, negated bool) error {
	if call, ok := regressionCall(n); ok {
		if !negated {
			return fmt.Errorf("%q: among other conditions regression is true when there is one, want not regression(...)", f.text)
		}
		return f.values(call.Arguments)
	}
	switch n := n.(type) {
	case *ast.BoolNode:
		return nil
	case *ast.UnaryNode:
		if n.Operator == "not" || n.Operator == "!" {
			return f.condition(n.Node, !negated)
		}
	case *ast.BinaryNode:
		switch {
		case slices.Contains(joining, n.Operator):
			if err := f.condition(n.Left, negated); err != nil {
				return err
			}
			return f.condition(n.Right, negated)
		case slices.Contains(comparing, n.Operator):
			return f.values([]ast.Node{n.Left, n.Right})
		}
	}
	return f.refused(n)
}

// values checks what is compared.
func (f form) values(all []ast.Node) error {
	for _, n := range all {
		if err := f.value(n); err != nil {
			return err
		}
	}
	return nil
}

func (f form) value(n ast.Node) error {
	switch n := n.(type) {
	case *ast.IntegerNode, *ast.FloatNode, *ast.StringNode:
		return nil
	case *ast.IdentifierNode, *ast.MemberNode:
		if f.scope.leaf(pathOf(n)) {
			return nil
		}
	case *ast.UnaryNode:
		if n.Operator == "-" || n.Operator == "+" {
			return f.value(n.Node)
		}
	case *ast.BinaryNode:
		if slices.Contains(reckoning, n.Operator) {
			return f.values([]ast.Node{n.Left, n.Right})
		}
	case *ast.BuiltinNode:
		if slices.Contains(functions, n.Name) {
			return f.values(n.Arguments)
		}
	}
	return f.refused(n)
}

func (f form) refused(n ast.Node) error {
	return fmt.Errorf("%q, column %d: %s is not for gates, want numbers compared by %s and joined by and, or, not; a number may use + - * / %% ** and %s",
		f.text, n.Location().From+1, n, strings.Join(comparing, " "), strings.Join(functions, ", "))
}

// regressionCall returns the call of regression that a node is.
func regressionCall(n ast.Node) (*ast.CallNode, bool) {
	call, ok := n.(*ast.CallNode)
	if !ok {
		return nil, false
	}
	name, ok := call.Callee.(*ast.IdentifierNode)
	return call, ok && name.Value == "regression"
}
