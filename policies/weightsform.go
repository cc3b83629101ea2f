package policies

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// formField is a leaf of the weights file: its path, and how it is written and read. The order of the rows is the
// order in the file.
type formField struct {
	path  string
	gone  func(*WeightsFile) bool   // whether the file has no such member; nil for never
	write func(*WeightsFile) string // as JSON
	read  func(*WeightsFile, *node) error
}

// form has one row a leaf of the file, all required but those that are left out at their defaults. The sum follows the
// last.
func form() []formField {
	rows := []formField{constant("schema", weightsSchema), constant("policy", "score"), number("policy_version", scoreVersion)}
	for t := range NumTerms {
		rows = append(rows, setting("weights."+t.String(), t.String()))
	}
	return append(rows,
		setting("normalise.queue.kind", "norm"),
		setting("normalise.queue.cap", "cap"),
		setting("normalise.queue.sent", "sent"),
		unlessDefault(setting("normalise.queue.others", "others")),
		unlessDefault(setting("normalise.queue.rate", "rate")),
		unlessDefault(setting("feedback.halflife_ms", "halflife")),
		unlessDefault(setting("filters.slots", "slots")),
		setting("filters.fit", "fit"),
		setting("filters.margin", "margin"),
		unlessDefault(setting("filters.output", "output")),
		setting("filters.stale_after_ms", "stale"),
		setting("filters.stale_as", "stale_as"),
		setting("prefix.kind", "prefix"),
		setting("prefix.max_tokens", "n"),
		setting("prefix.owners", "k"),
		setting("prefix.ttl_ms", "ttl"),
		unlessDefault(setting("prefix.capacity", "capacity")),
		unlessDefault(setting("prefix.order", "order")),
		unlessDefault(setting("prefix.spec_ms", "spec")),
		unlessDefault(setting("prefix.bound", "bound")),
		unlessDefault(setting("prefix.bound_by", "bound_by")),
		text("prefix.chain", func(w *WeightsFile) *string { return &w.Chain }),
		whole("prefix.block_tokens", func(w *WeightsFile) *int { return &w.BlockTokens }),
		constant("ties", "keyed"),
		text("provenance.tool", func(w *WeightsFile) *string { return &w.Provenance.Tool }),
		texts("provenance.traces", func(w *WeightsFile) *[]string { return &w.Provenance.Traces }),
		text("provenance.objective", func(w *WeightsFile) *string { return &w.Provenance.Objective }),
		measured("provenance.value", func(w *WeightsFile) *float64 { return &w.Provenance.Value }),
		measured("provenance.regret", func(w *WeightsFile) *float64 { return &w.Provenance.Regret }),
		seed("provenance.seed", func(w *WeightsFile) *uint64 { return &w.Provenance.Seed }),
		whole("provenance.points", func(w *WeightsFile) *int { return &w.Provenance.Points }),
		bounds("provenance.bounds", func(w *WeightsFile) *[]Bound { return &w.Provenance.Bounds }),
	)
}

// constant is a text that this version of the file always has.
func constant(path, want string) formField {
	return formField{path, nil,
		func(*WeightsFile) string { return quoted(want) },
		func(_ *WeightsFile, n *node) error {
			if n.value != any(want) {
				return n.errorf("found %s, want %q", n.kind(), want)
			}
			return nil
		}}
}

// number is a whole number that this version of the file always has.
func number(path string, want int) formField {
	return formField{path, nil,
		func(*WeightsFile) string { return strconv.Itoa(want) },
		func(_ *WeightsFile, n *node) error {
			if n.value != any(json.Number(strconv.Itoa(want))) {
				return n.errorf("found %s, want %d", n.kind(), want)
			}
			return nil
		}}
}

// setting is a knob of the scorer; names are texts, switches are true or false, durations are milliseconds.
func setting(path, knob string) formField {
	var f field[ScoreConfig]
	for _, row := range scoreKnobs() {
		if row.name == knob {
			f = row
		}
	}
	return formField{path, nil,
		func(w *WeightsFile) string { return jsonOf(f.at(&w.Config)) },
		func(w *WeightsFile, n *node) error {
			at := f.at(&w.Config)
			text, ok := knobText(at, n)
			if !ok || !f.parse(at, text) {
				return n.errorf("found %s, want %s", n.kind(), f.jsonValues(at))
			}
			return nil
		}}
}

// unlessDefault makes a setting that is only in the file with another value than the default's, so that files from
// before it was there keep their sums.
func unlessDefault(f formField) formField {
	usual := f.write(&WeightsFile{Config: DefaultScore()})
	f.gone = func(w *WeightsFile) bool { return f.write(w) == usual }
	return f
}

