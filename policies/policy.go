package policies

import "time"

// ID is an interned name: a model, an adapter, a tenant. 0 is "none".
type ID int32

// Caps is a set of capabilities, one bit each.
type Caps uint64

// Block is a piece of a prompt's prefix. Hashes are chained: a hash names the whole prefix up to the block's end, so
// equal hashes mean equal prompts up to there.
type Block struct {
	Hash   uint64
	Tokens int32
}

// Request is what a router may know of a request. It has no output length: a policy cannot see the future.
type Request struct {
	Key               uint64 // differs from request to request; ties and chance are keyed by it
	Model             ID     // 0: any
	Adapter           ID     // 0: the base model
	Tenant            ID
	Session           uint64 // 0: none
	Priority          int16
	Needs             Caps
	PromptTokens      int32
	EstOutput         int32   // expected output tokens, 0 if the caller cannot say
	MaxOutput         int32   // the request's max_tokens, 0 if not given
	Blocks            []Block // the identified prefix, root first; empty if unknown. Owned by the caller
	BlockTokens       int32   // a block may be cut at multiples of this many tokens from its start; 0: only whole
	Template          uint64  // the prompt template that the application declares, 0 if none: PrefixBucket hashes it in place of the start
	Arrived, Deadline time.Duration
}

// Field names a number that a replica may or may not have reported.
type Field uint16

const (
	HasWaiting Field = 1 << iota
	HasRunning
	HasKVUsed
	HasKVTokens
	HasAdapters // Replica.Adapters, Resident and MaxAdapters
)

// Signals is what a replica last said of itself. It can be old: see SampledAt.
type Signals struct {
	Have        Field         // which of the numbers below were reported; a missing number is not zero
	Resident    bool          // HasAdapters: Replica.Adapters has those that are loaded and idle too; else only those in use
	Waiting     int32         // vLLM's num_requests_waiting
	Running     int32         // vLLM's num_requests_running
	KVUsed      float64       // share of KV blocks with a holder, 0..1: vLLM's kv_cache_usage_perc
	KVTokens    int64         // KV capacity, tokens
	BlockSize   int32         // tokens in a KV block, 0 if unknown
	MaxAdapters int32         // HasAdapters: adapter slots, vLLM's max_loras; 0 if unknown
	SampledAt   time.Duration // when the replica took the numbers
	ReceivedAt  time.Duration // when the router learned them
}

// Local is the router's own book on a replica. It is never old, but it knows only what this router sent.
type Local struct {
	InFlight        int32   // requests dispatched and not finished
	Pending         int32   // of those, without a first token
	UncachedPrefill int64   // prompt tokens charged at dispatch (prompt - believed hit) whose first token has not come
	HeldTokens      int64   // prompt + estimated output of the requests in flight
	SentSinceSample int32   // dispatches that the last sample cannot have seen and that may still wait: no first token yet
	WaitingInSample int32   // own requests that the last sample may count in Waiting: dispatched before it, without a first token then
	SentTokens      int64   // KV tokens needed by the requests in flight that the last sample cannot count in KVUsed: first token after it or not yet
	InSample        int32   // own requests in flight that the last sample counts in Waiting or Running
	PrefillRate     float32 // uncached tokens a second from dispatch to first token, moving average; 0 if there is none. A float32 keeps Local within a cache line
	TTFT, TPOT      float64 // seconds, moving averages; 0 if there is none
}

// Replica is one candidate as the router knows it.
type Replica struct {
	Name     string
	Salt     uint64 // a stable hash of Name; ties and rendezvous hashing use it, so that the order of replicas decides nothing
	Model    ID
	Caps     Caps
	Cordoned bool
	Full     bool // it has as much in flight as the router lets it have
	Signals  Signals
	Adapters []ID // as last told: those that are loaded, or those in use, see Signals.Resident
}

// Hit is a belief about a request's prefix on one replica.
type Hit struct {
	Tokens int32 // prompt tokens believed cached
	Held   int32 // of those, tokens known to be held by requests in flight, so that reusing them needs no free block
}

