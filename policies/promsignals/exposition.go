package promsignals

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// sample is a line of Prometheus's text format 0.0.4, or of OpenMetrics, whose exemplars are skipped:
// https://prometheus.io/docs/instrumenting/exposition_formats/
type sample struct {
	line   int
	name   string
	labels []label
	value  float64
}

type label struct{ name, value string }

// get returns a label's value, "" if it is missing, which means the same.
func (s *sample) get(name string) string {
	for _, l := range s.labels {
		if l.name == name {
			return l.value
		}
	}
	return ""
}

// errorf makes an error that names the sample.
func (s *sample) errorf(format string, args ...any) error {
	return fmt.Errorf("line %d: %s: %w", s.line, s.name, fmt.Errorf(format, args...))
}

// each calls yield for every sample of a metric that is wanted; other lines may be anything. It is a parser of its own
// because the one of github.com/prometheus/common brings protocol buffers into every router that scrapes.
func each(text []byte, wanted func(name string) bool, yield func(*sample) error) error {
	for n := 1; len(text) > 0; n++ {
		var line []byte
		line, text, _ = bytes.Cut(text, []byte("\n"))
		line = bytes.TrimSpace(line)
		if !wanted(nameOf(line)) {
			continue
		}
		s := sample{line: n}
		if err := s.parse(string(line)); err != nil {
			return fmt.Errorf("line %d: %w in %.100q", n, err, line)
		}
		if err := yield(&s); err != nil {
			return err
		}
	}
	return nil
}

// nameOf is what a line begins with.
func nameOf(line []byte) string {
	if end := bytes.IndexAny(line, "{ \t"); end >= 0 {
		line = line[:end]
	}
	return string(line)
}

// parse reads name{label="value",...} value [timestamp].
func (s *sample) parse(line string) (err error) {
	s.name = nameOf([]byte(line))
	line = strings.TrimLeft(line[len(s.name):], " \t")
	if strings.HasPrefix(line, "{") {
		if line, err = s.parseLabels(line[1:]); err != nil {
			return err
		}
	}
	line, _, _ = strings.Cut(line, " # ") // an exemplar
	fields := strings.Fields(line)
	if len(fields) != 1 && len(fields) != 2 {
		return fmt.Errorf("%d fields after the name, want a value and perhaps a timestamp", len(fields))
	}
	if s.value, err = number(fields[0]); err != nil {
		return fmt.Errorf("value %q, want a number", fields[0])
	}
	if len(fields) == 2 {
		if _, err = number(fields[1]); err != nil {
			return fmt.Errorf("timestamp %q, want a number", fields[1])
		}
	}
	return nil
}

// number reads a decimal number, NaN or an infinity: Go's underscores, hexadecimal digits and binary exponents are none
// of the format.
func number(text string) (float64, error) {
	if strings.ContainsAny(text, "_xXpP") {
		return 0, strconv.ErrSyntax
	}
	return strconv.ParseFloat(text, 64)
}

// parseLabels reads up to the closing brace and returns what follows it.
func (s *sample) parseLabels(line string) (string, error) {
	for {
		line = strings.TrimLeft(line, " \t")
		if rest, ok := strings.CutPrefix(line, "}"); ok {
			return rest, nil
		}
		name, rest, ok := strings.Cut(line, "=")
		name, rest = strings.TrimSpace(name), strings.TrimLeft(rest, " \t")
		if !ok || !isName(name) || !strings.HasPrefix(rest, `"`) {
			return "", errors.New("a broken label, want name=\"value\"")
		}
		value, rest, err := unquote(rest[1:])
		if err != nil {
			return "", err
		}
		s.labels = append(s.labels, label{name, value})
		line = strings.TrimLeft(rest, " \t")
		if rest, ok := strings.CutPrefix(line, ","); ok {
			line = rest
		} else if !strings.HasPrefix(line, "}") {
			return "", errors.New("no , or } after a label")
		}
	}
}

// unquote reads a label value up to its closing quote and returns what follows it.
func unquote(text string) (value, rest string, err error) {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			return b.String(), text[i+1:], nil
		case '\\':
			i++
			if i == len(text) {
				return "", "", errors.New("a label value without an end")
			}
			if text[i] == 'n' {
				b.WriteByte('\n')
				continue
			}
			b.WriteByte(text[i])
		default:
			b.WriteByte(text[i])
		}
	}
	return "", "", errors.New("a label value without an end")
}

// isName tells whether the text is [a-zA-Z_:][a-zA-Z0-9_:]*.
func isName(s string) bool {
	for i := range len(s) {
		c := s[i]
		letter := c == '_' || c == ':' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return s != ""
}
