package fidelity

import (
	"context"
	"fmt"

	"github.com/seed-2cee110a/triage/engine"
)

// closedRow is a server with a constant number of requests in flight.
type closedRow struct {
	id, at, model, system, dtype string
	tp, isl, osl, concurrency    int
	plain                        bool // neither expert nor data parallelism
	suspect                      bool
	ttft, tpot                   float64 // ms
}

var closedColumns = []string{"id", "model", "system", "precision", "tp", "dp_attention", "moe_tp", "moe_ep", "isl", "osl",
	"concurrency", "ttft_ms", "tpot_ms", "suspect"}

// systems are the names of GPUs in closed_loop.csv.
var systems = map[string]string{"b200_sxm": "B200", "h200_sxm": "H200", "h100_sxm": "H100"}

// fp8Names are models that are known by the name of their unquantised form.
var fp8Names = map[string]string{"Qwen/Qwen3-235B-A22B-FP8": "Qwen/Qwen3-235B-A22B"}

func (r *row) closed() closedRow {
	c := closedRow{id: r.full("id"), at: r.at(), model: r.full("model"), system: r.full("system"), dtype: r.full("precision"), tp: r.whole("tp", 1),
		isl: r.whole("isl", 1), osl: r.whole("osl", 1), concurrency: r.whole("concurrency", 1), suspect: r.text("suspect") != "",
		ttft: r.number("ttft_ms"), tpot: r.number("tpot_ms")}
	split := r.wholeOr("moe_tp", 0, 0)
	m, err := engine.LookupModel(c.name())
	dense := err == nil && m.Experts.N == 0
	c.plain = r.wholeOr("dp_attention", 0, 1) <= 1 && r.wholeOr("moe_ep", 0, 1) <= 1 && (dense || split == 0 || split == c.tp)
	if c.ttft == 0 || c.tpot == 0 {
		r.bad("ttft_ms", "a time above 0, as for tpot_ms")
	}
	return c
}

func (c *closedRow) name() string {
	if n := fp8Names[c.model]; n != "" {
		return n
	}
	return c.model
}

// roundsEach is how many requests follow one another in each place. The table does not say; ten are customary.
const roundsEach = 10

// shortest is the least share of its nominal length that a prompt or an output has: lengths are drawn evenly from there
// up, as serving benchmarks do with a random-range-ratio, so that the places do not move in lockstep for good. The table
// does not say this either.
const shortest = 0.8

// queued tells rows whose requests waited longer than they ran: not all of them were in the batch, and how many is not said.
func (c *closedRow) queued() bool { return c.ttft > c.tpot*float64(c.osl) }

// experiment describes the row in the terms of an open one.
func (c *closedRow) experiment() (*Experiment, error) {
	switch {
	case c.suspect:
		return nil, skip("marked as suspect")
	case !c.plain:
		return nil, skip("expert or data parallelism is not modelled")
	}
	gpu := systems[c.system]
	if gpu == "" {
		gpu = c.system
	}
	return &Experiment{ID: c.id, At: c.at, Model: c.name(), GPU: gpu, TP: c.tp, DP: 1, DType: c.dtype, Regime: "closed loop", Overhead: true,
		MaxNumSeqs: max(1024, c.concurrency), MaxNumBatchedTokens: 8192, GPUUtil: 0.9, BlockSize: 16, PrefixCaching: true,
		Stages: []Stage{{roundsEach * c.concurrency, 1}}}, nil
}

// workload is requests that share nothing, all there from the start.
func (c *closedRow) workload(seed uint64) *workload {
	chance := chanceFor(seed, c.id)
	draw := func(tokens int) int32 {
		low := max(1, int(shortest*float64(tokens)))
		return int32(low + chance.IntN(tokens-low+1))
	}
	w := &workload{traced: true, stages: []Stage{{roundsEach * c.concurrency, 1}}}
	for range roundsEach * c.concurrency {
		w.requests = append(w.requests, request{prompt: draw(c.isl), output: draw(c.osl), id: -1})
	}
	return w
}

// score plays the row. The measured means are over the whole run, with the burst at its start, as far as is known; the run
// without its first quarter is scored against them, too.
func (c *closedRow) score(ctx context.Context, set Settings) ([]Score, []Load, error) {
	e, err := c.experiment()
	if err != nil {
		return nil, nil, err
	}
	s, err := e.server(set.coefficients())
	if err != nil {
		return nil, nil, err
	}
	w := c.workload(set.Seed)
	out, err := play(ctx, s, w, c.concurrency)
	if err != nil {
		return nil, nil, unmodelled{err}
	}
	var scores []Score
	for _, subset := range []string{"all", warm} {
		got := simulated(w, out, e.timeout(), w.subset("0", subset, 0))
		add := func(metric string, value float64) {
			scores = append(scores, Score{Key: Key{c.id, "0", subset, metric, "mean"}, Regime: e.Regime, GPU: e.GPU, Model: c.model,
				Calibrated: s.calibrated, Measured: value, Simulated: got.value(metric, "mean"), Best: subset == "all",
				Queued: c.queued()})
		}
		add("ttft", c.ttft)
		add("tpot", c.tpot)
	}
	return scores, e.loads(w, out, true), nil
}

// closedLoop plays closed_loop.csv, if there is one.
func (r *Report) closedLoop(ctx context.Context, file string, s Settings) error {
	var rows []closedRow
	err := optional(eachRow(file, closedColumns, func(r *row) error {
		rows = append(rows, r.closed())
		return nil
	}))
	if err != nil {
		return err
	}
	r.ClosedRows = len(rows)
	scores, loads, reasons := make([][]Score, len(rows)), make([][]Load, len(rows)), make([]string, len(rows))
	err = each(ctx, s.Workers, len(rows), func(i int) (err error) {
		scores[i], loads[i], err = rows[i].score(ctx, s)
		if u, ok := err.(unmodelled); ok {
			reasons[i], err = u.Error(), nil
		}
		return err
	})
	if err != nil {
		return err
	}
	for i := range rows {
		if scores[i] != nil {
			r.ClosedPlayed++
		}
		r.Closed, r.Loads = append(r.Closed, scores[i]...), append(r.Loads, loads[i]...)
		if reasons[i] != "" {
			r.skipRow(fmt.Sprintf("closed loop: %s on %s", rows[i].model, rows[i].system), reasons[i])
		}
	}
	return nil
}

// skipRow counts rows that are left out for the same reason.
func (r *Report) skipRow(what, why string) {
	for i := range r.Skipped {
		if s := &r.Skipped[i]; s.What == what && s.Reason == why {
			s.Rows++
			return
		}
	}
	r.Skipped = append(r.Skipped, Skipped{what, 1, why})
}
