// Package sim replays a trace against a simulated cluster: replicas, the signals they send, the router that reads them
// and the gateway that queues in front of it.
//
// Reading order: run.go (the loop), event.go (what can happen, and in which order at one instant), router.go (what
// the policy sees), gateway.go (the queue), stage.go (what runs on one trace and cluster share), summary.go.
//
// # What happens at one instant
//
// In this order, the whole of each before the next: deliveries of tokens, by replica; faults, in the order given; signal
// scrapes, by replica; their receipt; gateway deadlines; another try for the requests held at the gateway, in queue
// order, and then for those that a crash has cut off, if anything changed; arrivals, in trace order. A step that starts
// at that instant is formed after all of it. An arrival joins a queue that is not empty rather than overtake it. Requests
// that other pools can serve wait in a queue of their own: one model does not hold up another.
//
// # Faults
//
// A crash takes a replica's cache and all that it has in flight; what was delivered is safe, tokens on their way are not.
// The gateway sends what was cut off once more, elsewhere as long as that replica is dead, or fails it. Until it finds out
// (Config.Detect, or the restart) it goes on sending there, which fails at once in the same way; then the replica counts
// as cordoned, and the policy is told that its cache is gone. The first token ever delivered is the one that counts for
// TTFT. A dead replica does not report: its last numbers stand. Of live signals those are the ones of the crash.
//
// # Closed sessions
//
// With Config.Sessions closed only first turns arrive as logged. A later one arrives think time after the delivery of the
// last token of the turn before it, or after that was refused: see turns.go. Arrivals are then in order of time, equal
// ones in trace order.
//
// # Where staleness comes from
//
// With Signals.Scrape the router knows of replica i of n what it was at the instants (i/n + m)*Scrape. Before the first
// of them it knows nothing, which is not the same as zero. Its own book is never old.
//
// # What a seed fixes
//
// Every random choice is a hash of the seed, the request and the purpose; so two policies meet the same world, and the
// same trace, configuration and seed give the same bytes on any machine and with any number of workers.
package sim
