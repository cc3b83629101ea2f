package engine

// Coefficients are what datasheets and a model's shape do not say of a server: what GPUs reach of their peaks, and
// overheads. Each has a meaning of its own; none belongs to a model or an experiment.
type Coefficients struct {
	Compute   float64 // share of the peak that matrices reach in BF16
	Compute8  float64 // likewise in FP8
	Attention float64 // share of the peak in BF16 that attention reaches
	Link      float64 // share of the link that short all-reduces reach
	LinkBulk  float64 // likewise long ones
	Hopper    Memory
	Ampere    Memory
	Ada       Memory
	Reduce    float64 // s an all-reduce, for every doubling of the GPUs
	Layer     float64 // s a layer and step: launches and small kernels
	Experts   float64 // s a layer with experts and step, besides: routing
	Quantise  float64 // s a layer with FP8 weights and step, besides: scales of the activations
	Step      float64 // s a step: what is left of the CPU's work when it overlaps the GPU's
	Sample    float64 // bytes a logit where top-k or top-p sort the vocabulary of every sequence
	Server    float64 // s from the arrival of a request to the engine: HTTP, tokens, queues between processes
}

// Memory is what reading reaches of a memory's bandwidth, in shares: weights by matrices, the KV cache by attention.
type Memory struct{ Weights, KV float64 }

// Fitted returns the coefficients in use.
func Fitted() Coefficients { return fitted }

// memory picks a generation's; those that were not measured get Hopper's.
func (c *Coefficients) memory(of class) Memory {
	switch of {
	case ampere:
		return c.Ampere
	case ada:
		return c.Ada
	}
	return c.Hopper
}

// compute is the FLOP/s that matrices with weights of type t reach.
func (c *Coefficients) compute(g GPU, t DType) float64 {
	if t == FP8 {
		return float64(c.Compute8 * g.peak(FP8))
	}
	return float64(c.Compute * g.peak(t))
}

// Overhead is Server in whole microseconds, as Config.OverheadBefore.
func (c *Coefficients) Overhead() Time { return fromSeconds(c.Server) / Microsecond * Microsecond }