// View is all that a policy may see at one instant. Slices are parallel and belong to the caller.
type View struct {
	Now      time.Duration
	Replicas []Replica
	Local    []Local
	Idle     [][]ID // adapters that they left behind: Book.Idle, or nil
	InUse    [][]ID // adapters of the router's own requests in flight: Book.InUse, or nil for a router that keeps no book
	Hits     []Hit
	Routers  int // routers that share the replicas, each with a book of its own; 0 is 1
}

// Action is what is to happen to a request.
type Action uint8

const (
	Dispatch Action = iota // send it to Decision.Replica
	Hold                   // queue it at the gateway until something changes or its deadline passes
	Shed                   // refuse it with 429
	Fail                   // refuse it with 503
)

func (a Action) String() string { return [...]string{"dispatch", "hold", "shed", "fail"}[a] }

// Reason says why a replica was filtered out.
type Reason uint8

const (
	WrongModel    Reason = iota // it serves another model
	NoCapability                // it lacks something that the request needs
	Cordoned                    // it takes no new work
	Stale                       // its signals are too old and the policy is told to read that as full
	NoAdapterSlot               // other adapters in use take all its slots
	NoRoom                      // the request's KV tokens do not fit with margin
	AtLimit                     // it has as much in flight as the router lets it have
	PassedOver                  // a wrapper left it out, though it is capable
	NumReasons
)

func (r Reason) String() string {
	return [...]string{"model", "capability", "cordon", "stale", "lora", "kv", "limit", "wrapper"}[r]
}

// Term is one summand of the explicit score.
type Term uint8

const (
	Affinity Term = iota
	Queue
	KVPressure
	AdapterMiss
	LoadTerm
	Tokens
	TTFT
	TPOT
	NumTerms
)

// Decision is what a policy decided and why. The caller owns it; Pick overwrites all of it.
type Decision struct {
	Action   Action
	Replica  int               // index into View.Replicas, -1 unless Action is Dispatch
	Score    float64           // the winner's score; the sum of Terms, added in order. NaN for a policy that has none
	Terms    [NumTerms]float64 // weighted and signed
	RunnerUp int               // second best, -1 if nobody else passed the filters
	Margin   float64           // winner's score less the runner-up's; NaN without a runner-up or a score
	Rejected [NumReasons]int32 // replicas filtered out, by reason
	Hit      int32             // prompt tokens believed cached at the winner
	Charge   int32             // prompt - Hit: what the winner's book is charged until the first token
	Need     int64             // KV tokens the request needs at the winner beyond those known to be held
	Affinity float64           // Hit / prompt tokens, 0..1; NaN for a policy without a prefix belief
	BestHit  int32             // the largest Hit among the replicas that passed the filters: BestHit - Hit was given up knowingly
	Output   int32             // output tokens the request was expected to have
}

// Policy decides which replica serves a request. Pick reads its arguments and the policy's memory, and changes only
// *d; memory changes in the Observer's methods, so that a Pick may be repeated as a what-if. Not safe for concurrent
// use.
type Policy interface {
	Pick(r *Request, v *View, d *Decision)
}

// Observer is an optional interface of policies with a memory. What it is told of one replica comes in order of time; of
// different replicas it may hear a little out of order, as a router with a connection to each does.
type Observer interface {
	// Dispatched tells that d was carried out at v.Now.
	Dispatched(r *Request, v *View, d *Decision)
	// FirstToken tells that the request's first token came from a replica.
	FirstToken(now time.Duration, r *Request, replica int)
	// Completed tells that the request left a replica: finished, failed or cancelled.
	Completed(now time.Duration, r *Request, replica int)
}

// Finisher is an optional interface of policies that learn from how long outputs are. Finished comes after Completed, for
// requests that finished, with the output tokens that the router saw; not for those that failed or were cancelled.
type Finisher interface {
	Finished(now time.Duration, r *Request, replica int, outputTokens int32)
}

// Believer is an optional interface of policies that hold a belief about what replicas have cached. The caller calls
// Believe before Pick; it fills v.Hits (length len(v.Replicas)). In a live router it runs outside the lock.
type Believer interface {
	Believe(r *Request, v *View)
}

// TruthUser is an optional interface of policies that want v.Hits filled with the truth (what each replica has cached
// at this instant plus what is dispatched to it and not yet scheduled), which only a simulator can do.
type TruthUser interface {
	WantsTruth() bool
}
