package reports

import (
	"math"
	"slices"
	"strings"

	"github.com/seed-2cee110a/triage/sim"
)

// scope is what a gate may name: numbers and texts under dotted paths.
type scope struct {
	tree    map[string]any     // nested, for the compiler
	numbers map[string]float64 // by full path
	texts   map[string]string  // by full path, "" for what is not known
	leads   []string           // what stands before the names of numbers, "" for plain names
	missing map[string]string  // why the numbers below a path are not known
	pair    func(metric string) (pairing, error)
}

func newScope() *scope {
	return &scope{tree: map[string]any{}, numbers: map[string]float64{}, texts: map[string]string{}, missing: map[string]string{}}
}

// summary adds a run's numbers below lead, "" for plain names.
func (s *scope) summary(lead string, r sim.Summary) {
	s.leads = append(s.leads, lead)
	s.add(lead, r.Env())
}

// unknownSummary adds names below lead whose numbers are not known, and why.
func (s *scope) unknownSummary(lead, why string) {
	s.missing[lead] = why
	s.leads = append(s.leads, lead)
	s.add(lead, nobody(sim.Summary{}.Env()))
}

// nobody makes every number of an environment unknown.
func nobody(env map[string]any) map[string]any {
	for name, v := range env {
		if inner, ok := v.(map[string]any); ok {
			nobody(inner)
		} else {
			env[name] = math.NaN()
		}
	}
	return env
}

func (s *scope) add(lead string, env map[string]any) {
	at := s.tree
	if lead != "" {
		for part := range strings.SplitSeq(lead, ".") {
			next, ok := at[part].(map[string]any)
			if !ok {
				next = map[string]any{}
				at[part] = next
			}
			at = next
		}
	}
	s.put(at, lead, env)
}

func (s *scope) put(at map[string]any, lead string, env map[string]any) {
	for name, v := range env {
		path := strings.TrimPrefix(lead+"."+name, ".")
		switch v := v.(type) {
		case map[string]any:
			below, ok := at[name].(map[string]any)
			if !ok {
				below = map[string]any{}
				at[name] = below
			}
			s.put(below, path, v)
		case float64:
			at[name], s.numbers[path] = v, v
		case string:
			at[name], s.texts[path] = v, v
		}
	}
}

func (s *scope) isNumber(path string) bool {
	_, ok := s.numbers[path]
	return ok
}

// leaf says that a path names a number or a text.
func (s *scope) leaf(path string) bool {
	_, ok := s.texts[path]
	return ok || s.isNumber(path)
}

// why says why the number at path is not known, "" if nothing more is to say.
func (s *scope) why(path string) string {
	for lead := path; lead != ""; {
		lead = lead[:max(0, strings.LastIndex(lead, "."))]
		if why := s.missing[lead]; why != "" {
			return why
		}
	}
	return ""
}

// paths lists the numbers, in order.
func (s *scope) paths() []string {
	var out []string
	for path := range s.numbers {
		out = append(out, path)
	}
	slices.Sort(out)
	return out
}

// Label writes a policy label as a name in gates: every character outside A-Z, a-z, 0-9 and _ becomes _.
func Label(policy string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', r == '_':
			return r
		}
		return '_'
	}, policy)
}
