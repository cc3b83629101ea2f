package traces

// Trace is a loaded trace: requests in columns, sorted by (arrival, source line), and the prefix forest that they
// share. It is immutable and may be shared by any number of runs.
type Trace struct {
	Name   string // the file's base name, or "demo"
	Digest string // "sha256:..." over the canonical content: the same requests give the same digest in any format
	Meta   Meta

	ArrivalNs []int64
	Line      []int64
	Prompt    []int32
	Output    []int32 // Unknown where not said
	MaxTokens []int32 // Unknown where not said
	Leaf      []int32 // forest node at which the identified prefix ends, Unknown without identity
	// Names, as indices into Strings; 0 is "".
	Model, Adapter, Tenant, Session, SLO, PrefixKey []int32
	Strings                                         []string

	Forest Forest

	// Notes are doubts about the trace that belong with every result: unknown identity, output 0 read as 1, ...
	Notes []string

	extra *columns // columns that only writers need: ids, parents, turns, observations
}

// Forest is a path-compressed prefix forest. A node is a run of blocks that is always walked whole: it has one child
// at most unless prompts part there, and no request ends inside it. Roots are keyed by model, adapter and identity
// scope, so different ones never share. A parent comes before its children.
type Forest struct {
	Parent []int32  // -1 at a root
	End    []int32  // prompt tokens from the root to the node's end
	Walks  []int32  // requests that walk the node
	Hash   []uint64 // names the prefix up to the node's end; the same in every run and on every machine
}

// Len returns the number of requests.
func (t *Trace) Len() int { return len(t.ArrivalNs) }

// Identified reports whether the prefix identity of a request is known; a known one may be empty.
func (t *Trace) Identified(row int) bool { return t.Leaf[row] >= 0 || t.extra.empty.at(row) }
