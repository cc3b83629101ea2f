package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-2cee110a/triage/reports"
	"github.com/seed-2cee110a/triage/traces"
)

func generateCmd() *cobra.Command {
	var p traces.Params // only what flags change
	var out, to string
	cmd := &cobra.Command{
		Use:   "generate PRESET",
		Short: "make up a trace",
		Long:  "generate makes up a trace; equal parameters and seed give the same requests. An\nexisting file is replaced, whole or not at all.\n\nPresets:\n\n" + presetList(),
		Example: `  triage trace generate chat -o chat.parquet
  triage trace generate near-capacity --requests 1e5 --seed 7 -o near.jsonl.gz
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
	f.Var(blockSize(&p.BlockSize), "trace-block-size", "tokens behind one block id (default: the preset's)")
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
			return p, byFlag(p.Check())
		}
		names = append(names, known.Name)
	}
	return traces.Params{}, unknown("preset", preset, names)
}

// knobs has a row for each parameter that a flag sets.
var knobs = []struct {
	flag, field string
	set         func(to *traces.Params, from traces.Params)
}{
	{"seed", "Seed", func(to *traces.Params, from traces.Params) { to.Seed = from.Seed }},
	{"requests", "Requests", func(to *traces.Params, from traces.Params) { to.Requests = from.Requests }},
	{"rate", "Rate", func(to *traces.Params, from traces.Params) { to.Rate = from.Rate }},
	{"tenants", "Tenants", func(to *traces.Params, from traces.Params) { to.Tenants = from.Tenants }},
	{"skew", "Skew", func(to *traces.Params, from traces.Params) { to.Skew = from.Skew }},
	{"turns", "Turns", func(to *traces.Params, from traces.Params) { to.Turns = from.Turns }},
	{"trace-block-size", "BlockSize", func(to *traces.Params, from traces.Params) { to.BlockSize = from.BlockSize }},
}

func override(p, given traces.Params, changed func(flag string) bool) traces.Params {
	for _, k := range knobs {
		if changed(k.flag) {
			k.set(&p, given)
		}
	}
	return p
}

// byFlag puts the flag in the place of the field that an error of traces starts with.
func byFlag(err error) error {
	if err == nil {
		return nil
	}
	for _, k := range knobs {
		if rest, ok := strings.CutPrefix(err.Error(), k.field+" "); ok {
			return errors.New("--" + k.flag + " " + rest)
		}
	}
	return err
}

func presetList() string {
	var b strings.Builder
	for _, p := range traces.Presets() {
		hang(&b, "  "+p.Name, p.Doc, 17, reports.Width)
	}
	return strings.TrimSuffix(b.String(), "\n")
}
