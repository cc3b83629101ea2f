package traces

// Unknown marks an integer that the source did not say. It is never 0: a zero is a real value.
const Unknown = -1

// Record is one request of a trace, as a reader yields it and a writer takes it.
type Record struct {
	ArrivalNs int64  // since the trace's t0; at least 0 after sorting
	Line      int64  // line or row in the source, 1-based; orders records with equal arrivals
	ID        string // "" if the source has none
	Model     string // "" if the source has none; likewise below
	Adapter   string
	Tenant    string
	Session   string
	SLO       string
	PrefixKey string // the prompt template that the application declares, such as its name and version

	ParentRow int64 // row of the request that this one waits for, Unknown if none
	Turn      int32 // 0-based turn in the session, Unknown if not said
	ThinkNs   int64 // pause after the parent's answer, Unknown if not said; 0 is a real value

	PromptTokens int32 // at least 1
	OutputTokens int32 // Unknown if not said
	MaxTokens    int32 // the request's max_tokens, Unknown if not said

	// Blocks identifies the prompt's prefix: ids of its blocks of Meta.BlockSize tokens, root first. nil means that
	// the identity is unknown, which differs from empty. The last id may be that of a partial block (Meta.BlockTail).
	Blocks []int64

	// What the log measured, Unknown where it did not.
	CachedTokensObs int32
	TTFTNsObs       int64
	E2ENsObs        int64
	ReplicaObs      string
	Status          Status
	Finish          string // why the answer ended, such as "stop" or "length"
	Flags           int32  // bits that a file may have; they are passed on, and nothing is made of them
}

// Status is what became of a request.
type Status uint8

const (
	OK Status = iota
	Rejected
	Failed
	ClientAbort
	Timeout
)

var statusNames = [...]string{"ok", "rejected", "failed", "client_abort", "timeout"}

func (s Status) String() string { return statusNames[s] }

// NewRecord returns a record in which everything optional is Unknown.
func NewRecord() Record {
	return Record{ParentRow: Unknown, Turn: Unknown, ThinkNs: Unknown, OutputTokens: Unknown, MaxTokens: Unknown,
		CachedTokensObs: Unknown, TTFTNsObs: Unknown, E2ENsObs: Unknown}
}

// BlockTail says what a source does with the last, partly filled block of a prompt.
type BlockTail string

const (
	TailCeil  BlockTail = "ceil"  // it has an id: len(Blocks) = ceil(prompt / block size)
	TailFloor BlockTail = "floor" // it has none: len(Blocks) = floor(prompt / block size)
	TailNone  BlockTail = "none"  // there are no blocks
)

// Meta is what holds for a whole trace; it is stored with the project's own format.
type Meta struct {
	SourceFormat   string
	SourceSHA256   string // of the bytes as stored, "" if unknown
	T0UnixNs       int64  // wall clock of arrival 0, Unknown if not known
	TimeUnitSource string // "ms", "s", "ns", "datetime"
	TimeResolution int64  // ns, Unknown if not known
	Ties           string // "keep" or "spread:<seed>"
	BlockSize      int32  // tokens behind one block id, 0 without blocks
	BlockTail      BlockTail
	IdentityScope  string // "global", "tenant", "session"
	IdentityKind   string // "chain", "rechained", "text", "session-assumed", "none"
	Tokenizer      string // "unknown" if not known
	RowsIn         int64
	RowsDropped    int64
	DropReasons    string // "reason=n,..." in order of reason, "" if none
	Anonymised     string // "none" if not
	Overlays       string // "name=how it was made;...", such as adapters=identical:seed=1; "" if none
}
