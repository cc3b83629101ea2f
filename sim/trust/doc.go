// Package trust says how far to trust simulated latencies: by how much they differed from measured ones where servers
// like the simulated were measured, and what of a run lies beyond those.
//
// The errors are a Table in errors.json, which is part of the program. triage fidelity --write-table makes it from
// measurements (make fidelity-table); it has rows by regime, GPU, model, weights and tp, and totals over them by GPU, by
// model and by class of models and GPU. Statement picks what is about a configuration. With a cost model that is not the
// calibrated one of this program, errors measured on it mean nothing: the cost model's own note stands instead.
package trust
