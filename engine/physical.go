package engine

import "fmt"

// Physical is a cost model from first principles: the work of a step over what the GPUs can do, times efficiencies
// fitted to measurements of vLLM on H100, A100-80GB and L40S. On other GPUs it is an extrapolation.
//
// The step is the sum of
//
//   - the matrices of attention and MLP, of the experts touched and of the LM head, each on a smooth roofline;
//   - the attention of prefill tokens to their context, or the reading of that context, whichever is longer;
//   - the KV cache that decoding sequences read;
//   - all-reduces between GPUs;
//   - launches a layer, a step and a decoding sequence.
//
// All of it is integers once the model is built, so a step costs the same on every machine and in whatever order the
// parts are added.
type Physical struct {
	tokens []Time // by decode + prefill tokens: matrices and all-reduces
	head   []Time // by sequences: the LM head
	shape  shape  // for what lies beyond the tables

	perStep    Time
	perDecode  Time // every decoding sequence
	perPrefill Time // every prefill token
	perKV      Time // every KV token read
	perContext Time // every prefill token, for every token of its context
	maxContext int64
}

// longest bounds the attention of a step, so that sums of times cannot overflow: 26 days.
const longest = Never / 4

var _ CostModel = (*Physical)(nil)

// NewPhysical returns the cost of m on tp GPUs g. Steps of up to maxTokens tokens are tabulated.
func NewPhysical(m Model, g GPU, tp, maxTokens int) (*Physical, error) {
	return fitted.Physical(m, g, tp, maxTokens)
}

// Physical is NewPhysical with other coefficients.
func (c Coefficients) Physical(m Model, g GPU, tp, maxTokens int) (*Physical, error) {
	if err := m.Split(tp); err != nil {
		return nil, err
	}
	if maxTokens < 1 {
		return nil, fmt.Errorf("max-num-batched-tokens is %d, want at least 1", maxTokens)
	}
	s := c.shape(m, g, tp)
	p := &Physical{
		shape:      s,
		perStep:    fromSeconds(s.launches()),
		perDecode:  fromSeconds(float64(s.window * s.kvWindowed())),
		perPrefill: fromSeconds(float64(s.window * s.attention(s.windowed))),
		perKV:      fromSeconds(s.kv()),
		perContext: fromSeconds(s.attention(s.full)),
		tokens:     make([]Time, maxTokens+1),
		head:       make([]Time, maxTokens+1),
	}
	p.maxContext = int64(longest / max(p.perContext, p.perKV, 1))
	for n := range p.tokens {
		p.tokens[n], p.head[n] = s.tokens(n), s.head(n)
	}
	return p, nil
}

// Step returns the duration of a step.
func (p *Physical) Step(b Batch) Time {
	t := p.perStep + p.tokenCost(b.Decode+b.PrefillTokens) + p.headCost(b.Decode+b.PrefillSeqs) +
		p.perDecode*Time(b.Decode) + p.perKV*Time(b.KVTokens)
	if b.PrefillTokens > 0 {
		// The context that is read, exact for one chunk and for chunks alike.
		context := min(b.PrefillContext, p.maxContext)
		n, seqs := int64(b.PrefillTokens), int64(b.PrefillSeqs)
		read := context/n*seqs + context%n*seqs/n // context * seqs / n, which may overflow
		t += p.perPrefill*Time(b.PrefillTokens) + max(p.perContext*Time(context), p.perKV*Time(read))
	}
	return t
}

// Decode returns the parts of a step of n decoding sequences.
func (p *Physical) Decode(n int) (base, slope Time) {
	return p.perStep + p.tokenCost(n) + p.headCost(n) + p.perDecode*Time(n), p.perKV
}

func (p *Physical) tokenCost(n int) Time {
	if n < len(p.tokens) {
		return p.tokens[n]
	}
	return p.shape.tokens(n)
}

func (p *Physical) headCost(n int) Time {
	if n < len(p.head) {
		return p.head[n]
	}
	return p.shape.head(n)
}
