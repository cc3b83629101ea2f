package main

import (
	"context"
	"fmt"
	"io"

	"github.com/seed-2cee110a/triage/reports"
	"github.com/seed-2cee110a/triage/sim/fidelity"
)

// leaveOut prints how well each combination is predicted by a fit to all others, and what kind of fit that is. How far it
// is goes to stderr.
func (j *fidelityJob) leaveOut(ctx context.Context, stdout, stderr io.Writer) error {
	began := stopwatch()
	r, err := fidelity.LeaveOneOut(ctx, j.data, j.settings, func(p fidelity.Progress) {
		if p.Done == 0 {
			fmt.Fprintf(stderr, "fitting to everything, then %s to all but one combination\n", plural(p.Of, "time"))
			return
		}
		fmt.Fprintf(stderr, "%d of %d left out after %.0f s: %s\n", p.Done, p.Of, began().WallS, p.Combination)
	})
	if err != nil {
		return err
	}
	if err := reports.WithoutText(stdout, r); err != nil {
		return err
	}
	return refits(stdout, r)
}

// refits says what the fits to all but one combination were.
func refits(w io.Writer, r *fidelity.Without) error {
	if len(r.Left) == 0 {
		return nil
	}
	least, most := r.Left[0].Played, r.Left[0].Played
	for _, l := range r.Left {
		least, most = min(least, l.Played), max(most, l.Played)
	}
	_, err := fmt.Fprintf(w, `
Short refits: each starts at the fit to everything, descends by its derivatives
and once more by its own, until a step lessens the loss by less than %g %% or %d
were tried. Each simulated the others %d to %d times. They come near their
minima, not to them, so the errors of a combination are approximate, TTFT near
saturation above all.
`, fidelity.Settled*100, fidelity.Retries, least, most)
	return err
}
