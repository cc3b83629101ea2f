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
//     the two: what was dispatched and no sample can have seen.
//   - Hits are what each replica is believed to have cached of this request's prefix. A policy that is a Believer
//     fills them itself.
//
// A policy with a memory is an Observer: Pick reads the memory, Dispatched, FirstToken and Completed change it. So a
// Pick may be repeated as a what-if.
//
// The Decision says who won, by which terms, who came second, and how many were filtered out and why. Nobody capable
// of the request is Fail (503); nobody capable of it now is Hold; a replica that a filter stopped is never picked.
//
// # Policies
//
// Parse makes a policy from text, as in "score:aff=10,q=3"; Catalog lists them with their knobs. NewScore makes the
// explicit scorer from a ScoreConfig. Package policytest has the laws that each of them obeys.
//
// To add a policy, write a file with its type and a row in the catalog. To add a term to the score, write a field of
// Weights, a function in terms.go and a row in weights.go.
//
// # In a live router
//
// A Policy and a Book are not safe for concurrent use. Two locks are enough, a sync.RWMutex for the belief and a
// sync.Mutex for the book:
//
//	belief.RLock()
//	scorer.Believe(&request, &view) // only reads the scorer: many may run at once, each on its own view.Hits
//	belief.RUnlock()
//
//	book.Lock() // one critical section, or two requests pick the same best replica
//	view.Local = accounts.Local
//	policy.Pick(&request, &view, &decision)
//	ticket := accounts.Dispatched(now, &request, &decision)
//	book.Unlock()
//
//	belief.Lock()
//	scorer.Dispatched(&request, &view, &decision)
//	belief.Unlock()
//
// The ticket goes back to the Book at the first token and at the end, under the book's lock; FirstToken and Completed
// go to the policy under the belief's. A policy whose Pick reads what Dispatched changes, as round robin does, takes
// both calls under the book's lock. Score.Forget tells that a replica restarted, under the belief's. Call Book.Sampled as soon as a replica's signals are stored.
//
// Replicas are known by their position in the view, so a router keeps the positions while it runs and cordons what is
// gone. Names must differ, and Replica.Salt must be Salt(Name).
package policies
