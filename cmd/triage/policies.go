package main

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/seed-2cee110a/triage/policies"
)

func policiesCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "policies",
		Short: "list the policies and their knobs",
		Example: `  triage policies
  triage replay demo -p score:aff=5,norm=absolute`,
		Args: wants(),
		RunE: action(func(cmd *cobra.Command, _ []string) error { return listPolicies(cmd.OutOrStdout()) }),
	}
}

func listPolicies(w io.Writer) error {
	for i, e := range policies.Catalog() {
		if i > 0 {
			fmt.Fprintln(w)
		}
		fmt.Fprintf(w, "%s\n  %s\n", e.Name, e.Doc)
		t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
		for _, k := range e.Knobs {
			fmt.Fprintf(t, "    %s=%s\t%s\t%s\n", k.Name, k.Default, k.Values, k.Doc)
		}
		if err := t.Flush(); err != nil {
			return err
		}
	}
	return nil
}
