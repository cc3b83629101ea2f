// Package sim replays a trace against a simulated cluster: replicas, the signals they send, the router that reads them
// and the gateway that queues in front of it.
//
// Reading order: run.go (the loop), event.go (what can happen, and in which order at one instant), router.go (what
// the policy sees), gateway.go (the queue), stage.go (what runs on one trace and cluster share), summary.go.
//
// # What happens at one instant
//
// In this order, the whole of each before the next: deliveries of tokens, by replica; signal scrapes, by replica;
// gateway deadlines; another try for the requests held at the gateway, in queue order, if anything changed; arrivals, in
// trace order. A step that starts at that instant is formed after all of it. An arrival joins a queue that is not empty
// rather than overtake it. Requests that other pools can serve wait in a queue of their own: one model does not hold up
// another.
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
