package reports

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/seed-2cee110a/triage/sim/fidelity"
)

// fidelityTable is a table of a fidelity report; columns after the first are numbers.
type fidelityTable struct {
	title, note string
	labels      int // columns at the start that name a row; 0 is 1
	head        []string
	rows        [][]string
}

// fidelityTables returns the tables in the order in which they are read.
func fidelityTables(r *fidelity.Report) []fidelityTable {
	stable := fidelity.Select(r.Scores, func(s *fidelity.Score) bool { return s.Best && s.Stable() })
	latency := fidelity.Select(r.Scores, func(s *fidelity.Score) bool { return s.Best && !s.Overload })
	all := []fidelityTable{
		headline(stable),
		rivalTable(r.Rivals),
		statTable(r.Scores, stable),
		groupTable("by regime, but overload", "regime", latency, func(s *fidelity.Score) string { return s.Regime }),
		groupTable("by GPU, stable regime", "GPU", stable, gpuName),
		groupTable("by model, stable regime", "model", stable, func(s *fidelity.Score) string { return s.Model }),
		overloadTable(r.Scores),
		siblingTable(r),
		closedTable(r.Closed),
		largest(stable),
		skippedTable(r),
	}
	return slices.DeleteFunc(all, func(t fidelityTable) bool { return len(t.rows) == 0 })
}

// fidelityHeader says what was played.
func fidelityHeader(r *fidelity.Report) []string {
	out := []string{fmt.Sprintf("%d of %d experiments and %d of %d closed-loop rows played, %d measured statistics compared, seed %d",
		r.Played, r.Experiments, r.ClosedPlayed, r.ClosedRows, len(r.Scores)+len(r.Closed), r.Seed)}
	if len(r.Offload) > 0 {
		out = append(out, fmt.Sprintf("under overload with KV offload to the CPU, which is not modelled: %s", join(r.Offload)))
	}
	return out
}

func headline(stable []fidelity.Score) fidelityTable {
	t := fidelityTable{title: "stage means, stable regime",
		note: "Absolute errors relative to the measured. Each stage without its first quarter where there is a trace. Bias: mean error, below 0 is too fast.",
		head: []string{"metric", "stages", "mean", "median", "bias"}}
	for _, m := range fidelity.Metrics {
		if e := fidelity.Summarise(of(stable, m, "mean")); e.N > 0 {
			t.rows = append(t.rows, []string{metricName(m), strconv.Itoa(e.N), errorCell(e.Mean), errorCell(e.Median), biasCell(e.Bias)})
		}
	}
	return t
}

func rivalTable(all []fidelity.Rival) fidelityTable {
	t := fidelityTable{title: "beside published simulators, on the rows that both predict",
		note: "Mean and median absolute error of means, p50 and p90, overload left out; better: triage has both smaller, worse: neither.",
		head: []string{"metric", "simulator", "rows", "theirs", "triage", "triage is"}}
	for _, v := range all {
		t.rows = append(t.rows, []string{metricName(v.Metric), v.Simulator, strconv.Itoa(v.Ours.N), pairCell(v.Theirs), pairCell(v.Ours), v.Verdict()})
	}
	return t
}

// statTable is the errors by statistic, of whole stages and of stages without the warm-up.
func statTable(scores, stable []fidelity.Score) fidelityTable {
	t := fidelityTable{title: "by statistic, stable regime", note: "Whole: as it was measured, every stage and all stages as one, nothing left out.",
		head: []string{"metric", "statistic", "warm: rows", "mean", "median", "whole: rows", "mean", "median"}}
	whole := fidelity.Select(scores, func(s *fidelity.Score) bool { return s.Stable() && s.Subset == "all" })
	for _, m := range fidelity.Metrics {
		for _, stat := range []string{"mean", "p50", "p90", "p95", "p99"} {
			a, b := fidelity.Summarise(of(stable, m, stat)), fidelity.Summarise(of(whole, m, stat))
			if a.N+b.N > 0 {
				t.rows = append(t.rows, []string{metricName(m), stat, strconv.Itoa(a.N), errorCell(a.Mean), errorCell(a.Median),
					strconv.Itoa(b.N), errorCell(b.Mean), errorCell(b.Median)})
			}
		}
	}
	return t
}

// groupTable is the errors of each metric by what key returns, for means and for p50 and p90.
func groupTable(title, name string, scores []fidelity.Score, key func(*fidelity.Score) string) fidelityTable {
	t := fidelityTable{title: title, note: "Mean and median absolute error over stages.", head: []string{name, "statistic"}}
	for _, m := range fidelity.Metrics {
		t.head = append(t.head, "n", metricName(m))
	}
	var keys []string
	for i := range scores {
		if k := key(&scores[i]); !slices.Contains(keys, k) {
			keys = append(keys, k)
		}
	}
	for _, k := range keys {
		for _, stat := range []string{"mean", "p50", "p90"} {
			row, n := []string{k, stat}, 0
			for _, m := range fidelity.Metrics {
				e := fidelity.Summarise(fidelity.Select(of(scores, m, stat), func(s *fidelity.Score) bool { return key(s) == k }))
				row, n = append(row, strconv.Itoa(e.N), pairCell(e)), n+e.N
			}
			if n > 0 {
				t.rows = append(t.rows, row)
			}
		}
	}
	return t
}

