// Package tune searches a policy's knobs by replay: every point of a grid on every trace.
//
// Reading order: axis.go and space.go (the points), objective.go (what is better), search.go (the replays), study.go (what
// follows from them), edge.go (where the grid was too small).
//
// # What a study claims
//
// A replay is deterministic: one number for each point and trace, and no interval. Shifting arrivals a little moves a replay
// by about 2 %, so points within Noise of the best are one answer, the plateau, and not a ranking.
//
// # Regret
//
// Lower objectives are better. The regret of a point on a trace is (value - best) / |best|, where best is the lowest value
// of any point on that trace; so it is 0 for the best point and 0.1 for one that is 10 % worse, for objectives of either
// sign. Where the best value is 0 the regret is the value itself. The recommended point has the smallest worst regret over
// the traces, then the smallest mean regret, then the fewest knobs that differ from the base policy, then the lowest index.
//
// # Classes
//
// Points whose decisions never differ, request by request on every trace, are one class: that many answers were really
// compared.
package tune
