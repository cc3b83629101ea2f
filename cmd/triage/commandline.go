package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// indifferent are the flags that do not decide what a replay computes.
var indifferent = map[string]bool{"policy": true, "jobs": true, "format": true, "output": true, "outcomes": true, "force": true, "plots": true,
	"gate": true, "write-table": true, "strict": true, "exit-code": true}

// decidingFlags returns the flags in the order given, but those that change only how results are shown or kept, and those
// named.
func decidingFlags(cmd *cobra.Command, besides ...string) []string {
	var parts []string
	cmd.Flags().Visit(func(f *pflag.Flag) {
		list, many := f.Value.(pflag.SliceValue)
		switch {
		case indifferent[f.Name] || slices.Contains(besides, f.Name):
		case many && strings.Contains(f.Value.Type(), "="):
			for _, text := range list.GetSlice() {
				parts = append(parts, "--"+f.Name, quote(text))
			}
		case f.Value.Type() == "bool":
			parts = append(parts, "--"+f.Name+"="+f.Value.String())
		default:
			parts = append(parts, "--"+f.Name, quote(f.Value.String()))
		}
	})
	return parts
}

// policyFlags prints policies as flags, in shell syntax.
func policyFlags(given []string) string {
	parts := make([]string, len(given))
	for i, text := range given {
		parts[i] = "-p " + quote(text)
	}
	return strings.Join(parts, " ")
}

// quote writes a word so that a shell reads it back.
func quote(word string) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=:,./+@%"
	if word != "" && strings.Trim(word, plain) == "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
