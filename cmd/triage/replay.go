package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-2cee110a/triage/policies"
	"github.com/seed-2cee110a/triage/reports"
	"github.com/seed-2cee110a/triage/sim"
	"github.com/seed-2cee110a/triage/traces"
)

// job is a replay as the command line describes it.
type job struct {
	cfg      sim.Config
	config   configFlag
	read     traces.Options
	policies []string
	workers  int
	format   string
	save     output
	command  string      // repeats it when policies are appended
	advice   [][2]string // nil: the report's own
	width    int         // columns of the table
	gates    gateFlags
	perfect  bool // replay every policy with perfect signals, too
}

func newJob() *job {
	return &job{cfg: sim.Default(), policies: []string{"round-robin", "score"}, workers: runtime.GOMAXPROCS(0), format: "table"}
}

func replayCmd() *cobra.Command {
	j := newJob()
	cmd := &cobra.Command{
		Use:   "replay TRACE",
		Short: "replay a trace through one or more policies and compare them",
		Long: `replay plays a trace to a simulated cluster once for each policy and compares
what came out.

TRACE is a file (its format is detected by content; .gz and .zst too), - for
standard input, or demo for the embedded trace. A policy is
NAME[:knob=value,...] or LABEL=NAME[:knob=value,...]; triage policies lists
names and knobs, and wrappers to put before a name, as in sample(2):score.
@FILE or LABEL=@FILE is the scorer with the settings of a
weights file.

TTFT is also shown by the share of the prompt that was truly cached, from cold
to full: all that could hit, which is every whole block of the identified
prefix but one with the prompt's last token.

Requests arrive as logged, or with --sessions closed, in conversations, think
time after the answer to the turn before. A trace with LoRA adapters plays them:
--max-loras slots a replica, --adapter-load-time for a load. What happens to
replicas meanwhile (crash, restart, cordon, slow, mute, join) is a timeline in
the file of --config, under faults.

--gate holds the runs to a condition: exit code 3 if it fails, 4 under --strict
if a number that it needs is not known. triage gate --help lists the names; with
several policies they stand after the label, as in round_robin.ttft.p90.

--config takes a cluster file: pools of replicas of different models, GPUs and
settings; triage config init prints one to start from. Other flags go before it.

A file given to --outcomes is replaced, whole or not at all; it must not be
TRACE. A folder given to -o must be new, unless --force replaces it.`,
		Example: `  triage replay demo
  triage replay conv.jsonl --replicas 16 --gpu A100-80GB --tp 4
  triage replay conv.jsonl --model-config ./config.json --model mine-7b --tp 1
  triage replay chat.parquet --sessions closed --think 10s
  triage replay conv.jsonl --config cluster.yaml
  triage replay conv.jsonl --signals scrape=30s -p score -p 'my=score:aff=5,q=1'
  triage replay conv.jsonl -p round-robin -p tuned=@weights.json
  triage replay conv.jsonl --adapters zipf:s=1.1,n=64
  triage replay conv.jsonl.gz --format json | jq '.runs[].ttft_s.p90'
  triage replay conv.jsonl -p score --gate 'ttft.p90 < 0.5 and rejected == 0'
  triage replay conv.jsonl -o results --outcomes outcomes.jsonl`,
		Args: wants("TRACE"),
	}
	f := cmd.Flags()
	f.StringArrayVarP(&j.policies, "policy", "p", j.policies, "`POLICY` to replay through; repeat it to compare several")
	f.VarP(count[int]{&j.workers}, "jobs", "j", "runs at the same time; results do not depend on it")
	f.Var(choice[string]{&j.format, formatNames()}, "format", "how to print the comparison")
	f.SortFlags = false
	bindOutput(f, &j.save)
	j.gates.bind(f)
	f.BoolVar(&j.perfect, "perfect-signals", false, "replay every policy with live signals and one router, too: what part of the gain over the first do the signals cost?")
	bindTrace(f, &j.read)
	j.config.bind(f)
	bindCluster(f, &j.cfg)
	cmd.RunE = action(func(cmd *cobra.Command, args []string) error {
		j.command, j.width = commandLine(cmd, args), columns(cmd.OutOrStdout())
		if err := j.config.apply(cmd.Flags(), &j.cfg); err != nil {
			return usage{err}
		}
		return j.run(cmd.Context(), args[0], cmd.OutOrStdout(), cmd.ErrOrStderr())
	})
	return cmd
}

