package engine

import "math"

// shape is a model on its GPUs, as rates: the seconds that a byte, a FLOP or a token takes on each of tp GPUs. Each
// product is rounded on its own, so that machines that fuse multiply and add agree with those that do not.
type shape struct {
	c  Coefficients
	m  Model
	tp float64

	byteW, byteKV            float64 // seconds a byte of weights, of KV cache
	flop, flopExpert, flop16 float64 // seconds a FLOP of the dense matrices, of experts, in BF16
	flopAttention            float64 // likewise of attention
	byteMemory               float64 // seconds a byte at full bandwidth
	byteLink, byteBulk       float64 // seconds a byte between GPUs, in short and in long messages

	full, windowed float64 // layers that attend to everything, to a window
	window         float64 // tokens
}

func (c Coefficients) shape(m Model, g GPU, tp int) shape {
	share := c.memory(g.class)
	s := shape{
		c:             c,
		m:             m,
		tp:            float64(tp),
		byteW:         1 / float64(share.Weights*g.Bandwidth),
		byteKV:        1 / float64(share.KV*g.Bandwidth),
		flop:          1 / c.compute(g, m.Weight),
		flopExpert:    1 / c.compute(g, m.ExpertWeight()),
		flop16:        1 / float64(c.Compute*g.BF16),
		flopAttention: 1 / float64(c.Attention*g.BF16),
		byteMemory:    1 / g.Bandwidth,
		byteLink:      1 / float64(c.Link*g.Link),
		byteBulk:      1 / float64(c.LinkBulk*g.Link),
		full:          float64(m.Layers),
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

// shortReduce is the longest message, bytes, that vLLM reduces with kernels of its own, tuned for latency; NCCL takes the
// longer ones (https://github.com/vllm-project/vllm, custom_all_reduce.py, max_size).
const shortReduce = 8 << 20

// reduce is two all-reduces a layer of n hidden vectors. In a ring every GPU sends 2(tp-1)/tp of a message.
func (s shape) reduce(n float64) float64 {
	if s.tp == 1 {
		return 0
	}
	bytes := float64(n*float64(s.m.Hidden)) * bf16
	wire := max(float64(min(bytes, shortReduce)*s.byteLink), float64(bytes*s.byteBulk))
	wire = float64(float64(2*(s.tp-1)/s.tp) * wire)
	return float64(2 * float64(s.m.Layers) * (float64(s.c.Reduce*doublings(s.tp)) + wire))
}

// doublings is how often tp GPUs are two groups that exchange what they have: its base-2 logarithm, rounded up.
func doublings(tp float64) float64 {
	n := 0.0
	for ; tp > 1; tp /= 2 {
		n++
	}
	return n
}

// head is the LM head for n sequences, and the sampling of their next tokens: top-k and top-p sort the vocabulary. Every
// GPU samples from all of it, so that more GPUs do not help.
func (s shape) head(n int) Time {
	params := float64(s.m.HeadParams()) / s.tp
	t := roofline(float64(bf16*params)*s.byteW, float64(2*params)*float64(float64(n)*s.flop16))
	if !s.m.Unsorted {
		t += float64(float64(float64(n)*float64(s.m.Vocab)) * float64(s.c.Sample*s.byteMemory))
	}
	return fromSeconds(t)
}

// launches is what every step costs.
func (s shape) launches() float64 {
	t := s.c.Step + float64(s.c.Layer*float64(s.m.Layers)) + float64(s.c.Experts*float64(s.m.moe()))
	if s.m.Weight == FP8 {
		t += float64(s.c.Quantise * float64(s.m.Layers))
	}
	return t
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
	return float64(float64(layers*perLayer)*s.flopAttention) / s.tp
}

// decodeAttention is the arithmetic of one decoding token for one token of its context. Latent attention works on the
// compressed vectors then.
func (s shape) decodeAttention() float64 {
	if !s.m.latent() {
		return s.attention(s.full)
	}
	l := s.m.Latent
	perLayer := 2 * float64(s.m.Heads*(2*l.KVRank+l.RoPE))
	return float64(float64(s.full*perLayer)*s.flopAttention) / s.tp
}
