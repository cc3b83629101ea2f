package main

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/seed-2cee110a/triage/reports"
	"github.com/seed-2cee110a/triage/traces"
)

func traceCmd() *cobra.Command {
	cmd := group(&cobra.Command{
		Use:   "trace",
		Short: "look at, convert and generate traces",
		Example: `  triage trace info conv.jsonl.gz
  triage trace convert conv.jsonl conv.parquet
  triage trace generate chat -o chat.parquet`,
	})
	cmd.AddCommand(infoCmd(), convertCmd(), generateCmd())
	return cmd
}

func infoCmd() *cobra.Command {
	var read traces.Options
	format := "table"
	cmd := &cobra.Command{
		Use:   "info TRACE",
		Short: "describe a trace: rates, lengths, ties, prefix sharing",
		Example: `  triage trace info conv.jsonl
  triage trace info demo --format json | jq .identity`,
		Args: wants("TRACE"),
	}
	cmd.Flags().Var(choice[string]{&format, []string{"table", "json"}}, "format", "how to print it")
	bindTrace(cmd.Flags(), &read)
	cmd.RunE = action(func(cmd *cobra.Command, args []string) error {
		t, err := open(cmd.Context(), args[0], read)
		if err != nil {
			return err
		}
		return describe(cmd.OutOrStdout(), t, format)
	})
	return cmd
}

func describe(w io.Writer, t *traces.Trace, format string) error {
	info := reports.Inspect(t)
	if format == "json" {
		return info.JSON(w)
	}
	return info.Text(w)
}
