package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/seed-2cee110a/triage/reports"
)

func versionCmd() *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "print the version",
		Example: "  triage version",
		Args:    wants(),
		RunE: action(func(cmd *cobra.Command, _ []string) error {
			t := tool()
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "triage %s (%s, %s)\n", t.Version, t.Revision, t.Go)
			return err
		}),
	}
}

// tool names this program as the build recorded it.
func tool() reports.Tool {
	t := reports.Tool{Name: "triage", Version: "devel", Revision: "unknown revision", Go: runtime.Version()}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return t
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		t.Version = v
	}
	modified := ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			t.Revision = s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			modified = "+modified"
		}
	}
	t.Revision += modified
	return t
}
