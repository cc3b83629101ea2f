package policies

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// WeightsFile is what a search hands to a live router: every setting of the scorer, how prefixes are hashed, and where
// the numbers come from. As a file it is JSON of schema triage/weights/1, strict, in one canonical form, with a sum
// over its content.
type WeightsFile struct {
	Config      ScoreConfig
	BlockTokens int    // tokens in a block of the chain, 0 if unknown
	Chain       string // names how blocks are hashed, see Chain; "" if unknown, as for the block ids of a trace
	Provenance  Provenance
}

// Provenance says where weights come from.
type Provenance struct {
	Tool      string
	Traces    []string // digests, as in "sha256:..."
	Objective string   // what was minimised
	Value     float64  // of the objective; NaN if unknown
	Regret    float64  // worst loss against the best of each scenario, as a ratio, at least 0; NaN if unknown
	Seed      uint64
	Points    int // settings that were tried
	Bounds    []Bound
}

// Bound is the range in which a knob was searched.
type Bound struct{ Knob, Min, Max string }

const (
	weightsSchema = "triage/weights/1"
	scoreVersion  = 1 // of the meaning of the settings
)

// Encode returns the file's canonical bytes: equal values have equal bytes. It refuses what DecodeWeights would, and a
// belief that only a simulator can have.
func (w WeightsFile) Encode() ([]byte, error) {
	if err := w.check(); err != nil {
		return nil, fmt.Errorf("weights file: %w", err)
	}
	data := []byte(w.content(w.Sum()))
	back, err := DecodeWeights(data)
	if err != nil {
		return nil, err
	}
	if knobs := Diff(SpecOf(w), SpecOf(back)); knobs != nil {
		return nil, fmt.Errorf("weights file: %s has no exact place in schema %s", strings.Join(knobs, ", "), weightsSchema)
	}
	return data, nil
}

// Sum returns "sha256:..." over the canonical bytes without the sum. It names the weights in logs.
func (w WeightsFile) Sum() string {
	h := sha256.Sum256([]byte(w.content("")))
	return "sha256:" + hex.EncodeToString(h[:])
}

// check finds what cannot be written or cannot ship.
func (w *WeightsFile) check() error {
	if err := w.Config.Check(); err != nil {
		return err
	}
	if err := shippable(&w.Config); err != nil {
		return err
	}
	p := &w.Provenance
	switch {
	case w.BlockTokens < 0 || w.BlockTokens > math.MaxInt32:
		return fmt.Errorf("prefix.block_tokens is %d, want 0..%d", w.BlockTokens, math.MaxInt32)
	case w.Chain != "" && w.BlockTokens == 0:
		return fmt.Errorf("prefix.block_tokens is 0 with chain %q, want at least 1", w.Chain)
	case math.IsInf(p.Value, 0):
		return fmt.Errorf("provenance.value is %v, want a finite number, or NaN if unknown", p.Value)
	case p.Regret < 0 || math.IsInf(p.Regret, 0):
		return fmt.Errorf("provenance.regret is %v, want a finite number, at least 0, or NaN if unknown", p.Regret)
	case p.Points < 0:
		return fmt.Errorf("provenance.points is %d, want at least 0", p.Points)
	}
	return nil
}

// shippable refuses what no live router can do.
func shippable(c *ScoreConfig) error {
	if c.Prefix == PrefixOracle {
		return errors.New(`prefix.kind is "oracle", the truth that only a simulator has; want "index", "bucket" or "events"`)
	}
	if c.Delay > 0 {
		return fmt.Errorf("prefix delay is %v, that of a simulated feed; want 0s: a live feed has its own", c.Delay)
	}
	return nil
}

// content writes the file, without a sum if it is "".
func (w *WeightsFile) content(sum string) string {
	var f formWriter
	for _, row := range form() {
		if row.gone != nil && row.gone(w) {
			continue
		}
		f.leaf(strings.Split(row.path, "."), row.write(w))
	}
	if sum != "" {
		f.leaf([]string{"sum"}, quoted(sum))
	}
	f.close(0)
	return f.b.String() + "\n}\n"
}

// DecodeWeights reads a weights file. Every member is required but those that are left out at their defaults; none may be unknown or given twice, and nothing may
// follow. White space and the order of members do not matter. The sum must be that of the content: the error for a file
// that was changed by hand names the sum to write if the change is meant.
func DecodeWeights(data []byte) (WeightsFile, error) {
	w, err := decodeWeights(data)
	if err != nil {
		return WeightsFile{}, fmt.Errorf("weights file: %w", err)
	}
	return w, nil
}

func decodeWeights(data []byte) (w WeightsFile, err error) {
	root, err := parseStrict(data)
	if err != nil {
		return w, err
	}
	if err := checkVersion(&root); err != nil {
		return w, err
	}
	w.Config = DefaultScore()
	for _, f := range form() {
		n, err := root.find(f.path)
		if err != nil && f.gone != nil {
			continue
		}
		if err != nil {
			return w, err
		}
		if err := f.read(&w, n); err != nil {
			return w, err
		}
	}
	if n := root.member("sum"); n != nil {
		n.known = true
	}
	if err := root.stranger(); err != nil {
		return w, err
	}
	if err := w.check(); err != nil {
		return w, err
	}
	return w, w.checkSum(&root)
}

// checkVersion tells a file of another version from a broken one.
func checkVersion(root *node) error {
	n := root.member("schema")
	if n == nil {
		return fmt.Errorf("schema is missing, want %q", weightsSchema)
	}
	name, _ := n.value.(string)
	if version, ok := strings.CutPrefix(name, "triage/weights/"); ok && name != weightsSchema {
		if v, err := strconv.Atoi(version); err == nil && v > 1 {
			return n.errorf("found %q, written by a newer version; this one reads %q", name, weightsSchema)
		}
	}
	if v := root.member("policy_version"); v != nil {
		if x, err := strconv.Atoi(v.kind()); err == nil && x > scoreVersion {
			return v.errorf("found %d, written by a newer version; this one knows up to %d", x, scoreVersion)
		}
	}
	return nil
}

func (w *WeightsFile) checkSum(root *node) error {
	want := w.Sum()
	n := root.member("sum")
	switch {
	case n == nil:
		return fmt.Errorf("sum is missing; if the content is as you want it, add \"sum\": %q", want)
	case n.value != any(want):
		return n.errorf("found %s, but the content was changed since; if that is meant, write %q", n.kind(), want)
	}
	return nil
}

// Equal tells whether two files are the same, all NaN being equal.
func (w WeightsFile) Equal(x WeightsFile) bool {
	return w.content("") == x.content("")
}

// SpecOf returns the scorer with the file's settings as a policy of the catalog; its text has the knobs that differ
// from the defaults. It panics if Config.Check does not pass.
func SpecOf(w WeightsFile) Spec {
	plain := Spec{Name: "score", entry: lookup("score")}
	plain.values = plain.entry.defaults()
	s := plain
	s.values = nil
	for _, f := range scoreKnobs() {
		s.values = append(s.values, show(f.at(&w.Config)))
	}
	if _, err := s.entry.check(s.values); err != nil {
		panic("policies: " + err.Error())
	}
	s.Text = "score"
	for i, name := range Diff(plain, s) {
		separator := ","
		if i == 0 {
			separator = ":"
		}
		s.Text += separator + name + "=" + s.Knob(name)
	}
	s.Label = s.Text
	return s
}
