// Package tune searches a policy's knobs by replay: every point of a grid on every trace.
//
// Reading order: axis.go and space.go (the points), objective.go (what is better), search.go (the replays), study.go and refusing.go
// (what follows from them), edge.go (where the grid was too small).
//
// # What a study claims
//
// A replay is deterministic: one number for each point and trace, and no interval. Shifting arrivals a little moves a replay
// by about 2 %, so points within Noise of the best are one answer, the plateau, and not a ranking.
//
// # Regret
//
// Lower objectives are better. The regret of a point on a trace is (value - best) / |best|, where best is the lowest value
// of any point that competes on that trace; so it is 0 for the best point and 0.1 for one that is 10 % worse, for objectives of either
// sign. Where the best value is 0 the regret is the value itself. The recommended point has the smallest worst regret over
// the traces, then the smallest mean regret, then the fewest knobs that differ from the base policy, then the lowest index.
//
// # Points that do not compete
//
// Whoever refuses requests has fewer of them to wait for. So only points are recommended whose rejected ratio is on every
// trace at most RefusalSlack above the lowest of any point or baseline there; if there is none, those within
// RefusalSlack of the point that refuses least. An objective that names rejected, rejected_ratio, completed or goodput says itself what a refused request costs,
// and there is no such rule; "ttft.p90 + 0*rejected_ratio" turns it off. A point whose objective is not finite on some trace
// does not compete either.
//
// # Classes
//
// Points whose decisions never differ, request by request on every trace, are one class: that many answers were really
// compared.
package tune