func formatNames() []string {
	var names []string
	for _, r := range reports.Catalog() {
		names = append(names, r.Name)
	}
	return names
}

// run checks everything that can be checked, replays, saves what is to be saved and prints the comparison.
func (j *job) run(ctx context.Context, trace string, stdout, stderr io.Writer) error {
	specs, err := j.check(trace)
	if err != nil {
		return usage{err}
	}
	gates, err := j.gates.compile(specs)
	if err != nil {
		return usage{err}
	}
	j.cfg.Decisions = j.save.wanted()
	began := stopwatch()
	results, err := j.replay(ctx, trace, specs, stderr)
	if err != nil {
		return err
	}
	c, err := reports.Compare(j.command, results...)
	if err != nil {
		return err
	}
	if err := j.asides(ctx, c, results[0].Trace, stderr); err != nil {
		return err
	}
	c.Policies, c.Advice, c.Width = policyFlags(j.policies), j.advice, j.width
	if c.Gates, err = gates.Check(c); err != nil {
		return usage{err}
	}
	report, err := reports.Lookup(j.format)
	if err != nil {
		return usage{err}
	}
	if err := j.save.write(ctx, c, results, began(), stderr); err != nil {
		return err
	}
	if err := report.Write(stdout, c); err != nil {
		return err
	}
	return j.gates.verdict(c.Gates, stderr)
}

// check finds what is wrong with the command line before any work is done.
func (j *job) check(trace string) ([]policies.Spec, error) {
	specs, err := parsePolicies(j.policies)
	if err != nil {
		return nil, err
	}
	if j.workers < 1 {
		return nil, fmt.Errorf("-j is %d, want at least 1", j.workers)
	}
	if err := checkCluster(j.cfg); err != nil {
		return nil, err
	}
	if j.perfect && reports.PerfectAlready(j.cfg) {
		return nil, errors.New("--perfect-signals shows what late signals and several routers cost, but signals are live and there is one router; want for example --signals scrape=5s")
	}
	if err := j.save.check(trace); err != nil {
		return nil, err
	}
	return specs, j.checkWeights()
}

// checkWeights refuses to replace the folder that holds the weights of a policy.
func (j *job) checkWeights() error {
	for _, text := range j.policies {
		_, file, ok := strings.Cut("="+text, "=@")
		if !ok || j.save.dir == "" {
			continue
		}
		if err := checkOutside(j.save.dir, "the weights file", file); err != nil {
			return err
		}
	}
	return nil
}

func parsePolicies(texts []string) ([]policies.Spec, error) {
	specs := make([]policies.Spec, len(texts))
	seen := map[string]bool{}
	for i, text := range texts {
		s, err := parsePolicy(text)
		if err != nil {
			return nil, err
		}
		if err := checkLabel(s.Label, s.Label == text); err != nil {
			return nil, err
		}
		if seen[s.Label] {
			return nil, fmt.Errorf("policy %q is given twice; tell them apart by a label, as in -p other=%s", s.Label, s.Text)
		}
		specs[i], seen[s.Label] = s, true
	}
	return specs, nil
}

func (j *job) replay(ctx context.Context, trace string, specs []policies.Spec, stderr io.Writer) ([]*sim.Result, error) {
	t, err := open(ctx, trace, j.read)
	if err != nil {
		return nil, err
	}
	stage, err := sim.Prepare(j.cfg, t)
	if err != nil {
		return nil, usage{err}
	}
	p := startProgress(stderr, time.Second/2)
	defer p.stop()
	return stage.RunAll(ctx, specs, j.workers, p.report)
}

// commandLine prints the command with the flags that decide what is replayed, in shell syntax.
func commandLine(cmd *cobra.Command, args []string) string {
	parts := []string{cmd.CommandPath()}
	for _, a := range args {
		parts = append(parts, quote(a))
		if a == "-" {
			parts = append([]string{"... |"}, parts...)
		}
	}
	return strings.Join(append(parts, decidingFlags(cmd)...), " ")
}
