package policies

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// node is a JSON value with its place in the file. Package encoding/json takes names in any case and takes a name
// twice, and its errors have no path, so strict files are read as nodes.
type node struct {
	path    string // "filters.margin", "provenance.traces[0]"; "" for the whole file
	line    int
	value   any    // string, json.Number, bool or nil; unused if members or items is not nil
	members []node // of an object, in order
	items   []node // of an array
	names   []string
	known   bool // somebody asked for it
}

// parseStrict reads one JSON object in which no name comes twice, and nothing after it.
func parseStrict(data []byte) (node, error) {
	var raw json.RawMessage
	if err := json.Unmarshal(data, &raw); err != nil {
		var syntax *json.SyntaxError
		if errors.As(err, &syntax) {
			return node{}, fmt.Errorf("line %d: %w, want one JSON object", lineAt(data, syntax.Offset), err)
		}
		return node{}, err
	}
	p := strictParser{data: data, dec: json.NewDecoder(bytes.NewReader(data))}
	p.dec.UseNumber()
	n, err := p.value("")
	if err == nil && n.names == nil {
		err = n.errorf("found %s, want an object", n.kind())
	}
	return n, err
}

func lineAt(data []byte, offset int64) int { return 1 + bytes.Count(data[:offset], []byte("\n")) }

type strictParser struct {
	data []byte // valid JSON
	dec  *json.Decoder
}

func (p *strictParser) value(path string) (node, error) {
	token, err := p.dec.Token()
	if err != nil {
		return node{}, err
	}
	n := node{path: path, line: lineAt(p.data, p.dec.InputOffset()), value: token}
	switch token {
	case json.Delim('{'):
		err = p.object(&n)
	case json.Delim('['):
		err = p.array(&n)
	}
	return n, err
}

func (p *strictParser) object(n *node) error {
	n.names = []string{}
	for p.dec.More() {
		key, err := p.dec.Token()
		if err != nil {
			return err
		}
		name := key.(string)
		m, err := p.value(join(n.path, name))
		if err != nil {
			return err
		}
		if contains(n.names, name) {
			return m.errorf("given twice, want it once")
		}
		n.names, n.members = append(n.names, name), append(n.members, m)
	}
	_, err := p.dec.Token()
	return err
}

func (p *strictParser) array(n *node) error {
	n.items = []node{}
	for p.dec.More() {
		m, err := p.value(fmt.Sprintf("%s[%d]", n.path, len(n.items)))
		if err != nil {
			return err
		}
		n.items = append(n.items, m)
	}
	_, err := p.dec.Token()
	return err
}

// join appends a name to a path.
func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// member returns the member of that name, nil if there is none.
func (n *node) member(name string) *node {
	for i := range n.names {
		if n.names[i] == name {
			return &n.members[i]
		}
	}
	return nil
}

// find returns the node at a path and marks it and its parents as known.
func (n *node) find(path string) (*node, error) {
	at := n
	for name := range strings.SplitSeq(path, ".") {
		if at.names == nil {
			return nil, at.errorf("found %s, want an object", at.kind())
		}
		m := at.member(name)
		if m == nil {
			return nil, at.errorf("%s is missing", name)
		}
		m.known = true
		at = m
	}
	return at, nil
}

// stranger returns an error for the first member that nobody asked for, with the names of those asked for.
func (n *node) stranger() error {
	var known []string
	for i := range n.members {
		if n.members[i].known {
			known = append(known, n.names[i])
		}
	}
	for i := range n.members {
		m := &n.members[i]
		if !m.known {
			return n.at(m.line, unknown("field", n.names[i], known))
		}
		if err := m.stranger(); err != nil {
			return err
		}
	}
	return nil
}

// kind says what the node is, with its value if it is short.
func (n *node) kind() string {
	switch v := n.value.(type) {
	case json.Number:
		return v.String()
	case string:
		return fmt.Sprintf("%.80q", v)
	case bool:
		return fmt.Sprint(v)
	case nil:
		return "null"
	}
	if n.items != nil {
		return "an array"
	}
	return "an object"
}

// errorf makes an error that names the node's place.
func (n *node) errorf(format string, args ...any) error {
	return n.at(n.line, fmt.Errorf(format, args...))
}

// at puts the node's path and a line before an error.
func (n *node) at(line int, err error) error {
	if n.path == "" {
		return fmt.Errorf("line %d: %w", line, err)
	}
	return fmt.Errorf("line %d: %s: %w", line, n.path, err)
}
