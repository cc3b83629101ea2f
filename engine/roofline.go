package engine

import "math"

// Efficiencies and overheads, in shares and seconds, fitted to the measurements.
const (
	computeShare   = 0.713   // of the peak, that matrices reach
	attentionShare = 0.7     // of that, that attention reaches
	linkShare      = 0.51    // of the link
	reduceLatency  = 0.5e-6  // an all-reduce
	launchLayer    = 52.4e-6 // a layer
	launchExperts  = 42.3e-6 // a layer with experts, besides
	launchStep     = 159e-6  // a step
	launchSequence = 16.1e-6 // a decoding sequence
)

// memoryShare is what weights and KV cache reach of the memory's bandwidth.
func (c class) memoryShare() (weights, kv float64) {
	switch c {
	case ampere:
		return 0.805, 0.306
	case ada:
		return 0.869, 0.543
	}
	return 0.90, 0.904 // Hopper; newer ones until they are measured
}

// shape is a model on its GPUs, as rates: the seconds that a byte, a FLOP or a token takes on each of tp GPUs. Each
// product is rounded on its own, so that machines that fuse multiply and add agree with those that do not.
type shape struct {
	m  Model
	tp float64

	byteW, byteKV            float64 // seconds a byte of weights, of KV cache
	flop, flopExpert, flop16 float64 // seconds a FLOP of the dense matrices, of experts, in BF16
	byteLink                 float64 // seconds a byte between GPUs

	full, windowed float64 // layers that attend to everything, to a window
	window         float64 // tokens
}

func newShape(m Model, g GPU, tp int) shape {
	weights, kv := g.class.memoryShare()
	s := shape{
		m:          m,
		tp:         float64(tp),
		byteW:      1 / float64(weights*g.Bandwidth),
		byteKV:     1 / float64(kv*g.Bandwidth),
		flop:       1 / float64(computeShare*g.peak(m.Weight)),
		flopExpert: 1 / float64(computeShare*g.peak(m.ExpertWeight())),
		flop16:     1 / float64(computeShare*g.BF16),
		byteLink:   1 / float64(linkShare*g.Link),
		full:       float64(m.Layers),
	}
	if m.Window > 0 {
		s.window = float64(m.Window)
		s.windowed = float64(m.Windowed)
		s.full -= s.windowed
	}
	return s
}

// peak is the dense FLOP/s with weights of type t.
func (g GPU) peak(t DType) float64 {
	if t == FP8 {
		return g.FP8
	}
	return g.BF16
}

// roofline is a smooth maximum of the seconds that memory and arithmetic take.
func roofline(memory, compute float64) float64 {
	m2, c2 := float64(memory*memory), float64(compute*compute)
	return math.Sqrt(math.Sqrt(float64(m2*m2) + float64(c2*c2)))
}

// tokens is the cost of everything that depends on the tokens of the step alone.
func (s shape) tokens(n int) Time {
	return fromSeconds(s.dense(float64(n)) + s.experts(n) + s.reduce(float64(n)))
}

// dense is attention's and the MLP's matrices.
func (s shape) dense(n float64) float64 {
	params := float64(s.m.AttentionParams()+s.m.MLPParams()) / s.tp
	memory := float64(params*s.m.Weight.Bytes()) * s.byteW
	return roofline(memory, float64(2*params)*float64(n*s.flop))
}

// experts is the routed experts' matrices: the weights of those that at least one of n tokens chose, when all are
// equally likely.
func (s shape) experts(n int) float64 {
	if s.m.moe() == 0 {
		return 0
	}
	e, k := float64(s.m.Experts.N), float64(s.m.Experts.PerToken)
	touched := float64(e * (1 - power(1-k/e, n)))
	params := float64(s.m.ExpertParams()) / s.tp
	memory := float64(touched*params) * float64(s.m.ExpertWeight().Bytes()*s.byteW)
	return roofline(memory, float64(2*k)*float64(params*float64(float64(n)*s.flopExpert)))
}

// power is x to the n, by products only: math.Pow differs between machines.
func power(x float64, n int) float64 {
	y := 1.0
	for ; n > 0; n /= 2 {
		if n%2 == 1 {
			y = float64(y * x)
		}
		x = float64(x * x)
	}
	return y
}

// reduce is two all-reduces a layer of n hidden vectors.
func (s shape) reduce(n float64) float64 {
	if s.tp == 1 {
		return 0
	}
	bytes := float64(n*float64(s.m.Hidden)) * bf16
	wire := float64(float64(2*(s.tp-1)/s.tp) * float64(bytes*s.byteLink))
	return float64(2 * float64(s.m.Layers) * (reduceLatency + wire))
}

// head is the LM head for n sequences.
func (s shape) head(n int) Time {
	params := float64(s.m.HeadParams()) / s.tp
	return fromSeconds(roofline(float64(bf16*params)*s.byteW, float64(2*params)*float64(float64(n)*s.flop16)))
}

// launches is what every step costs.
func (s shape) launches() float64 {
	return launchStep + float64(launchLayer*float64(s.m.Layers)) + float64(launchExperts*float64(s.m.moe()))
}

// kv is what a decoding sequence costs for every token of its context, in the layers that attend to all of it.
// Reading the cache takes longer than the arithmetic, but for latent attention on GPUs with little arithmetic.
func (s shape) kv() float64 {
	bytes := float64(s.m.KVBytesPerGPU(int(s.tp)) * (s.full / (s.full + s.windowed)))
	return max(float64(bytes*s.byteKV), s.decodeAttention())
}

// kvWindowed is the same in the layers that attend to a window. It is charged for a whole window, so that a batch of
// decodes stays a straight line in its KV tokens.
func (s shape) kvWindowed() float64 {
	return float64(s.m.KVBytesPerGPU(int(s.tp))*(s.windowed/(s.full+s.windowed))) * s.byteKV
}

// attention is the arithmetic of one prefill token for one token of its context, in so many layers.
func (s shape) attention(layers float64) float64 {
	perLayer := 4 * float64(s.m.Heads*s.m.HeadDim)
	if s.m.latent() {
		l := s.m.Latent
		perLayer = 2 * float64(s.m.Heads*(l.NoPE+l.RoPE+l.Head))
	}
	return float64(float64(layers*perLayer)*s.flop16) / float64(attentionShare*s.tp)
}

// decodeAttention is the arithmetic of one decoding token for one token of its context. Latent attention works on the
// compressed vectors then.
func (s shape) decodeAttention() float64 {
	if !s.m.latent() {
		return s.attention(s.full)
	}
	l := s.m.Latent
	perLayer := 2 * float64(s.m.Heads*(2*l.KVRank+l.RoPE))
	return float64(float64(s.full*perLayer)*s.flop16) / float64(attentionShare*s.tp)
}
