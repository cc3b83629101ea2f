package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/seed-2cee110a/triage/reports"
	"github.com/seed-2cee110a/triage/sim/fidelity"
)

// fidelityJob is a comparison with measurements as the command line describes it.
type fidelityJob struct {
	data     string
	format   string
	settings fidelity.Settings
	fit      bool
	without  bool
	save     fidelityOutput
	command  string // repeats it
}

func fidelityCmd() *cobra.Command {
	j := &fidelityJob{format: "table", settings: fidelity.Settings{Workers: runtime.GOMAXPROCS(0), Seed: 1}}
	cmd := &cobra.Command{
		Use:   "fidelity",
		Short: "compare simulated latencies with measured ones",
		Long: `fidelity plays measured experiments again, on one simulated replica each, and
prints by how much TTFT, TPOT and E2E differ from what was measured, beside what
published simulators predicted for the same rows.

The folder has experiments.csv and ground_truth.csv and, if there are any,
published_predictions.csv, closed_loop.csv and the per-request traces that the
experiments name. What the simulator cannot play is listed with the reason.

Without --data it prints the errors that were found so for the calibration in
this program: what every result's "can I trust it?" goes by.

--leave-one-out fits to everything, then leaves out each combination of model,
GPU, tp and weights in its turn, fits to the others again and predicts the one
left out. These are short refits: each starts at the fit to everything, descends
by its derivatives and once more by its own, so that it comes near its minimum,
not to it. It takes about three minutes of processor time, shared by -j, for the
20 combinations that the calibration comes from. How far it is goes to standard
error.`,
		Example: `  triage fidelity
  triage fidelity --data measured
  triage fidelity --data measured -o measured-against-simulated
  triage fidelity --data measured --fit
  triage fidelity --data measured --leave-one-out
  triage fidelity --data measured --format csv | sort -t, -k12 -g | tail
  triage fidelity --data measured --format json | jq .published`,
		Args: wants(),
	}
	var names []string
	for _, r := range reports.FidelityCatalog() {
		names = append(names, r.Name)
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&j.data, "data", "", "folder `DIR` with the measurements")
	f.VarP(count[int]{&j.settings.Workers}, "jobs", "j", "experiments at the same time; results do not depend on it")
	f.Var(count[uint64]{&j.settings.Seed}, "seed", "seed of arrivals that are not in a trace")
	f.Var(choice[string]{&j.format, names}, "format", "how to print the result")
	f.BoolVar(&j.fit, "fit", false, "fit the cost model's coefficients to DIR and print them (minutes)")
	f.BoolVar(&j.without, "leave-one-out", false, "predict each model, GPU and tp of DIR by a fit to all others (minutes, approximately)")
	j.save.bind(f)
	cmd.RunE = action(func(cmd *cobra.Command, args []string) error {
		j.command = commandLine(cmd, args)
		return j.run(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr())
	})
	return cmd
}

func (j *fidelityJob) run(ctx context.Context, stdout, stderr io.Writer) error {
	if err := j.save.check(j.data); err != nil {
		return usage{err}
	}
	if (j.fit || j.without) && (j.data == "" || j.format != "table") {
		return usage{errors.New("--fit and --leave-one-out print tables about a folder: want --data, and no other --format")}
	}
	if j.data == "" {
		return tableOfErrors(stdout, j.format)
	}
	if j.settings.Workers < 1 {
		return usage{fmt.Errorf("-j is %d, want at least 1", j.settings.Workers)}
	}
	if s, err := os.Stat(j.data); err != nil || !s.IsDir() {
		return usage{fmt.Errorf("--data %s is no folder", j.data)}
	}
	if j.fit || j.without {
		return j.fitTo(ctx, stdout, stderr)
	}
	began := stopwatch()
	r, err := fidelity.Run(ctx, j.data, j.settings)
	if err != nil {
		return err
	}
	if err := j.save.write(ctx, r, j.data, j.command, began(), stderr); err != nil {
		return err
	}
	for _, f := range reports.FidelityCatalog() {
		if f.Name == j.format {
			return f.Write(stdout, r)
		}
	}
	return usage{errors.New("unknown format " + j.format)}
}

// fitTo prints what the coefficients would be, or how well they predict what they were not fitted to.
func (j *fidelityJob) fitTo(ctx context.Context, stdout, stderr io.Writer) error {
	if j.fit {
		f, err := fidelity.FitCoefficients(ctx, j.data, j.settings)
		if err != nil {
			return err
		}
		if err := reports.FitText(stdout, f); err != nil {
			return err
		}
	}
	if !j.without {
		return nil
	}
	return j.leaveOut(ctx, stdout, stderr)
}
