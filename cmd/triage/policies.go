package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-2cee110a/triage/policies"
)

func policiesCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "policies",
		Short: "list the policies and their knobs",
		Long: `List the policies and their knobs, and the wrappers that change how any policy
picks. A wrapper comes before the policy, with its knobs in brackets, the first
without its name if you like: WRAPPER(k=v,...):NAME[:k=v,...].`,
		Example: `  triage policies
  triage replay demo -p score:aff=5,norm=absolute -p 'sample(2):score'
  triage replay demo -p 'bounded(1.5):sticky(penalty=2s):least-request'`,
		Args: wants(),
		RunE: action(func(cmd *cobra.Command, _ []string) error {
			return listPolicies(cmd.OutOrStdout(), columns(cmd.OutOrStdout()))
		}),
	}
}

func listPolicies(w io.Writer, width int) error {
	var b strings.Builder
	for i, e := range policies.Catalog() {
		if i > 0 {
			b.WriteByte('\n')
		}
		knobsOf(&b, e.Name, e.Doc, e.Knobs, width)
	}
	for _, e := range policies.Wrappers() {
		b.WriteByte('\n')
		knobsOf(&b, e.Name+"(...):POLICY", e.Doc, e.Knobs, width)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// knobsOf writes a policy or a wrapper with its knobs.
func knobsOf(b *strings.Builder, name, doc string, knobs []policies.Knob, width int) {
	b.WriteString(name + "\n")
	hang(b, "  ", doc, 2, width)
	indent := 0
	for _, k := range knobs {
		indent = max(indent, len(k.Name)+len(k.Default)+len("    =  "))
	}
	for _, k := range knobs {
		hang(b, fmt.Sprintf("    %s=%s", k.Name, k.Default), k.Doc+" ("+k.Values+")", indent, width)
	}
}

// hang writes a term and words after it that start at the indent, on every line.
func hang(b *strings.Builder, term, words string, indent, width int) {
	at := len(term)
	b.WriteString(term)
	for i, word := range strings.Fields(words) {
		switch {
		case i == 0:
			b.WriteString(strings.Repeat(" ", max(0, indent-at)))
			at = max(at, indent)
		case at+1+len(word) > width:
			b.WriteString("\n" + strings.Repeat(" ", indent))
			at = indent
		default:
			b.WriteByte(' ')
			at++
		}
		b.WriteString(word)
		at += len(word)
	}
	b.WriteByte('\n')
}
