package policies

import (
	"bytes"
	"encoding/json"
	"strings"
)

// formWriter writes leaves as nested objects, one leaf a line.
type formWriter struct {
	b     strings.Builder
	open  []string // objects entered
	comma string   // before the next member
}

func (f *formWriter) leaf(path []string, value string) {
	parents := len(path) - 1
	same := 0
	for same < min(len(f.open), parents) && f.open[same] == path[same] {
		same++
	}
	f.close(same)
	for len(f.open) < parents {
		name := path[len(f.open)]
		f.member(name, "")
		f.open, f.comma = append(f.open, name), "{"
	}
	f.member(path[parents], value)
}

// member begins a line.
func (f *formWriter) member(name, value string) {
	if f.b.Len() == 0 {
		f.comma = "{"
	}
	f.b.WriteString(f.comma + "\n" + strings.Repeat("  ", len(f.open)+1) + quoted(name) + ": " + value)
	f.comma = ","
}

// close leaves objects until n are open.
func (f *formWriter) close(n int) {
	for ; len(f.open) > n; f.open = f.open[:len(f.open)-1] {
		f.b.WriteString("\n" + strings.Repeat("  ", len(f.open)) + "}")
		f.comma = ","
	}
}

func jsonList[T any](xs []T, show func(T) string) string {
	parts := make([]string, len(xs))
	for i, x := range xs {
		parts[i] = show(x)
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

// quoted writes a text as JSON; what is not UTF-8 becomes U+FFFD.
func quoted(s string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(s); err != nil {
		panic("policies: a text does not encode: " + err.Error())
	}
	return strings.TrimSuffix(b.String(), "\n")
}
