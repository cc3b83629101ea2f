package engine

// Sequence is a request's work on one replica.
type Sequence struct {
	ID     int32 // the caller's name for it, returned in events
	Leaf   int32 // forest node at which the identified part of the prompt ends; -1 if the identity is unknown
	Prompt int32 // tokens, at least 1
	Output int32 // tokens to generate, at least 1

	Adapter int32 // the LoRA adapter that it needs; 0 is the base model
	// Reuse is how many tokens of prompt and output, from the start, the path to Leaf names. More than the prompt if a
	// later turn is known to go on from there, so that its blocks can be hit; less, as 0, is the prompt alone. What is
	// beyond Prompt+Output-1, the tokens that are stored, does not count.
	Reuse int32
}

// Reason says why a replica refuses a sequence for good. The zero Reason is acceptance.
type Reason uint8

const (
	Accepted  Reason = iota
	TooLong          // prompt + output exceed MaxModelLen
	NeverFits        // more KV blocks than the pool has
)

func (r Reason) String() string { return [...]string{"", "too_long", "never_fits"}[r] }

// EventKind tells the events apart.
type EventKind uint8

const (
	FirstToken EventKind = iota // the first token was delivered
	Finish                      // the last token was delivered
)

// Event is something that became visible outside the replica.
type Event struct {
	At          Time // delivery
	Seq         int32
	Kind        EventKind
	Hit         int32 // FirstToken: prompt tokens served from the cache at the first admission
	Scheduled   Time  // FirstToken: start of the first step that scheduled the sequence
	Preemptions int32 // Finish: how often the sequence was preempted
}

// Load is what a replica says of itself at an instant.
type Load struct {
	Waiting    int32 // sequences in the waiting queue: vLLM's num_requests_waiting
	Running    int32 // sequences in the batch: vLLM's num_requests_running
	HeldBlocks int32 // KV blocks with a holder; over KVBlocks this is vLLM's kv_cache_usage_perc
}

// Stats counts a replica's work since the run began.
type Stats struct {
	Steps       int64
	Busy        Time  // sum of the steps' durations
	Preemptions int64 // sequences put back to the waiting queue
	Recomputed  int64 // computed tokens lost to preemptions
	Evicted     int64 // blocks evicted from the prefix cache

	AdapterLoads int64 // adapters loaded into a slot
}
