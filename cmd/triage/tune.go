package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"

	"github.com/spf13/cobra"

	"github.com/seed-2cee110a/triage/engine"
	"github.com/seed-2cee110a/triage/policies"
	"github.com/seed-2cee110a/triage/reports"
	"github.com/seed-2cee110a/triage/sim"
	"github.com/seed-2cee110a/triage/sim/tune"
	"github.com/seed-2cee110a/triage/traces"
)

// tuneJob is a search as the command line describes it.
type tuneJob struct {
	cfg     sim.Config
	config  configFlag
	read    traces.Options
	study   studyFlags
	workers int
	format  string
	save    output
	flags   []string // those that decide a replay, in shell syntax
	width   int      // columns of the table
	gates   gateFlags
}

func tuneCmd() *cobra.Command {
	j := &tuneJob{cfg: sim.Default(), workers: runtime.GOMAXPROCS(0), format: "table"}
	cmd := &cobra.Command{
		Use:   "tune TRACE...",
		Short: "search a policy's knobs by replay",
		Long: `tune replays one or more traces at every point of a grid over a policy's
knobs, beside round robin and the policy at its defaults, and says which point
to roll out, how many others are as good, and where the grid was too small.

A grid is KNOB=VALUES, with VALUES a list such as 0,1,3 or spill,off, or
log:0.1..10:7 or lin:0..1:5. Several make every combination, the last varying
fastest. Without any, score has a default grid of fewer than 300 points.

The objective is an expression; lower is better. It has ttft, tpot, e2e and
gateway_wait, each with .mean .p50 .p90 .p95 .p99 .max, in seconds; hit_ratio,
imbalance, requests, completed, rejected, rejected_ratio, held, preemptions,
output_tokens_per_s, requests_per_s, makespan; and goodput(TTFT, TPOT), the
share of requests within both bounds.

With several traces the recommended point has the smallest worst regret: what
it loses against the best point of each trace. Each point is one deterministic
replay a trace, so there is no interval; 2 % is noise.

A point that refuses over 0.1 % more of the requests than the point or baseline
that refuses least is not recommended, unless the objective names rejected,
rejected_ratio, completed or goodput and so says what a refusal costs.

--gate holds the recommended point to a condition over the same names, but
goodput, on every trace: exit code 3 if it fails.

-f takes policy, objective and grid from a YAML file; flags go before it. An
interrupt ends the search, and what is done until then is reported and kept.`,
		Example: `  triage tune demo
  triage tune conv.jsonl --grid q=log:0.3..30:5 --grid load=0,0.02,0.2
  triage tune conv.jsonl --grid norm=work,absolute --grid fit=spill,off -o study
  triage tune mon.parquet tue.parquet --objective 'ttft.p90 + 10*rejected_ratio'
  triage tune conv.jsonl --objective '-goodput(2,0.05)' -p score:prefix=bucket \
      --grid k=1,2,3 --grid n=512,1024,4096
  triage tune conv.jsonl -f tune.yaml --format json | jq .recommended.policy`,
		Args: someTraces,
	}
	f := cmd.Flags()
	j.study.bind(f)
	f.VarP(count[int]{&j.workers}, "jobs", "j", "replays at the same time; results do not depend on it")
	f.Var(choice[string]{&j.format, tuneFormats()}, "format", "how to print the result")
	f.SortFlags = false
	f.StringVarP(&j.save.dir, "output", "o", "", "folder `DIR` for sweep.parquet, result.json, weights.json, manifest.json and pictures")
	f.BoolVar(&j.save.force, "force", false, "replace an existing output folder")
	bindPlots(f, &j.save.formats)
	j.gates.bind(f)
	bindTrace(f, &j.read)
	j.config.bind(f)
	bindCluster(f, &j.cfg)
	cmd.RunE = action(func(cmd *cobra.Command, args []string) error {
		j.flags, j.width = decidingFlags(cmd, studyFlagNames...), columns(cmd.OutOrStdout())
		if err := j.config.apply(cmd.Flags(), &j.cfg); err != nil {
			return usage{err}
		}
		return j.run(cmd.Context(), args, cmd.OutOrStdout(), cmd.ErrOrStderr())
	})
	return cmd
}

