package main

import (
	_ "embed"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-2cee110a/triage/reports"
	"github.com/seed-2cee110a/triage/sim"
)

//go:embed cluster.yaml
var exampleCluster []byte

func configCmd() *cobra.Command {
	cmd := group(&cobra.Command{
		Use:   "config",
		Short: "cluster files: pools of different models, GPUs and settings",
		Long: `A cluster file describes what a trace is replayed on where flags do not suffice:
pools of replicas of different models, GPUs and settings, what requests need of
them, and what happens to replicas while the trace is played. replay and tune
take it by --config; flags go before what it says.`,
		Example: `  triage config init >cluster.yaml
  triage config validate cluster.yaml
  triage replay demo --config cluster.yaml`,
	})
	cmd.AddCommand(configInitCmd(), configValidateCmd(), configSchemaCmd())
	return cmd
}

func configInitCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "init",
		Short: "print a cluster file to start from, with comments",
		Long: `init prints a cluster file to start from. It is valid as it is; every key that a
file can have stands in it, some in comments.`,
		Example: `  triage config init >cluster.yaml`,
		Args:    wants(),
		RunE: action(func(cmd *cobra.Command, _ []string) error {
			_, err := cmd.OutOrStdout().Write(exampleCluster)
			return err
		}),
	}
}

func configSchemaCmd() *cobra.Command {
	return &cobra.Command{
		Use:     "schema",
		Short:   "print the JSON Schema of cluster files, for editors",
		Long:    `schema prints the JSON Schema that cluster files follow. Editors complete and check by it.`,
		Example: `  triage config schema >cluster.schema.json`,
		Args:    wants(),
		RunE: action(func(cmd *cobra.Command, _ []string) error {
			return writeJSON(cmd.OutOrStdout(), clusterSchema())
		}),
	}
}

func configValidateCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "validate FILE",
		Short: "check a cluster file and say what it means",
		Long: `validate reads a cluster file as replay and tune do, with every default filled
in, and prints what it means. A file with an error gives exit code 2 and the
line that is wrong.`,
		Example: `  triage config validate cluster.yaml`,
		Args:    wants("FILE"),
		RunE: action(func(cmd *cobra.Command, args []string) error {
			cfg := sim.Default()
			f, err := readCluster(args[0])
			if err == nil {
				err = f.into(&cfg, nil)
			}
			if err != nil {
				return usage{err}
			}
			full, err := cfg.Resolve()
			if err != nil {
				return usage{err}
			}
			_, err = io.WriteString(cmd.OutOrStdout(), meaning(args[0], full))
			return err
		}),
	}
}

// meaning says what a resolved configuration is.
func meaning(file string, cfg sim.Config) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s is valid: %s\n", file, total(cfg))
	for _, p := range cfg.Pools {
		b.WriteString("\n" + poolMeaning(p))
	}
	b.WriteString("\n")
	for _, l := range restMeaning(cfg) {
		fmt.Fprintf(&b, "%-10s%s\n", l[0], l[1])
	}
	if w := doubts(cfg); len(w) > 0 {
		b.WriteString("\nwarnings\n")
		for _, text := range w {
			fmt.Fprintf(&b, "  - %s\n", text)
		}
	}
	return b.String()
}

