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
		Example: `  triage policies
  triage replay demo -p score:aff=5,norm=absolute`,
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
		b.WriteString(e.Name + "\n")
		hang(&b, "  ", e.Doc, 2, width)
		indent := 0
		for _, k := range e.Knobs {
			indent = max(indent, len(k.Name)+len(k.Default)+len("    =  "))
		}
		for _, k := range e.Knobs {
			hang(&b, fmt.Sprintf("    %s=%s", k.Name, k.Default), k.Doc+" ("+k.Values+")", indent, width)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
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
