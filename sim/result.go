package sim

import (
	"time"

	"github.com/seed-2cee110a/triage/engine"
	"github.com/seed-2cee110a/triage/policies"
	"github.com/seed-2cee110a/triage/traces"
)

// Result is one run: one trace, one cluster, one policy.
type Result struct {
	Policy   string // the label
	Spec     policies.Spec
	Config   Config // with every default filled in
	Trace    *traces.Trace
	Outcomes []Outcome // one a request, in trace order
	Decided  []Decided // likewise, if Config.Decisions asked for it
	Believed int64     // prompt tokens believed cached at dispatch, of completed requests; -1 without a belief
	GivenUp  int64     // believed hits given up knowingly: those of the best replica less those of the chosen one, of all dispatches
	Replicas []ReplicaResult
	Warnings []string
	Signals  SignalAge
	Cost     CostNote
	End      engine.Time // when the last piece of work ended
	Reused   int         // requests whose answers later prompts can hit
	Crashes  []CrashReport
	Adapters bool // they play a part: the trace names some, and replicas have slots for them

	reporters []policies.BeliefReporter // of the routers whose policies tell what they believe

	RetryAfter map[int32]time.Duration // by row: what a request that was refused for its tenant's rate was told
}

// Outcome is what became of one request. Times are since the run began; an instant that never came is -1.
type Outcome struct {
	Row         int32 // in the trace
	Replica     int32 // the last that it was sent to, -1 if it was never dispatched
	Hit         int32 // prompt tokens served from the cache at the first admission
	Preemptions int32
	Status      Status
	Reason      Reason
	Held        bool  // it waited at the gateway
	Retries     uint8 // times that it was sent again after a crash
	Arrived     engine.Time
	Dispatched  engine.Time // to the replica from which the first token came; of one sent again this may not be the last
	Scheduled   engine.Time // start of the first step that worked on it there
	First       engine.Time // delivery of the first token, whatever became of its replica
	Finished    engine.Time // delivery of the last, or the instant of the refusal
}

// Decided is why a request went where it went.
type Decided struct {
	Affinity float64 // the router's belief, 0..1; NaN for a policy without one
	Score    float64 // NaN for a policy without one
	Margin   float64 // NaN without a runner-up
	RunnerUp int32   // -1 if there was none
	Terms    [policies.NumTerms]float64
}

// Status is how a request ended.
type Status uint8

const (
	Completed Status = iota
	Rejected         // refused, see Reason
)

func (s Status) String() string { return [...]string{"completed", "rejected"}[s] }

// Reason says why a request was not served.
type Reason uint8

const (
	None        Reason = iota
	TooLong            // prompt + output exceed max-model-len
	NeverFits          // more KV blocks than a replica has
	NoReplica          // no replica is capable of it (503)
	Deadline           // held at the gateway until its deadline (503)
	QueueFull          // the gateway's queue was full (429)
	Shed               // the policy refused it (429)
	Crashed            // its replica crashed, and it was not to be sent again (503)
	RateLimited        // its tenant used more tokens than it may (429)
	NumReasons
)

func (r Reason) String() string {
	return [...]string{"", "too_long", "never_fits", "no_replica", "deadline", "queue_full", "shed", "crashed", "rate_limit"}[r]
}

// ReplicaResult is what one replica did.
type ReplicaResult struct {
	Name         string
	Pool         int   // index in Config.Pools; 0 without
	Requests     int   // completed here
	PromptTokens int64 // of those
	HitTokens    int64 // of those
	Stats        engine.Stats
}

// BlockSize returns the tokens in a KV block of a replica; with -1 for a replica those of the first pool.
func (r *Result) BlockSize(replica int32) int {
	if replica < 0 || len(r.Config.Pools) == 0 {
		return r.Config.Engine.BlockSize
	}
	return r.Config.Pools[r.Replicas[replica].Pool].Engine.BlockSize
}

// SignalAge is how old the replicas' numbers were when a policy used them, seconds.
type SignalAge struct {
	Mean, P50, P95, Max float64
}

// CostNote says where step times come from and how far to trust them.
type CostNote struct {
	Model      string // "physical" or "unit", or the kind of a cost file
	Calibrated bool   // fitted on measurements of this GPU class, or to a log
	Note       string // one sentence for the first screen

	Digest string // of the cost file, "" without one

	// Of a cost file that was calibrated.
	Source  string // name of the log
	SHA256  string // of the log
	HeldOut []HeldOut
}