// jsonOf writes a knob's field as JSON.
func jsonOf(at any) string {
	switch at := at.(type) {
	case *time.Duration:
		return strconv.FormatFloat(float64(*at)/float64(time.Millisecond), 'g', -1, 64)
	case *bool:
		return strconv.FormatBool(*at)
	case *string:
		return quoted(*at)
	}
	return show(at)
}

// knobText turns a JSON value into the knob's text; false if it is of the wrong kind.
func knobText(at any, n *node) (string, bool) {
	switch at.(type) {
	case *string:
		text, ok := n.value.(string)
		return text, ok
	case *bool:
		on, ok := n.value.(bool)
		return show(&on), ok
	}
	x, ok := n.value.(json.Number)
	if _, isTime := at.(*time.Duration); ok && isTime {
		ms, err := x.Float64()
		ns := math.Round(ms * float64(time.Millisecond))
		return time.Duration(ns).String(), err == nil && ns >= 0 && ns < math.MaxInt64
	}
	return x.String(), ok
}

// jsonValues says what the setting takes in the file.
func (f *field[C]) jsonValues(at any) string {
	switch at.(type) {
	case *time.Duration:
		return "milliseconds, at least 0"
	case *bool:
		return "true or false"
	}
	return f.values(at)
}

func text(path string, at func(*WeightsFile) *string) formField {
	return formField{path, nil,
		func(w *WeightsFile) string { return quoted(*at(w)) },
		func(w *WeightsFile, n *node) error { return readText(at(w), n) }}
}

func readText(to *string, n *node) (err error) {
	var ok bool
	if *to, ok = n.value.(string); !ok {
		err = n.errorf("found %s, want a text", n.kind())
	}
	return err
}

func texts(path string, at func(*WeightsFile) *[]string) formField {
	return formField{path, nil,
		func(w *WeightsFile) string { return jsonList(*at(w), quoted) },
		func(w *WeightsFile, n *node) error {
			return readList(at(w), n, readText)
		}}
}

func whole(path string, at func(*WeightsFile) *int) formField {
	return formField{path, nil,
		func(w *WeightsFile) string { return strconv.Itoa(*at(w)) },
		func(w *WeightsFile, n *node) error {
			x, _ := n.value.(json.Number)
			v, err := strconv.ParseInt(x.String(), 10, 32)
			if err != nil || v < 0 {
				return n.errorf("found %s, want a whole number, at least 0", n.kind())
			}
			*at(w) = int(v)
			return nil
		}}
}

func seed(path string, at func(*WeightsFile) *uint64) formField {
	return formField{path, nil,
		func(w *WeightsFile) string { return strconv.FormatUint(*at(w), 10) },
		func(w *WeightsFile, n *node) (err error) {
			x, _ := n.value.(json.Number)
			if *at(w), err = strconv.ParseUint(x.String(), 10, 64); err != nil {
				return n.errorf("found %s, want a whole number, at least 0", n.kind())
			}
			return nil
		}}
}

// measured is a number that may be unknown: NaN here, null in the file.
func measured(path string, at func(*WeightsFile) *float64) formField {
	return formField{path, nil,
		func(w *WeightsFile) string {
			if math.IsNaN(*at(w)) {
				return "null"
			}
			return show(at(w))
		},
		func(w *WeightsFile, n *node) (err error) {
			x, ok := n.value.(json.Number)
			if n.value == nil {
				*at(w) = math.NaN()
				return nil
			}
			if *at(w), err = x.Float64(); !ok || err != nil {
				return n.errorf("found %s, want a number or null", n.kind())
			}
			return nil
		}}
}

func bounds(path string, at func(*WeightsFile) *[]Bound) formField {
	return formField{path, nil,
		func(w *WeightsFile) string { return jsonList(*at(w), Bound.json) },
		func(w *WeightsFile, n *node) error { return readList(at(w), n, (*Bound).read) }}
}

func (b Bound) json() string {
	return fmt.Sprintf(`{"knob": %s, "min": %s, "max": %s}`, quoted(b.Knob), quoted(b.Min), quoted(b.Max))
}

func (b *Bound) read(n *node) error {
	if len(n.names) != 3 {
		return n.errorf("found %s with %d members, want an object with knob, min and max", n.kind(), len(n.names))
	}
	for i, to := range []*string{&b.Knob, &b.Min, &b.Max} {
		m := n.member([]string{"knob", "min", "max"}[i])
		if m == nil {
			return n.errorf("found %s, want knob, min and max", strings.Join(n.names, ", "))
		}
		if err := readText(to, m); err != nil {
			return err
		}
	}
	return nil
}

func readList[T any](to *[]T, n *node, read func(*T, *node) error) error {
	if n.items == nil {
		return n.errorf("found %s, want an array", n.kind())
	}
	*to = nil
	for i := range n.items {
		var x T
		if err := read(&x, &n.items[i]); err != nil {
			return err
		}
		*to = append(*to, x)
	}
	return nil
}
