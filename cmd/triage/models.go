package main

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/seed-2cee110a/triage/engine"
)

func modelsCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "models",
		Short: "list the models and GPUs that replicas can have",
		Long: `models lists what --model and --gpu take; --model-config takes any other model
by its config.json.

Step times on a calibrated GPU were fitted to measurements with dense models at
least. A replay says so if its model is of another kind, not measured there.`,
		Example: `  triage models
  triage replay demo --model Qwen/Qwen3-14B --gpu A100-80GB --tp 1`,
		Args: wants(),
		RunE: action(func(cmd *cobra.Command, _ []string) error { return listModels(cmd.OutOrStdout()) }),
	}
}

func listModels(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "MODEL\tWEIGHTS GB\tKV KB/TOKEN")
	for _, name := range engine.Models() {
		m, err := engine.LookupModel(name)
		if err != nil {
			return err
		}
		fmt.Fprintf(t, "%s\t%.1f\t%.0f\n", m.Name, float64(m.WeightBytes())/1e9, float64(m.KVBytes())/1e3)
	}
	fmt.Fprintln(t, "\t\t")
	fmt.Fprintln(t, "GPU\tMEMORY GB\tSTEP TIMES")
	for _, name := range engine.GPUs() {
		g, err := engine.LookupGPU(name)
		if err != nil {
			return err
		}
		trust := "extrapolated"
		if g.Calibrated {
			trust = "calibrated"
		}
		fmt.Fprintf(t, "%s\t%.0f\t%s\n", g.Name, g.Memory/1e9, trust)
	}
	return t.Flush()
}
