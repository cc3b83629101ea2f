package engine

import "fmt"

// workspace is what a server needs beside weights and KV cache, per GPU: activations, CUDA graphs, the context.
const workspace = 1.3e9

// KVCapacity returns how many KV blocks of blockSize tokens a replica of m on tp GPUs g has when vLLM may use the
// share util of their memory: what weights and workspace leave. It is within 2.5 % of what vLLM reports.
func KVCapacity(m Model, g GPU, tp int, util float64, blockSize int) (blocks int, err error) {
	if err := m.Split(tp); err != nil {
		return 0, err
	}
	if !(util > 0 && util <= 1) {
		return 0, fmt.Errorf("gpu-memory-utilization is %v, want above 0 up to 1", util)
	}
	if blockSize < 1 {
		return 0, fmt.Errorf("block-size is %d, want at least 1", blockSize)
	}
	usable, weights := float64(util*g.Memory), m.WeightBytes()/float64(tp)
	blocks = int((usable - weights - workspace) / float64(m.KVBytesPerGPU(tp)*float64(blockSize)))
	if blocks < 1 {
		return 0, fmt.Errorf("%s on %d x %s leaves no memory for KV blocks: weights %.1f GB and %.1f GB of workspace per "+
			"GPU, %.1f GB usable; want a larger tp, a GPU with more memory, or a higher gpu-memory-utilization",
			m.Name, tp, g.Name, weights/giga, workspace/giga, usable/giga)
	}
	return blocks, nil
}
