package main

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// yamlFile is a YAML file that is read strictly: every key is known, every error names its place and shows the line.
type yamlFile struct {
	name    string
	lines   []string
	belongs map[string]string // by key: what it is a key of
}

// entry is what a mapping may have.
type entry struct {
	key  string
	read func(ast.Node) error
}

// parse returns the only document of the file, nil if it is empty.
func (f *yamlFile) parse(data []byte) (ast.Node, error) {
	data = bytes.TrimPrefix(data, []byte("\ufeff")) // a byte order mark, which some editors leave
	f.lines = strings.Split(string(data), "\n")
	tree, err := parser.ParseBytes(data, 0)
	var y yaml.Error
	switch {
	case errors.As(err, &y) && y.GetToken() != nil:
		return nil, f.at(y.GetToken(), errors.New(y.GetMessage()))
	case err != nil:
		return nil, fmt.Errorf("%s: %w", f.name, err)
	case len(tree.Docs) > 1:
		return nil, fmt.Errorf("%s: %d documents, want one", f.name, len(tree.Docs))
	case len(tree.Docs) == 0 || tree.Docs[0].Body == nil:
		return nil, nil
	}
	return tree.Docs[0].Body, nil
}

// at puts the place before an error, and the line with a mark below it.
func (f *yamlFile) at(t *token.Token, err error) error {
	p := t.Position
	place := fmt.Sprintf("%s:%d:%d: ", f.name, p.Line, p.Column)
	if p.Line < 1 || p.Line > len(f.lines) {
		return fmt.Errorf("%s%w", place, err)
	}
	line, column := around(strings.TrimRight(f.lines[p.Line-1], "\r"), p.Column-1)
	indent := []rune(line)[:column]
	for i, r := range indent {
		if r != '\t' {
			indent[i] = ' '
		}
	}
	number := fmt.Sprintf("%5d", p.Line)
	return fmt.Errorf("%s%w\n%s | %s\n%s | %s^", place, err, number, line, strings.Repeat(" ", len(number)), string(indent))
}

// around cuts a long line to what is near a column, and says where the column is then.
func around(line string, column int) (string, int) {
	const before, after = 80, 120
	runes := []rune(line)
	column = max(0, min(column, len(runes)))
	from, to := max(0, column-before), min(len(runes), column+after)
	return string(runes[from:to]), column - from
}

// mapping reads a mapping; nothing at all is an empty one.
func (f *yamlFile) mapping(n ast.Node, what string, entries []entry) error {
	if n == nil {
		return nil
	}
	if _, ok := n.(*ast.NullNode); ok {
		return nil
	}
	m, ok := n.(ast.MapNode)
	if !ok {
		return f.wants(n, what+" is", "keys with values")
	}
	for it := m.MapRange(); it.Next(); {
		k := it.Key().GetToken()
		if _, ok := it.Key().(*ast.MergeKeyNode); ok {
			return f.at(k, errors.New("merged mappings are not read; what pools share belongs in defaults and engine"))
		}
		i := 0
		for ; i < len(entries) && entries[i].key != k.Value; i++ {
		}
		if i == len(entries) {
			return f.at(k, f.unknown(k.Value, what, entries))
		}
		if err := entries[i].read(it.Value()); err != nil {
			return err
		}
	}
	return nil
}

// unknown is the error for a key that is not among the entries, with the nearest that is, or where it would be.
func (f *yamlFile) unknown(name, what string, entries []entry) error {
	var have []string
	for _, e := range entries {
		have = append(have, e.key)
	}
	snake := strings.ReplaceAll(name, "-", "_")
	if of := f.belongs[snake]; of != "" && !slices.Contains(have, snake) {
		return fmt.Errorf("unknown key of %s %q: %s is a key of %s", what, name, snake, of)
	}
	return unknown("key of "+what, name, have)
}

// start returns where a node begins: a mapping with its first key, unless that stands in braces.
func start(n ast.Node) *token.Token {
	m, ok := n.(*ast.MappingNode)
	if ok && !m.IsFlowStyle && len(m.Values) > 0 {
		return m.Values[0].Key.GetToken()
	}
	return n.GetToken()
}

// list reads the items of a list; nothing at all is an empty one.
func (f *yamlFile) list(n ast.Node, what string, item func(int, ast.Node) error) error {
	if _, ok := n.(*ast.NullNode); ok {
		return nil
	}
	s, ok := n.(*ast.SequenceNode)
	if !ok {
		return f.wants(n, what+" is", "a list")
	}
	for i, v := range s.Values {
		if err := item(i, v); err != nil {
			return err
		}
	}
	return nil
}

// texts reads a list of texts.
func (f *yamlFile) texts(what string, out *[]string) func(ast.Node) error {
	return func(n ast.Node) error {
		return f.list(n, what, func(_ int, v ast.Node) error {
			text, err := f.scalar(v, what)
			if err == nil && text == "" {
				err = f.at(v.GetToken(), fmt.Errorf("%s has an empty name", what))
			}
			*out = append(*out, text)
			return err
		})
	}
}

// scalar returns a value as it is written.
func (f *yamlFile) scalar(n ast.Node, what string) (string, error) {
	switch n.(type) {
	case *ast.NullNode, *ast.LiteralNode, *ast.AnchorNode, *ast.AliasNode, *ast.TagNode:
	case ast.ScalarNode:
		return n.GetToken().Value, nil
	}
	return "", f.wants(n, what+" is", "one value")
}

func (f *yamlFile) wants(n ast.Node, what, want string) error {
	found := n.Type().String()
	switch n.(type) {
	case ast.MapNode:
		found = "a mapping"
	case *ast.SequenceNode:
		found = "a list"
	case *ast.NullNode:
		found = "nothing"
	case *ast.AnchorNode, *ast.AliasNode:
		return f.at(n.GetToken(), errors.New("anchors and aliases are not read; what pools share belongs in defaults and engine"))
	case *ast.TagNode:
		return f.at(n.GetToken(), fmt.Errorf("tags such as %s are not read: each key knows what its value is", n.GetToken().Value))
	case *ast.LiteralNode:
		found = "a text of several lines"
	case ast.ScalarNode:
		found = fmt.Sprintf("%q", n.GetToken().Value)
	}
	return f.at(n.GetToken(), fmt.Errorf("%s %s, want %s", what, found, want))
}
