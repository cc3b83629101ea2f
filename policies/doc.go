// Package policies decides which replica serves a request. The same package runs in the simulator and in a live
// router: it imports the standard library only, and has no clock, no randomness and no goroutine. Equal arguments
// and equal memory give equal decisions on any machine.
//
// # What a policy may know, and when it learns it
//
// A Request says what is known at arrival. It has no output length, only an estimate that the caller makes.
//
// A View is all that may be seen of the replicas at one instant:
//
//   - Signals are what a replica last said of itself. They are complete but old: SampledAt says how old. A number
//     without its Have bit was never told, which is not zero.
//   - Local is the router's own Book. It is never old but knows only what this router sent. Its Sent numbers bridge
//     the two: what was dispatched and no sample can have seen. InUse has the adapters of its requests in flight, so that
//     one that was only just sent counts as hot.
//   - Hits are what each replica is believed to have cached of this request's prefix. A policy that is a Believer
//     fills them itself.
//
// A policy that looks at events is told by the engines what they store and evict, an EventSink. One that looks at TTFT, TPOT
// or the prefill rate is a FeedbackUser: the Book measures them and lets them fade, so that a slow replica is tried again.
//
// A policy with a memory is an Observer, and a Finisher if it learns how long outputs are: Pick reads the memory,
// Dispatched, FirstToken, Completed and Finished change it. So a Pick may be repeated as a what-if.
//
// The Decision says who won, by which terms, who came second, and how many were filtered out and why. Nobody capable
// of the request is Fail (503); nobody capable of it now is Hold; a replica that a filter stopped is never picked.
//
// # Policies
//
// Parse makes a policy from text, as in "score:aff=10,q=3"; Catalog lists them with their knobs. NewScore makes the
// explicit scorer from a ScoreConfig. Wrappers go around any policy and change how it picks, as in "sample(2):score"; they
// hold and refuse nothing that the policy would dispatch. Package policytest has the laws that each of them obeys.
//
// To add a policy, write a file with its type and a row in the catalog; to add a wrapper, one that embeds forward, and a row
// in the wrappers. To add a term to the score, write a field of Weights, a function in terms.go and a row in weights.go.
//
// # In a live router
//
// A Policy and a Book are not safe for concurrent use; a Pool is. It keeps the replicas as they join and leave, what
// they last said, the book, and the policy of a weights file:
//
//	w, err := policies.DecodeWeights(data)                        // what triage tune wrote, or an error with line and field
//	pool, err := policies.NewPool(w, policies.PoolConfig{})       // scores by it
//	err = pool.Join(policies.Replica{Name: "http://10.0.0.1:8000"})
//	lease, decision := pool.Route(&request, now)                  // lease.Replica, or Hold, Shed or Fail
//	defer lease.Done(now)                                         // lease.FirstToken(now) in between
//
// A Chain names the request's prefix. Pool.Report takes what replicas say of themselves; package promsignals scrapes it
// from vLLM and SGLang, and its example is a whole proxy. Pool.Swap puts other weights in force. A DecisionLog keeps what
// each Pick saw, and ReplayLog decides all of it again.
//
// In a Pool, Believe runs while other requests believe or pick, and sees no Local; all other calls of a policy's methods come
// one at a time. Replicas are known by their places in the view. A policy that remembers places is a Mover, or a replica
// that leaves would bequeath its memory to another. Names must differ; Replica.Salt must be Salt(Name), or be left 0 for
// Join to fill in.
package policies
