package traces

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Adapters is an overlay: LoRA adapters for a trace that names none, or others than it names. Each session has one
// adapter or asks for the base model; a request without a session is one of its own. Which one follows from the seed and
// the session's name alone, not from the order or number of the others. The zero value is no overlay.
type Adapters struct {
	Kind string  // "zipf", "identical", "distinct"; "" for none
	S    float64 // zipf: the k-th adapter in popularity has weight 1/k^S
	N    int     // zipf: adapters
	Base float64 // share of sessions that ask for the base model, 0..1
	Seed uint64  // other seeds, other draws
}

// adapterKind is a way to hand out adapters.
type adapterKind struct {
	name   string
	params []string // those that it has; S and N are required where it has them
	sample string
}

var adapterKinds = []adapterKind{
	{"zipf", []string{"s", "n", "base", "seed"}, "zipf:s=1.1,n=64,base=0.2"},
	{"identical", []string{"base", "seed"}, "identical:base=0.5"}, // all have the same one
	{"distinct", []string{"base", "seed"}, "distinct"},            // each session has its own
}

// adapterParam is a number of the overlay.
type adapterParam struct {
	name     string
	lo, hi   float64
	required bool
	set      func(a *Adapters, text string) error
}

var adapterParams = []adapterParam{
	{"s", 0, 10, true, func(a *Adapters, text string) (err error) { a.S, err = strconv.ParseFloat(text, 64); return }},
	{"n", 1, 1e6, true, func(a *Adapters, text string) (err error) { a.N, err = parseWhole(text); return }},
	{"base", 0, 1, false, func(a *Adapters, text string) (err error) { a.Base, err = strconv.ParseFloat(text, 64); return }},
	{"seed", 0, 1 << 64, false, func(a *Adapters, text string) (err error) { a.Seed, err = strconv.ParseUint(text, 10, 64); return }},
}

// parseWhole reads a whole number that may be written as 1e3.
func parseWhole(text string) (int, error) {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || v != math.Trunc(v) || math.Abs(v) > 1<<53 {
		return 0, strconv.ErrSyntax
	}
	return int(v), nil
}

// ParseAdapters reads KIND[:NAME=VALUE,...], such as zipf:s=1.1,n=64,base=0.2. The seed is 1 unless it is given.
func ParseAdapters(text string) (Adapters, error) {
	kind, params, given := strings.Cut(text, ":")
	k, err := findAdapterKind(kind)
	if err == nil {
		a := Adapters{Kind: kind, Seed: 1}
		if err = k.parse(&a, params, given); err == nil {
			return a, nil
		}
	}
	return Adapters{}, fmt.Errorf("adapters %q: %w", text, err)
}

func findAdapterKind(name string) (*adapterKind, error) {
	var names []string
	for i := range adapterKinds {
		if adapterKinds[i].name == name {
			return &adapterKinds[i], nil
		}
		names = append(names, adapterKinds[i].name)
	}
	return nil, fmt.Errorf("unknown kind %q (have %s%s)", name, strings.Join(names, ", "), didYouMean(name, names))
}

// parse reads the parameters of a kind.
func (k *adapterKind) parse(a *Adapters, text string, given bool) error {
	seen := map[string]bool{}
	for pair := range strings.SplitSeq(text, ",") {
		if !given {
			break
		}
		name, value, ok := strings.Cut(pair, "=")
		if !ok {
			return fmt.Errorf("found %q, want NAME=VALUE as in %s", pair, k.sample)
		}
		p := k.param(name)
		if p == nil {
			return fmt.Errorf("unknown parameter %q (%s has %s%s)", name, k.name, strings.Join(k.params, ", "), didYouMean(name, k.params))
		}
		if seen[name] {
			return fmt.Errorf("%s is given twice", name)
		}
		seen[name] = true
		if p.set(a, value) != nil {
			return fmt.Errorf("%s is %q, want %s", name, value, p.values())
		}
	}
	for _, name := range k.params {
		if p := k.param(name); p.required && !seen[name] {
			return fmt.Errorf("%s is missing, want for example %s", name, k.sample)
		}
	}
	return a.Check()
}

// param returns the parameter of that name, nil if the kind has none.
func (k *adapterKind) param(name string) *adapterParam {
	for i := range adapterParams {
		if p := &adapterParams[i]; p.name == name {
			for _, has := range k.params {
				if has == name {
					return p
				}
			}
		}
	}
	return nil
}

// values says what a parameter may be.
func (p *adapterParam) values() string {
	if p.name == "seed" {
		return "a whole number of at least 0"
	}
	if p.name == "n" {
		return "a whole number, " + numeral(p.lo) + " to " + numeral(p.hi)
	}
	return numeral(p.lo) + " to " + numeral(p.hi)
}

// None reports whether a is no overlay.
func (a Adapters) None() bool { return a.Kind == "" }

// Check says what is wrong with a, by parameter.
func (a Adapters) Check() error {
	k, err := findAdapterKind(a.Kind)
	if err != nil {
		return err
	}
	for _, f := range []struct {
		name string
		v    float64
	}{{"s", a.S}, {"n", float64(a.N)}, {"base", a.Base}} {
		if p := k.param(f.name); p != nil && !(f.v >= p.lo && f.v <= p.hi) {
			return fmt.Errorf("%s is %s, want %s", f.name, numeral(f.v), p.values())
		}
	}
	return nil
}

// String writes the overlay as ParseAdapters reads it, with its seed; "" for none.
func (a Adapters) String() string {
	if a.None() {
		return ""
	}
	var params []string
	if a.Kind == "zipf" {
		params = append(params, fmt.Sprintf("s=%v,n=%d", a.S, a.N))
	}
	if a.Base != 0 {
		params = append(params, fmt.Sprintf("base=%v", a.Base))
	}
	return a.Kind + ":" + strings.Join(append(params, fmt.Sprintf("seed=%d", a.Seed)), ",")
}
