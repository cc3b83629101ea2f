package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/seed-2cee110a/triage/policies"
)

// parsePolicy reads NAME[:knob=value,...] or @FILE, the scorer with the settings of a weights file; either may have a
// label before it.
func parsePolicy(text string) (policies.Spec, error) {
	label, file, labelled := strings.Cut(text, "=@")
	switch {
	case strings.HasPrefix(text, "@"):
		label, file = text, text[1:]
	case !labelled || label == "" || strings.ContainsAny(label, "=:"):
		return policies.Parse(text)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return policies.Spec{}, fmt.Errorf("policy %q: %w, want a weights file after the @", text, err)
	}
	w, err := policies.DecodeWeights(data)
	if err != nil {
		return policies.Spec{}, fmt.Errorf("policy %q: %s: %w", text, file, err)
	}
	s := policies.SpecOf(w)
	s.Label = label
	return s, nil
}
