package engine

// Batch is the work of one step.
type Batch struct {
	Decode         int   // sequences that decode one token
	KVTokens       int64 // KV tokens that the decoding sequences read, those being written included
	PrefillSeqs    int   // sequences with a prefill chunk
	PrefillTokens  int   // tokens in those chunks
	PrefillContext int64 // sum over those tokens of their context, themselves included
}

// CostModel says how long steps take.
type CostModel interface {
	// Step returns the duration of a step, more than 0.
	Step(Batch) Time
	// Decode returns base and slope such that a step of n decoding sequences alone takes base + slope*KVTokens,
	// exactly as Step says.
	Decode(n int) (base, slope Time)
}

// Unit is a test aid: every step takes exactly one millisecond.
type Unit struct{}

var _ CostModel = Unit{}

func (Unit) Step(Batch) Time               { return Millisecond }
func (Unit) Decode(int) (base, slope Time) { return Millisecond, 0 }
