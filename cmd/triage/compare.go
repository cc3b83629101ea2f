package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/seed-2cee110a/triage/reports"
)

func compareCmd() *cobra.Command {
	format := "table"
	cmd := &cobra.Command{
		Use:   "compare A B",
		Short: "compare two results, policy by policy",
		Long: `compare puts two results of triage replay -o side by side, folders or their
result.json, for every policy that both have.

Where both folders have outcomes of the same trace, a difference comes with the
95 % interval of the paired differences over up to 12 windows of the trace,
relative ones of times and plain ones of the hit ratio, and with a word: better,
worse, or ~ where the windows show no difference. Single requests are no
replicates: they queue behind one another.

If the traces or the clusters differ, the first lines say in what.`,
		Example: `  triage compare last-week this-week
  triage compare baselines/main result --format md
  triage compare a/result.json b/result.json --format csv`,
		Args: wants("A", "B"),
	}
	var names []string
	for _, r := range reports.TwoCatalog() {
		names = append(names, r.Name)
	}
	cmd.Flags().Var(choice[string]{&format, names}, "format", "how to print the comparison")
	cmd.RunE = action(func(cmd *cobra.Command, args []string) error {
		return compare(cmd.OutOrStdout(), cmd.ErrOrStderr(), args[0], args[1], format)
	})
	return cmd
}

func compare(stdout, stderr io.Writer, a, b, format string) error {
	x, err := reports.ReadKept(a)
	if err != nil {
		return err
	}
	y, err := reports.ReadKept(b)
	if err != nil {
		return err
	}
	two, err := reports.CompareTwo(x, y)
	if err != nil {
		return err
	}
	two.Width = columns(stdout)
	if format == "csv" { // which has no place for them
		for _, n := range two.Notes {
			fmt.Fprintln(stderr, "note: "+n)
		}
	}
	for _, r := range reports.TwoCatalog() {
		if r.Name == format {
			return r.Write(stdout, two)
		}
	}
	return usage{errors.New("unknown format " + format)}
}