func total(cfg sim.Config) string {
	if len(cfg.Pools) == 1 {
		return plural(cfg.Replicas, "replica")
	}
	return fmt.Sprintf("%s in %d pools", plural(cfg.Replicas, "replica"), len(cfg.Pools))
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func poolMeaning(p sim.Pool) string {
	var b strings.Builder
	names := p.ReplicaNames()
	who := names[0]
	if n := len(names); n > 1 {
		who += " to " + names[n-1]
	}
	line := func(name, format string, args ...any) {
		fmt.Fprintf(&b, "  %-8s%s\n", name, fmt.Sprintf(format, args...))
	}
	if p.Name == "" {
		fmt.Fprintf(&b, "%s: %s\n", plural(p.Replicas, "replica"), who)
	} else {
		fmt.Fprintf(&b, "%s: %s, %s\n", p.Name, plural(p.Replicas, "replica"), who)
	}
	line("model", "%s on %d x %s", p.Model, p.TP, p.GPU)
	if p.ModelConfig != nil {
		line("", "read from %s", p.ModelConfig.File)
	}
	if p.Name != "" {
		line("serves", "%s", strings.Join(p.Serves, ", "))
	}
	if len(p.Caps) > 0 {
		line("caps", "%s", strings.Join(p.Caps, ", "))
	}
	e := p.Engine
	line("KV", "%d tokens a replica, %d blocks of %d", p.KVTokens, e.KVBlocks, e.BlockSize)
	length := "no limit but the KV tokens"
	if e.MaxModelLen > 0 {
		length = fmt.Sprintf("%d tokens", e.MaxModelLen)
	}
	line("engine", "%d sequences, %d tokens a step; longest prompt + output: %s", e.MaxNumSeqs, e.MaxNumBatchedTokens, length)
	line("cost", "%s: %s", p.Note.Model, p.Note.Note)
	return b.String()
}

// restMeaning says what holds for all pools, a name and a text each.
func restMeaning(cfg sim.Config) [][2]string {
	lines := [][2]string{{"gateway", reports.GatewayText(cfg.Gateway)}, {"signals", cfg.Signals.String()}}
	add := func(name, format string, args ...any) {
		lines = append(lines, [2]string{name, fmt.Sprintf(format, args...)})
	}
	if cfg.Routers.N > 1 {
		add("routers", "%s", reports.RoutersText(cfg.Routers))
	}
	for _, l := range cfg.Gateway.Limits {
		add("limit", "%s", reports.LimitText(l))
	}
	for _, c := range cfg.Gateway.Classes {
		add("class", "%s", reports.ClassText(c))
	}
	if cfg.DefaultModel != "" {
		add("default", "requests that name no model ask for %s", cfg.DefaultModel)
	}
	for _, n := range cfg.Needs {
		add("needs", "%s need %s", who(n), strings.Join(n.Caps, ", "))
	}
	for _, f := range cfg.Faults {
		text := fmt.Sprintf("%v: %s %s", f.At, f.Replica, f.Do)
		if f.Do == sim.Slow {
			text += fmt.Sprintf(", %v times", f.Factor)
		}
		add("fault", "%s", text)
	}
	if cfg.Sessions == sim.Closed {
		add("sessions", "closed: a later turn arrives think time after the answer to the one before")
	}
	return lines
}

// who names the requests that a need is about.
func who(n sim.Need) string {
	text := "requests"
	if n.Model != "" {
		text += " for " + n.Model
	}
	if n.Tenant != "" {
		text += " of tenant " + n.Tenant
	}
	if n.SLO != "" {
		text += " of class " + n.SLO
	}
	if n.MinPrompt > 0 {
		text += fmt.Sprintf(" with at least %d prompt tokens", n.MinPrompt)
	}
	return text
}

// doubts says what is allowed and probably not meant.
func doubts(cfg sim.Config) []string {
	var w []string
	for _, p := range cfg.Pools {
		name := "the replicas"
		if p.Name != "" {
			name = "pool " + p.Name
		}
		m, err := p.In(cfg).LookupModel()
		if err == nil && p.Engine.MaxModelLen > m.Context {
			w = append(w, fmt.Sprintf("%s: max_model_len is %d, but %s was made for %d tokens", name, p.Engine.MaxModelLen, m.Name, m.Context))
		}
		if l := p.Engine.MaxModelLen; int64(l) > p.KVTokens {
			w = append(w, fmt.Sprintf("%s: max_model_len is %d, but a replica has %d KV tokens only", name, l, p.KVTokens))
		}
		if !p.Note.Calibrated && p.Cost != "unit" {
			w = append(w, name+": "+p.Note.Note)
		}
	}
	return append(w, idleCaps(cfg)...)
}

// idleCaps names capabilities that nobody needs.
func idleCaps(cfg sim.Config) []string {
	needed := map[string]bool{}
	for _, n := range cfg.Needs {
		for _, c := range n.Caps {
			needed[c] = true
		}
	}
	var w []string
	for _, p := range cfg.Pools {
		for _, c := range p.Caps {
			if !needed[c] {
				w = append(w, fmt.Sprintf("pool %s has the capability %q, which no rule of needs asks for", p.Name, c))
			}
		}
	}
	return w
}
