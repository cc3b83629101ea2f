package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/seed-2cee110a/triage/reports"
)

// gateJob is a check of a result as the command line describes it.
type gateJob struct {
	verdictFlags
	file, baseline  string
	policy          string
	otherTrace      bool
	junit, summary  string
	comment, format string
	workflow        bool
}

const gateHelp = `gate checks what triage replay -o wrote, a folder or its result.json, against
the conditions of a file:

  version: 1
  baseline: baselines/main          # relative to this file; optional
  policy: score                     # whose numbers plain names are
  gates:
    - name: first token
      expr: ttft.p95 < 0.5
    - name: no slower than before
      expr: ttft.p95 <= baseline.ttft.p95 * 1.02
    - name: no regression
      expr: not regression("ttft.mean", 0.02)
    - name: round robin still answers
      expr: rejected_ratio < 0.01
      policy: round-robin

A condition has ttft, tpot, e2e and gateway_wait, each with .mean .p50 .p90
.p95 .p99 .max, in seconds; hit_ratio, imbalance, requests, completed,
rejected, rejected_ratio, held, preemptions, output_tokens_per_s,
requests_per_s, makespan; the same after baseline.; trace.requests, trace.span
and trace.digest. Without a policy, a result of several has LABEL.ttft.p95,
with every character of the label outside A-Z a-z 0-9 _ turned into _. Numbers
are compared by < <= > >= == != and joined by and, or, not; a number may use + -
* / % ** and abs, ceil, float, floor, int, max, min, round.

regression(METRIC, SLACK) is true if the metric, such as ttft.mean or tpot.p50,
is worse by more than SLACK: both runs are cut into up to 12 windows at the
largest pauses of the trace, and the lower bound of the 95 % interval of the
paired differences is above SLACK. Differences of times are relative (0.02 is
2 %), those of hit_ratio plain (0.02 is 2 points). The interval is widened where
neighbouring windows are alike. It is inconclusive if the interval has SLACK
inside, if the lag-1 autocorrelation is above 0.5, or with fewer than 8 windows
of 30 requests that both completed: 100 for a p90, 200 for a p95, 1,000 for a
p99. It wants the outcomes.parquet of both results. A gate that is a call of
regression and nothing else passes if there is none; elsewhere write not
regression(...).

A number that is not known, a baseline that does not exist or that is of another
trace, and times or hits of two runs of which one completed over 1 % less of its
requests make a gate inconclusive, never a pass. Exit codes: 0 passed or
inconclusive, 3 failed, 4 inconclusive under --strict.

In GitHub Actions failures are marked at their lines of the gate file.
--print-workflow prints a workflow to start from.`

