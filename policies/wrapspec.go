package policies

import (
	"fmt"
	"strings"
)

// cutWrapper takes the outermost wrapper off a policy's text. It is nil if there is none.
func cutWrapper(text string) (w *Wrapper, knobs, rest string, err error) {
	name := text[:len(text)-len(strings.TrimLeft(text, "abcdefghijklmnopqrstuvwxyz-"))]
	after := text[len(name):]
	if knobs, ok := strings.CutPrefix(after, "("); ok {
		knobs, rest, ok = strings.Cut(knobs, "):")
		if w = wrapperOf(name); w == nil {
			return nil, "", "", unknown("wrapper", name, wrapperNames())
		}
		if !ok || rest == "" {
			return nil, "", "", fmt.Errorf("policy %q: found no policy after %s, want %s(k=v,...):NAME[:k=v,...]", text, name, name)
		}
		return w, knobs, rest, nil
	}
	if w = wrapperOf(name); w == nil {
		return nil, "", "", nil
	}
	if rest = strings.TrimPrefix(after, ":"); rest == "" || rest == after {
		return nil, "", "", fmt.Errorf("policy %q: found no policy after %s, want %s(k=v,...):NAME[:k=v,...]", text, name, name)
	}
	return w, "", rest, nil
}

// parse reads what is in the brackets.
func (w *Wrapper) parse(text string) ([]string, error) {
	if first, _, _ := strings.Cut(text, ","); text != "" && !strings.Contains(first, "=") {
		text = w.Knobs[0].Name + "=" + text
	}
	e := Entry{Knobs: w.Knobs, check: w.check}
	values, err := e.parse(text, text != "")
	if err != nil {
		return values, fmt.Errorf("%s: %w", w.Name, err)
	}
	return values, nil
}

func wrapperOf(name string) *Wrapper {
	for i := range wrappers {
		if wrappers[i].Name == name {
			return &wrappers[i]
		}
	}
	return nil
}

func wrapperNames() []string {
	list := make([]string, len(wrappers))
	for i := range wrappers {
		list[i] = wrappers[i].Name
	}
	return list
}
