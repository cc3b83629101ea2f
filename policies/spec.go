package policies

import (
	"cmp"
	"fmt"
	"strings"
)

// Spec is a policy of the catalog with the values of its knobs and a label to show it by.
type Spec struct {
	Label string // the given label, or Text
	Name  string // in the catalog
	Text  string // name and knobs as given, without the label

	entry  *Entry
	values []string // one a knob, in catalog order, in canonical form
}

// Parse reads NAME[:k=v,...] or LABEL=NAME[:k=v,...], with wrappers before the name, each as WRAPPER(k=v,...): with the
// first knob's name left out or without the brackets, as in "sample(2):sticky:score:aff=5". A label is what comes before
// an '=' that comes before any ':' or '('.
func Parse(text string) (Spec, error) {
	s := Spec{Label: text, Text: text}
	if i := strings.IndexAny(text, "=:("); i >= 0 && text[i] == '=' {
		s.Label, s.Text = text[:i], text[i+1:]
		if s.Label == "" {
			return s, fmt.Errorf("policy %q has an empty label, want LABEL=NAME[:k=v,...]", text)
		}
	}
	var err error
	if s.entry, s.values, err = parsePolicy(s.Text); s.entry == nil {
		return s, err
	}
	s.Name = s.entry.Name
	if err != nil {
		return s, fmt.Errorf("policy %q: %w", s.Text, err)
	}
	return s, nil
}

// parsePolicy reads a policy without a label. The entry is nil if its name or a wrapper's is unknown.
func parsePolicy(text string) (*Entry, []string, error) {
	if w, knobs, rest, err := cutWrapper(text); w != nil || err != nil {
		if err != nil {
			return nil, nil, err
		}
		inner, values, err := parsePolicy(rest)
		if inner == nil {
			return nil, nil, err
		}
		own, wrong := w.parse(knobs)
		return w.around(inner), append(own, values...), cmp.Or(wrong, err)
	}
	name, knobs, given := strings.Cut(text, ":")
	e := lookup(name)
	if e == nil {
		return nil, nil, unknown("policy", name, names(catalog))
	}
	values, err := e.parse(knobs, given)
	return e, values, err
}

// parse reads k=v,... into values in catalog order, defaults filled in.
func (e *Entry) parse(text string, given bool) ([]string, error) {
	values, seen := e.defaults(), make([]bool, len(e.Knobs))
	if given {
		for pair := range strings.SplitSeq(text, ",") {
			name, value, ok := strings.Cut(pair, "=")
			if !ok {
				return nil, fmt.Errorf("found %q, want knob=value", pair)
			}
			i := e.knob(name)
			if i < 0 {
				return nil, unknown("knob", name, e.knobNames())
			}
			if seen[i] {
				return nil, fmt.Errorf("%s is given twice, want it once", name)
			}
			values[i], seen[i] = value, true
		}
	}
	return e.check(values)
}

// New returns a fresh instance, with a memory of its own.
func (s Spec) New() Policy { return s.entry.build(s.values) }

// Knob returns the value in force, in canonical form; "" if the policy has no such knob.
func (s Spec) Knob(name string) string {
	if i := s.entry.knob(name); i >= 0 {
		return s.values[i]
	}
	return ""
}

// Knobs returns every knob with the value in force, in catalog order.
func (s Spec) Knobs() []KnobValue {
	list := make([]KnobValue, len(s.values))
	for i, value := range s.values {
		list[i] = KnobValue{s.entry.Knobs[i].Name, value}
	}
	return list
}

// Diff names the knobs, in catalog order, in which two specs of the same policy differ; nil for different policies.
func Diff(a, b Spec) []string {
	if a.Name != b.Name {
		return nil
	}
	var differ []string
	for i, k := range a.entry.Knobs {
		if a.values[i] != b.values[i] {
			differ = append(differ, k.Name)
		}
	}
	return differ
}

func (e *Entry) knob(name string) int {
	for i := range e.Knobs {
		if e.Knobs[i].Name == name {
			return i
		}
	}
	return -1
}

func (e *Entry) defaults() []string {
	values := make([]string, len(e.Knobs))
	for i := range e.Knobs {
		values[i] = e.Knobs[i].Default
	}
	return values
}

func (e *Entry) knobNames() []string {
	list := make([]string, len(e.Knobs))
	for i := range e.Knobs {
		list[i] = e.Knobs[i].Name
	}
	return list
}

func lookup(name string) *Entry {
	for i := range catalog {
		if catalog[i].Name == name {
			return &catalog[i]
		}
	}
	return nil
}

func names(entries []Entry) []string {
	list := make([]string, len(entries))
	for i := range entries {
		list[i] = entries[i].Name
	}
	return list
}