func gateCmd() *cobra.Command {
	g := &gateJob{format: "table"}
	cmd := &cobra.Command{
		Use:   "gate RESULT -f gates.yaml",
		Short: "check a result against conditions, for CI",
		Long:  gateHelp,
		Example: `  triage replay conv.jsonl -p score -o result
  triage gate result -f gates.yaml
  triage gate result -f gates.yaml --baseline baselines/main --strict
  triage gate result -f gates.yaml --junit gates.xml
  triage gate result -f gates.yaml --summary "$GITHUB_STEP_SUMMARY"
  triage gate --print-workflow > .github/workflows/replay.yml`,
		Args: g.args,
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVarP(&g.file, "file", "f", "", "gate `FILE`")
	f.StringVar(&g.baseline, "baseline", "", "result `DIR` to compare with, instead of the file's")
	f.StringVarP(&g.policy, "policy", "p", "", "`LABEL` whose numbers plain names are, instead of the file's")
	f.BoolVar(&g.otherTrace, "allow-other-trace", false, "compare with a baseline of another trace")
	g.verdictFlags.bind(f)
	f.Var(choice[string]{&g.format, gateFormats()}, "format", "how to print the verdicts")
	f.StringVar(&g.junit, "junit", "", "`FILE` for JUnit XML")
	f.StringVar(&g.summary, "summary", "", "`FILE` for a Markdown job summary, - prints it instead of the table")
	f.StringVar(&g.comment, "comment", "", "`FILE` for the same with a hidden marker, for a pull request comment")
	f.BoolVar(&g.workflow, "print-workflow", false, "print a GitHub Actions workflow and end")
	cmd.RunE = action(func(cmd *cobra.Command, args []string) error {
		if g.workflow {
			_, err := cmd.OutOrStdout().Write(workflow)
			return err
		}
		return g.run(cmd.Context(), args[0], cmd.OutOrStdout(), cmd.ErrOrStderr())
	})
	return cmd
}

func gateFormats() []string {
	var names []string
	for _, r := range reports.GateCatalog() {
		names = append(names, r.Name)
	}
	return names
}

// args wants a result, but not to print a workflow.
func (g *gateJob) args(c *cobra.Command, args []string) error {
	if g.workflow {
		return wants()(c, args)
	}
	if err := wants("RESULT")(c, args); err != nil {
		return err
	}
	if g.file == "" {
		return errors.New("no gate file, want -f gates.yaml; see triage gate --help")
	}
	return g.check()
}

// run checks the result, writes what is to be written and ends with the verdict.
func (g *gateJob) run(ctx context.Context, result string, stdout, stderr io.Writer) error {
	checked, err := g.evaluate(result)
	if err != nil {
		return err
	}
	for _, n := range checked.Notes {
		fmt.Fprintln(stderr, "note: "+n)
	}
	if os.Getenv("GITHUB_ACTIONS") == "true" {
		io.WriteString(stderr, reports.Annotations(checked))
	}
	if err := g.keep(ctx, checked, stderr); err != nil {
		return err
	}
	if g.summary == "-" {
		err = reports.GateMarkdown(stdout, checked)
	} else {
		err = g.print(stdout, checked)
	}
	if err != nil {
		return err
	}
	return g.verdict(checked.Gates, stderr)
}

func (g *gateJob) print(w io.Writer, checked *reports.Gated) error {
	for _, r := range reports.GateCatalog() {
		if r.Name == g.format {
			return r.Write(w, checked)
		}
	}
	return usage{errors.New("unknown format " + g.format)}
}

func (g *gateJob) evaluate(result string) (*reports.Gated, error) {
	data, err := os.ReadFile(g.file)
	if err != nil {
		return nil, named(g.file, err)
	}
	file, err := reports.ParseGates(g.file, data)
	if err != nil {
		return nil, usage{err}
	}
	if g.policy != "" {
		file.SetPolicy(g.policy)
	}
	gating := &reports.Gating{File: file, AllowOtherTrace: g.otherTrace || file.AllowOtherTrace()}
	if gating.Result, err = reports.ReadKept(result); err != nil {
		return nil, err
	}
	if err := g.compareWith(gating); err != nil {
		return nil, err
	}
	checked, err := gating.Check()
	if err != nil {
		var bad *reports.Unreadable
		if errors.As(err, &bad) {
			return nil, err
		}
		return nil, usage{err}
	}
	return checked, nil
}

// compareWith reads the baseline that the flag or the file names. One that does not exist yet is not an error: the first
// run of a project has none.
func (g *gateJob) compareWith(gating *reports.Gating) error {
	path := g.baseline
	if path == "" {
		if path = gating.File.BaselinePath(); path == "" {
			return nil
		}
		if !filepath.IsAbs(path) {
			path = filepath.Join(filepath.Dir(g.file), path)
		}
	}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		gating.Absent = "there is no baseline at " + path
		return nil
	}
	var err error
	gating.Baseline, err = reports.ReadKept(path)
	return err
}

// keep writes the files that CI reads.
func (g *gateJob) keep(ctx context.Context, checked *reports.Gated, stderr io.Writer) error {
	for _, f := range []struct {
		name  string
		write func(io.Writer, *reports.Gated) error
	}{
		{g.junit, reports.JUnit},
		{g.summary, reports.GateMarkdown},
		{g.comment, reports.GateComment},
	} {
		if f.name == "" || f.name == "-" {
			continue
		}
		var b bytes.Buffer
		if err := f.write(&b, checked); err != nil {
			return err
		}
		if err := put(ctx, f.name, b.Bytes()); err != nil {
			return explain(err)
		}
		fmt.Fprintf(stderr, "wrote %s\n", f.name)
	}
	return nil
}

// put replaces a file, but appends to the summary of a GitHub step, which others write to as well.
func put(ctx context.Context, name string, data []byte) error {
	if name != os.Getenv("GITHUB_STEP_SUMMARY") {
		return writeFile(ctx, name, func(w io.Writer) error { _, err := w.Write(data); return err })
	}
	f, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return named(name, err)
	}
	_, err = f.Write(data)
	return named(name, errors.Join(err, f.Close()))
}
