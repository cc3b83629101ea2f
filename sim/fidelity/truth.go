package fidelity

import (
	"fmt"
	"strconv"
)

// Key names a statistic of an experiment.
type Key struct {
	Experiment string
	Stage      string // its number, or "all"
	Subset     string // all, first100_cold, warm_after200, firstN_lss, or warm: without the first quarter
	Metric     string // ttft, tpot, e2e (ms), itl_published (ms), request_throughput and busy_throughput (req/s), ttft_growth (ms/s), tpot_drift (ratio)
	Stat       string // mean, p50, p90, p95, p99
}

// fact is a measured statistic.
type fact struct {
	Key
	Value float64
	First int // requests that the subset firstN_lss has, 0 if that is not known
}

// Published is what another simulator predicted for a statistic, and what was measured.
type Published struct {
	Key
	Simulator           string
	Predicted, Measured float64
}

var keyColumns = []string{"exp_id", "stage", "subset", "metric", "stat"}

func (r *row) key() Key {
	k := Key{r.full("exp_id"), r.full("stage"), r.full("subset"), r.full("metric"), r.full("stat")}
	if n, err := strconv.Atoi(k.Stage); k.Stage != "all" && (err != nil || n < 0) {
		r.bad("stage", "a number or all")
	}
	r.oneOf("stat", "mean", "p50", "p90", "p95", "p99")
	return k
}

// readTruth reads the facts, in order; each must be about a known experiment and stand once.
func readTruth(file string, known map[string]*Experiment) ([]fact, error) {
	var all []fact
	seen := map[Key]string{}
	err := eachRow(file, append([]string{"value", "n_requests"}, keyColumns...), func(r *row) error {
		f := fact{Key: r.key(), Value: r.number("value")}
		if n, err := strconv.Atoi(r.text("n_requests")); err == nil {
			f.First = n
		}
		if known[f.Experiment] == nil {
			return fmt.Errorf("%s: exp_id %q is not in experiments.csv", r.at(), f.Experiment)
		}
		if at, twice := seen[f.Key]; twice {
			return fmt.Errorf("%s: the same statistic is already at %s", r.at(), at)
		}
		seen[f.Key] = r.at()
		if f.Value == 0 {
			r.bad("value", "a number above 0")
		}
		all = append(all, f)
		return nil
	})
	return all, err
}

func readPublished(file string, known map[string]*Experiment) ([]Published, error) {
	var all []Published
	err := eachRow(file, append([]string{"simulator", "predicted", "measured"}, keyColumns...), func(r *row) error {
		p := Published{Key: r.key(), Simulator: r.full("simulator"), Predicted: r.number("predicted"), Measured: r.number("measured")}
		if known[p.Experiment] == nil {
			return fmt.Errorf("%s: exp_id %q is not in experiments.csv", r.at(), p.Experiment)
		}
		if p.Measured == 0 {
			r.bad("measured", "a number above 0")
		}
		all = append(all, p)
		return nil
	})
	return all, optional(err)
}
