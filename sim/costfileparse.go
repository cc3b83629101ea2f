package sim

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"

	"github.com/agnivade/levenshtein"
	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/parser"
)

// ParseCostFile reads and checks a cost file. Errors name file, line and column where they can.
func ParseCostFile(name string, data []byte) (*CostFile, error) {
	f := &CostFile{File: name, Digest: fmt.Sprintf("sha256:%x", sha256.Sum256(data))}
	data = bytes.TrimPrefix(data, []byte("\ufeff")) // a byte order mark, which some editors leave
	err := yaml.UnmarshalWithOptions(data, f, yaml.Strict())
	if err == nil {
		err = oneDocument(data)
	}
	if err != nil {
		var y yaml.Error
		if errors.As(err, &y) && y.GetToken() != nil {
			at := y.GetToken().Position
			return nil, fmt.Errorf("%s:%d:%d: %s", name, at.Line, at.Column, costKeyHint(y))
		}
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if err := f.check(); err != nil {
		return nil, fmt.Errorf("%s%s: %w", name, place(data, err), errors.Unwrap(err))
	}
	return f, nil
}

// oneDocument is an error for a file of several, of which all but the first would count for nothing.
func oneDocument(data []byte) error {
	tree, err := parser.ParseBytes(data, 0)
	if err == nil && len(tree.Docs) > 1 {
		err = fmt.Errorf("%d documents, want one", len(tree.Docs))
	}
	return err
}

// keyError is what is wrong with the value at a path such as linear.per_step_us.
type keyError struct {
	path string
	error
}

func (e *keyError) Unwrap() error { return e.error }

func bad(path, format string, args ...any) error {
	return &keyError{path, fmt.Errorf("%s "+format, append([]any{path}, args...)...)}
}

// place is ":line:column" of what the error is about, "" if that is not in the file.
func place(data []byte, err error) string {
	var k *keyError
	if !errors.As(err, &k) {
		return ""
	}
	p, err := yaml.PathString("$." + k.path)
	if err != nil {
		return ""
	}
	n, err := p.ReadNode(bytes.NewReader(data))
	if err != nil || n == nil {
		return ""
	}
	at := n.GetToken().Position
	return fmt.Sprintf(":%d:%d", at.Line, at.Column)
}

// costKeys are all keys of a cost file.
var costKeys = []string{"kind", "for", "linear", "physical", "steps", "overhead", "calibration", "model", "gpu", "tp",
	"per_step_us", "per_prefill_token_us", "per_context_token_ns", "per_decode_us", "per_kv_token_ns", "step", "batch", "kv", "prefill",
	"prefill_tokens", "decode_seqs", "kv_tokens", "seconds", "before_ms", "after_ms", "tool", "source", "sha256", "what", "in_log", "fitted",
	"held_out", "held_out_errors", "level", "intervals", "intervals_from", "fitting", "kept", "replay", "metric", "mean_abs", "median_abs", "of_mean",
	"name", "low", "high"}

// costKeyHint adds the nearest key to the error about an unknown one.
func costKeyHint(y yaml.Error) string {
	key := y.GetToken().Value
	if !strings.Contains(y.GetMessage(), "unknown field") {
		return y.GetMessage()
	}
	if near := nearest(key, costKeys); near != "" {
		return fmt.Sprintf("unknown key %q, did you mean %q?", key, near)
	}
	return fmt.Sprintf("unknown key %q, have kind, for, linear, physical, steps, overhead and calibration", key)
}

// nearest returns the name with the fewest letters different, "" if that is more than a third of them.
func nearest(given string, names []string) string {
	best, least := "", max(1, len(given)/3)+1
	for _, n := range names {
		if d := levenshtein.ComputeDistance(given, n); d < least {
			best, least = n, d
		}
	}
	return best
}
