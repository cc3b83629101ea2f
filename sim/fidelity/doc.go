// Package fidelity plays measured experiments again and scores the simulator against what was measured.
//
// A folder holds, as CSV, experiments.csv (a row an experiment: model, GPU, vLLM settings, workload), ground_truth.csv (a
// row a measured statistic) and, if there are any, published_predictions.csv (what other simulators predicted for those
// statistics), closed_loop.csv (servers at constant concurrency) and per-request traces that the experiments name.
// Columns are found by name; others are ignored.
//
// # How an experiment is played
//
// One replica, driven directly: there is no router. Where there is a trace, requests arrive as it says; elsewhere they
// are drawn: a Poisson process given its count, keyed by the seed and the experiment. A drawn stage starts 4 s after the
// one before it has drained. Where a number of distinct prompts is cycled, request k has prompt k mod that number and
// shares all of it with the other requests of that prompt; other prompts are unique.
//
// In closed_loop.csv all that is known of a server is its concurrency, so vLLM's defaults for large GPUs are taken for the rest.
//
// In the regime closed-loop-256 the first 256 requests are sent when the trace says and each later one when another
// finishes. Times of an engine without HTTP before it are played without the server's overheads.
//
// # How it is scored
//
// An error is (simulated - measured) / measured. Statistics of a whole stage are scored as they were measured; where
// there is a trace they are also taken over each stage without its first quarter, on both sides, since a real server
// warms up and the simulated one does not: the subset "warm". Under overload, means say more about the client's timeout
// than about the server; completed throughput and the growth of the TTFT are compared instead.
//
// # How the cost model is fitted
//
// FitCoefficients fits the few coefficients of engine.Coefficients, each of which has a meaning of its own, by simulating:
// to the mean TPOT and TTFT of stages that followed their load, and to the TPOT of dense models in closed_loop.csv, on
// the GPUs that count as calibrated. Errors are relative; beyond 3 % they count linearly, so that what no coefficient
// explains pulls little. Each coefficient leans to a round guess, so that what nothing determines stays there.
// Shares are fitted as log-odds, so that none ends at a bound.
//
// LeaveOneOut fits to all but one combination of model, GPU, tp and weights at a time and simulates that one. Each of these
// fits starts at the fit to everything and descends by its derivatives, then once more by its own, corrected by what each
// step finds. So it comes near its minimum but not to it: derivatives at every step would take a simulation a coefficient
// each.
package fidelity
