package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-2cee110a/triage/traces"
)

func generateCmd() *cobra.Command {
	var p traces.Params // only what flags change
	var out, to string
	cmd := &cobra.Command{
		Use:   "generate PRESET",
		Short: "make up a trace",
		Long:  "generate makes up a trace; equal parameters and seed give the same requests.\nPresets:\n\n" + presetList(),
		Example: `  triage trace generate chat -o chat.parquet
  triage trace generate near-capacity --requests 1e5 --rate 12 --seed 7 -o near.jsonl.gz
  triage trace generate rag -o - --to mooncake | triage replay -`,
		Args: wants("PRESET"),
	}
	f := cmd.Flags()
	f.StringVarP(&out, "output", "o", "", "`FILE` to write; its ending decides the format; - is standard output")
	f.Var(choice[string]{&to, writableFormats()}, "to", "format to write, if the file's ending does not say")
	f.Var(count[uint64]{&p.Seed}, "seed", "seed of every random choice (default: the preset's)")
	f.Var(count[int]{&p.Requests}, "requests", "requests to make (default: the preset's)")
	f.Float64Var(&p.Rate, "rate", 0, "mean `N` of requests per second (default: the preset's)")
	f.Var(count[int]{&p.Tenants}, "tenants", "tenants, each with a system prompt of its own (default: the preset's)")
	f.Float64Var(&p.Skew, "skew", 0, "Zipf exponent `X` of the tenants' popularity (default: the preset's)")
	f.Float64Var(&p.Turns, "turns", 0, "mean `N` of turns in a session (default: the preset's)")
	f.Var(count[int]{&p.BlockSize}, "trace-block-size", "tokens behind one block id (default: the preset's)")
	cmd.RunE = action(func(cmd *cobra.Command, args []string) error {
		format, err := generateTo(out, to)
		if err != nil {
			return usage{err}
		}
		params, err := parameters(args[0], p, cmd.Flags().Changed)
		if err != nil {
			return usage{err}
		}
		t, err := interruptible(cmd.Context(), func() (*traces.Trace, error) { return traces.Generate(params) })
		if err != nil {
			return err
		}
		return writeTrace(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr(), out, format, t)
	})
	return cmd
}

func generateTo(out, to string) (string, error) {
	if out == "" {
		return "", fmt.Errorf("-o is missing, want a file, or - for standard output")
	}
	return outputFormat(out, to)
}

// parameters returns the preset's, but for what was given by flags.
func parameters(preset string, given traces.Params, changed func(flag string) bool) (traces.Params, error) {
	var names []string
	for _, known := range traces.Presets() {
		if known.Name == preset {
			p := override(known.Params, given, changed)
			return p, p.Check()
		}
		names = append(names, known.Name)
	}
	return traces.Params{}, unknown("preset", preset, names)
}

func override(p, given traces.Params, changed func(flag string) bool) traces.Params {
	for _, o := range []struct {
		flag string
		set  func()
	}{
		{"seed", func() { p.Seed = given.Seed }},
		{"requests", func() { p.Requests = given.Requests }},
		{"rate", func() { p.Rate = given.Rate }},
		{"tenants", func() { p.Tenants = given.Tenants }},
		{"skew", func() { p.Skew = given.Skew }},
		{"turns", func() { p.Turns = given.Turns }},
		{"trace-block-size", func() { p.BlockSize = given.BlockSize }},
	} {
		if changed(o.flag) {
			o.set()
		}
	}
	return p
}

func presetList() string {
	var b strings.Builder
	for _, p := range traces.Presets() {
		fmt.Fprintf(&b, "  %-14s %s\n", p.Name, p.Doc)
	}
	return strings.TrimSuffix(b.String(), "\n")
}
