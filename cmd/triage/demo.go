package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"
)

func demoCmd() *cobra.Command {
	j := newJob()
	j.command = "triage replay demo"
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "replay the embedded trace: a first look",
		Long: `demo replays an embedded trace of chat traffic through round robin and the
explicit score, on eight simulated replicas, and says what to try next.`,
		Example: `  triage demo
  triage demo -o out      # keep result.json, outcomes.parquet and manifest.json`,
		Args: wants(),
	}
	f := cmd.Flags()
	f.VarP(count[int]{&j.workers}, "jobs", "j", "runs at the same time; results do not depend on it")
	bindOutput(f, &j.save)
	cmd.RunE = action(func(cmd *cobra.Command, _ []string) error {
		return demo(cmd.Context(), j, cmd.OutOrStdout(), cmd.ErrOrStderr())
	})
	return cmd
}

func demo(ctx context.Context, j *job, stdout, stderr io.Writer) error {
	fmt.Fprint(stdout, "$ triage replay demo -p round-robin -p score\n\n")
	if err := j.run(ctx, "demo", stdout, stderr); err != nil {
		return err
	}
	_, err := fmt.Fprint(stdout, `
your own traffic
  (Mooncake JSONL, Azure CSV or Parquet; .gz and .zst too)
  $ triage trace info FILE
  $ triage replay FILE --replicas 8 --model Qwen/Qwen3-32B --gpu H100 --tp 2
`)
	return err
}
