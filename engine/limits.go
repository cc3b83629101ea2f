package engine

// Fastest is the least time that a step can take on tp GPUs g: the dense weights and the KV tokens read once at the
// memory's full bandwidth, or the arithmetic on the dense weights at the peak of the data sheet. What a step does beside
// that is left out, so that no server can be faster.
func Fastest(m Model, g GPU, tp int, b Batch) Time {
	params := float64(m.AttentionParams()+m.MLPParams()) / float64(tp)
	bytes := float64(params * m.Weight.Bytes())
	if m.Window == 0 { // else not all of them are read
		bytes += float64(m.KVBytesPerGPU(tp) * float64(b.KVTokens))
	}
	flops := float64(float64(2*params) * float64(b.Decode+b.PrefillTokens))
	return fromSeconds(max(bytes/g.Bandwidth, flops/g.peak(m.Weight)))
}
