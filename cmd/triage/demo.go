package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"
)

// embedded names the trace that is part of the program.
const embedded = "demo"

// firstSteps are few, so that the table, the first finding and they fit on a screen of 24 lines.
var firstSteps = [][2]string{
	{"triage replay demo -p score -p score:aff=0", "what affinity is worth"},
	{"triage trace info FILE", "what is in your own file"},
	{"triage replay FILE --replicas 8 --gpu H100", "... on your cluster"},
}

func demoCmd() *cobra.Command {
	j := newJob()
	j.command, j.advice, j.save.dir = "triage replay demo", firstSteps, demoFolder
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "replay and tune on the embedded trace: a first look",
		Long: `demo replays an embedded trace of chat traffic through round robin and the
explicit score, on eight simulated replicas, and says what to try next.

Then it tunes the score on that trace and leaves a folder with all three runs,
whose README.md says what each picture shows. The folder of an earlier demo is
replaced, any other one is not.`,
		Example: `  triage demo
  triage demo -o first`,
		Args: wants(),
	}
	f := cmd.Flags()
	f.VarP(count[int]{&j.workers}, "jobs", "j", "runs at the same time; results do not depend on it")
	f.Var(choice[string]{&j.format, formatNames()}, "format", "how to print the comparison")
	bindOutput(f, &j.save)
	cmd.RunE = action(func(cmd *cobra.Command, _ []string) error {
		j.width = columns(cmd.OutOrStdout())
		return demo(cmd.Context(), j, cmd.OutOrStdout(), cmd.ErrOrStderr())
	})
	return cmd
}

func demo(ctx context.Context, j *job, stdout, stderr io.Writer) error {
	j.save.force = j.save.force || earlierDemo(j.save.dir)
	if _, err := j.check(embedded); err != nil {
		return usage{err}
	}
	look := *j
	look.save = output{outcomes: j.save.outcomes}
	if j.format == "table" {
		fmt.Fprint(stdout, "$ triage replay demo -p round-robin -p score\n\n")
	}
	if err := look.run(ctx, embedded, stdout, stderr); err != nil {
		return err
	}
	j.save.outcomes = ""
	return leaveReport(ctx, j, stderr)
}