// someTraces is the check for one trace or more, each once.
func someTraces(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return wants("TRACE")(c, args)
	}
	for i, a := range args {
		if slices.Contains(args[:i], a) {
			return fmt.Errorf("trace %s is given twice", a)
		}
	}
	return nil
}

func tuneFormats() []string {
	var names []string
	for _, r := range reports.TuningCatalog() {
		names = append(names, r.Name)
	}
	return names
}

// run checks everything that can be checked, searches, saves what is to be saved and prints the result. If it was
// interrupted with some points done it does so with those.
func (j *tuneJob) run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	p, err := j.check(args)
	if err != nil {
		return usage{err}
	}
	if p.Cases, err = j.cases(ctx, args); err != nil {
		return err
	}
	began := stopwatch()
	bar := startSearch(stderr, p)
	study, interrupted := tune.Search(ctx, p, tune.Settings{Workers: j.workers, Progress: bar.report})
	bar.stop()
	if interrupted != nil && (study == nil || study.Recommended < 0) {
		return interrupted
	}
	used := began()
	fmt.Fprintf(stderr, "%d replays in %.1f s: %.0f replays/s\n", bar.done(), used.WallS, float64(bar.done())/used.WallS)
	t, err := j.tuning(study, args)
	if err != nil {
		return err
	}
	if err := j.keep(context.WithoutCancel(ctx), t, used, stderr); err != nil {
		return err
	}
	if err := j.print(stdout, t); err != nil {
		return err
	}
	if interrupted != nil || len(j.gates.exprs) == 0 {
		return interrupted
	}
	return j.hold(ctx, study, stderr)
}

// check finds what is wrong with the command line before any work is done.
func (j *tuneJob) check(args []string) (tune.Problem, error) {
	p, err := j.study.problem()
	if err != nil {
		return p, err
	}
	if j.workers < 1 {
		return p, fmt.Errorf("-j is %d, want at least 1", j.workers)
	}
	if _, err := j.gates.compile([]policies.Spec{{Label: "recommended"}}); err != nil {
		return p, err
	}
	if err := j.cfg.Check(); err != nil {
		return p, err
	}
	if _, err := j.cfg.LookupModel(); err != nil {
		return p, err
	}
	if _, err := engine.LookupGPU(j.cfg.GPU); err != nil {
		return p, err
	}
	for _, a := range args {
		if err := j.save.check(a); err != nil {
			return p, err
		}
	}
	return p, nil
}

// cases loads the traces. They are named by their files, or as given if two files have one name.
func (j *tuneJob) cases(ctx context.Context, args []string) ([]tune.Case, error) {
	var cases []tune.Case
	names := map[string]int{}
	for _, a := range args {
		t, err := open(ctx, a, j.read)
		if err != nil {
			return nil, err
		}
		stage, err := sim.Prepare(j.cfg, t)
		if err != nil {
			return nil, usage{fmt.Errorf("%s: %w", a, err)}
		}
		cases = append(cases, tune.Case{Name: t.Name, Stage: stage})
		names[t.Name]++
	}
	for i, c := range cases {
		if names[c.Name] > 1 {
			cases[i].Name = args[i]
		}
	}
	return cases, nil
}

// tuning digests a study, with the commands that repeat it and its replays.
func (j *tuneJob) tuning(s *tune.Study, args []string) (*reports.Tuning, error) {
	var replays []string
	for _, a := range args {
		replays = append(replays, shellLine("triage replay", []string{a}, j.flags))
	}
	t, err := reports.NewTuning(s, shellLine("triage tune", args, append(slices.Clone(j.flags), flagsOf(s)...)), replays)
	if err != nil {
		return nil, err
	}
	t.Width = j.width
	return t, nil
}

func (j *tuneJob) print(w io.Writer, t *reports.Tuning) error {
	for _, r := range reports.TuningCatalog() {
		if r.Name == j.format {
			return r.Write(w, t)
		}
	}
	return usage{errors.New("unknown format " + j.format)}
}
