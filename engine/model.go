package engine

import "fmt"

// Model is a transformer's shape, as its config.json tells it. Counts are per model unless said otherwise.
type Model struct {
	Name     string
	Context  int // longest prompt + output that it was made for, tokens: max_position_embeddings
	Layers   int
	Hidden   int
	Heads    int // query heads
	KVHeads  int // 0 with Latent attention
	HeadDim  int
	MLP      int // width of the dense MLP; of all experts that every token takes, in mixture-of-experts layers
	Vocab    int
	Tied     bool  // the LM head is the embedding
	Weight   DType // of attention, MLP and experts; embedding and LM head are BF16
	Experts  Experts
	Latent   Latent
	Window   int  // tokens that some layers attend to; 0: all layers attend to all
	Windowed int  // layers that attend to the window
	Unsorted bool // its generation_config.json asks for neither top-k nor top-p, so that vLLM sorts no logits unless a request asks
}

// Experts are the routed experts of a layer. The zero value is a dense model.
type Experts struct {
	N        int // in a layer
	PerToken int
	Width    int
	Dense    int   // leading layers without experts
	DenseMLP int   // width of the MLP there
	Weight   DType // 0: the model's
}

// Latent is multi-head latent attention (https://arxiv.org/abs/2405.04434): one compressed vector a token and layer
// for all heads, so that tensor parallelism does not split the cache. The zero value is attention with KV heads.
type Latent struct {
	QRank, KVRank    int // of the compressed query, 0 if it is not compressed, and of the compressed key and value
	NoPE, RoPE, Head int // dimensions of a head: query-key without and with position, value
}

// DType is how a weight is stored.
type DType int

const (
	unset DType = iota
	BF16
	FP8
	MXFP4 // 4 bits and a shared 8-bit exponent for 32 weights; multiplied as BF16
)

// String returns the name in small letters.
func (t DType) String() string {
	return [...]string{unset: "unset", BF16: "bf16", FP8: "fp8", MXFP4: "mxfp4"}[t]
}

// Bytes is the storage of one weight.
func (t DType) Bytes() float64 { return [...]float64{unset: 0, BF16: 2, FP8: 1, MXFP4: 0.53125}[t] }

// bf16 is the size of a value in the KV cache and in what GPUs exchange.
const bf16 = 2

func (m Model) latent() bool { return m.Latent.KVRank > 0 }

// moe is the number of layers with experts.
func (m Model) moe() int {
	if m.Experts.N == 0 {
		return 0
	}
	return m.Layers - m.Experts.Dense
}

// ExpertWeight is how the experts' weights are stored.
func (m Model) ExpertWeight() DType {
	if m.Experts.Weight != unset {
		return m.Experts.Weight
	}
	return m.Weight
}

// AttentionParams is the weights of all layers' attention.
func (m Model) AttentionParams() int64 {
	h, heads := int64(m.Hidden), int64(m.Heads)
	if m.latent() {
		l := m.Latent
		q := h * heads * int64(l.NoPE+l.RoPE)
		if l.QRank > 0 {
			q = h*int64(l.QRank) + int64(l.QRank)*heads*int64(l.NoPE+l.RoPE)
		}
		kv := h*int64(l.KVRank+l.RoPE) + int64(l.KVRank)*heads*int64(l.NoPE+l.Head)
		return int64(m.Layers) * (q + kv + heads*int64(l.Head)*h)
	}
	return int64(m.Layers) * (2*h*heads + 2*h*int64(m.KVHeads)) * int64(m.HeadDim)
}

// MLPParams is the weights that every token passes besides attention: SwiGLU's three matrices, and the routers.
func (m Model) MLPParams() int64 {
	h, e := int64(m.Hidden), m.Experts
	return int64(m.Layers-e.Dense)*3*h*int64(m.MLP) + int64(e.Dense)*3*h*int64(e.DenseMLP) +
		int64(m.moe())*h*int64(e.N)
}

// ExpertParams is the weights of one expert in all layers.
func (m Model) ExpertParams() int64 {
	return int64(m.moe()) * 3 * int64(m.Hidden) * int64(m.Experts.Width)
}

// HeadParams is the weights of the LM head.
func (m Model) HeadParams() int64 { return int64(m.Vocab) * int64(m.Hidden) }

// Params is all weights, norms and biases left out.
func (m Model) Params() int64 {
	embedding := m.HeadParams()
	if m.Tied {
		embedding = 0
	}
	return m.AttentionParams() + m.MLPParams() + int64(m.Experts.N)*m.ExpertParams() + m.HeadParams() + embedding
}

// ActiveParams is the weights that one token passes, without the embedding.
func (m Model) ActiveParams() int64 {
	return m.AttentionParams() + m.MLPParams() + int64(m.Experts.PerToken)*m.ExpertParams() + m.HeadParams()
}

// WeightBytes is the memory that all weights take.
func (m Model) WeightBytes() float64 {
	layers := float64(m.AttentionParams() + m.MLPParams())
	experts := float64(int64(m.Experts.N) * m.ExpertParams())
	rest := float64(m.Params()) - layers - experts
	return float64(m.Weight.Bytes()*layers) + float64(m.ExpertWeight().Bytes()*experts) + float64(bf16*rest)
}

// KVBytes is the KV cache's bytes for one token in all layers, in BF16.
func (m Model) KVBytes() int64 {
	if m.latent() {
		return int64(m.Layers) * int64(m.Latent.KVRank+m.Latent.RoPE) * bf16
	}
	return 2 * int64(m.Layers) * int64(m.KVHeads) * int64(m.HeadDim) * bf16
}

// KVBytesPerGPU is the part of KVBytes that each of tp GPUs keeps. Heads are not cut, so the cache is split in
// KVHeads parts at most.
func (m Model) KVBytesPerGPU(tp int) float64 {
	return float64(m.KVBytes()) / float64(max(1, min(tp, m.KVHeads)))
}

// Split says why m cannot run on tp GPUs.
func (m Model) Split(tp int) error {
	if tp < 1 {
		return fmt.Errorf("tp is %d, want at least 1", tp)
	}
	if m.Heads%tp != 0 {
		return fmt.Errorf("%s has %d attention heads, want a tp that divides them, not %d", m.Name, m.Heads, tp)
	}
	return nil
}