func gpuName(s *fidelity.Score) string {
	if s.Calibrated {
		return s.GPU
	}
	return s.GPU + " (extrapolated)"
}

func overloadTable(scores []fidelity.Score) fidelityTable {
	t := fidelityTable{title: "overload",
		note: fmt.Sprintf("Requests served within the client's %d s, per second until the last of all gave up and until the last was served. Growth: of the TTFT from one arrival to another 1 s later. Last/first: TPOT of the last quarter of requests over that of the first; 1 if a full batch takes as long late as early.", fidelity.Timeout),
		head: []string{"experiment", "stage", "what", "measured", "simulated", "error"}}
	for _, s := range sortedByStage(scores) {
		what := map[string]string{"request_throughput": "served/s", "busy_throughput": "served/s until the last", "ttft_growth": "TTFT growth ms/s",
			"tpot_drift": "TPOT last/first",
			"ttft":       "TTFT mean ms", "tpot": "TPOT mean ms"}[s.Metric]
		if s.Overload && s.Best && what != "" && s.Stat == "mean" {
			t.rows = append(t.rows, []string{s.Experiment, s.Stage, what, significant(s.Measured), significant(s.Simulated), biasCell(s.Error())})
		}
	}
	return t
}

// sortedByStage brings together what is about the same experiment and stage.
func sortedByStage(scores []fidelity.Score) []fidelity.Score {
	out := slices.Clone(scores)
	slices.SortStableFunc(out, func(a, b fidelity.Score) int {
		return cmp.Or(cmp.Compare(a.Experiment, b.Experiment), cmp.Compare(a.Stage, b.Stage))
	})
	return out
}

func closedTable(scores []fidelity.Score) fidelityTable {
	t := fidelityTable{title: "constant concurrency", note: "Mean and median absolute error of means, and bias. Whole: with the burst at the start, as it was probably measured, lengths from 80 % of the nominal; warm: without the first quarter. Queued: requests waited longer than they ran, for a limit of the batch that is not known.",
		head: []string{"model on GPU", "rows", "TTFT whole", "bias", "warm", "TPOT whole", "bias", "warm"}}
	groups := map[string][]fidelity.Score{}
	var order []string
	for i := range scores {
		k := scores[i].Model + " on " + gpuName(&scores[i])
		if scores[i].Queued {
			k += ", queued"
		}
		if groups[k] == nil {
			order = append(order, k)
		}
		groups[k] = append(groups[k], scores[i])
	}
	slices.Sort(order)
	for _, k := range order {
		row := []string{k, ""}
		for _, metric := range []string{"ttft", "tpot"} {
			whole := fidelity.Summarise(fidelity.Select(of(groups[k], metric, "mean"), func(s *fidelity.Score) bool { return s.Best }))
			warm := fidelity.Summarise(fidelity.Select(of(groups[k], metric, "mean"), func(s *fidelity.Score) bool { return !s.Best }))
			row[1] = strconv.Itoa(whole.N)
			row = append(row, pairCell(whole), biasCell(whole.Bias), pairCell(warm))
		}
		t.rows = append(t.rows, row)
	}
	return t
}

// largest is where the simulator is furthest off.
func largest(stable []fidelity.Score) fidelityTable {
	t := fidelityTable{title: "largest errors of stage means, stable regime", head: []string{"experiment", "stage", "metric", "measured ms", "simulated ms", "error"}}
	means := fidelity.Select(stable, func(s *fidelity.Score) bool { return s.Stat == "mean" && slices.Contains(fidelity.Metrics, s.Metric) })
	slices.SortStableFunc(means, func(a, b fidelity.Score) int { return cmp.Compare(math.Abs(b.Error()), math.Abs(a.Error())) })
	for _, s := range means[:min(12, len(means))] {
		t.rows = append(t.rows, []string{s.Experiment, s.Stage, metricName(s.Metric), significant(s.Measured), significant(s.Simulated), biasCell(s.Error())})
	}
	return t
}

func skippedTable(r *fidelity.Report) fidelityTable {
	t := fidelityTable{title: "left out", head: []string{"what", "rows", "why"}}
	for _, s := range append(slices.Clone(r.Skipped), r.Unscored...) {
		t.rows = append(t.rows, []string{s.What, strconv.Itoa(s.Rows), s.Reason})
	}
	return t
}

// of returns the scores of a metric and statistic.
func of(scores []fidelity.Score, metric, stat string) []fidelity.Score {
	return fidelity.Select(scores, func(s *fidelity.Score) bool { return s.Metric == metric && s.Stat == stat })
}

func metricName(m string) string {
	if n := map[string]string{"ttft": "TTFT", "tpot": "TPOT", "e2e": "E2E", "itl_published": "ITL"}[m]; n != "" {
		return n
	}
	return m
}

func errorCell(v float64) string {
	if !known(v) {
		return "-"
	}
	return strconv.FormatFloat(v*100, 'f', 1, 64) + " %"
}

func biasCell(v float64) string {
	if !known(v) {
		return "-"
	}
	return fmt.Sprintf("%+.1f %%", v*100)
}

func pairCell(e fidelity.Errors) string {
	if e.N == 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f/%.1f %%", e.Mean*100, e.Median*100)
}
