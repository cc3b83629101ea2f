package reports

import (
	"fmt"
	"math"

	"github.com/seed-2cee110a/triage/sim"
)

// sameMean is how far apart two means of the same values may be, relative to them: they may be summed in another order.
const sameMean = 1e-9

// holds says in which way the outcomes of a policy are not those that its numbers were taken from.
func (k *Kept) holds(policy string, rows []outcome) error {
	run, err := k.run(policy)
	if err != nil {
		return err
	}
	completed, sum := 0, 0.0
	for _, o := range rows {
		if o.completed {
			completed, sum = completed+1, sum+o.ttft
		}
	}
	mean := sum / float64(completed)
	switch {
	case len(rows) != run.Requests:
		return fmt.Errorf("policy %q has %d requests there and %d here", policy, run.Requests, len(rows))
	case completed != run.Completed:
		return fmt.Errorf("policy %q completed %d there and %d here", policy, run.Completed, completed)
	case !agree(mean, run):
		return fmt.Errorf("policy %q has a mean TTFT of %v s there and %v s here", policy, run.TTFT.Mean, mean)
	}
	return nil
}

func agree(mean float64, run sim.Summary) bool {
	return run.Completed == 0 || math.Abs(mean-run.TTFT.Mean) <= float64(sameMean*run.TTFT.Mean)
}
