package engine

import (
	"strings"
	"testing"
)

func TestKVCapacityMatchesMeasured(t *testing.T) {
	known := map[string]bool{}
	for _, row := range fidelity(t, "experiments.csv") {
		key := strings.Join([]string{row["model"], row["hardware"], row["tp"], row["kv_blocks"]}, " ")
		if row["kv_blocks"] == "" || known[key] {
			continue
		}
		known[key] = true
		m, err := LookupModel(row["model"])
		if err != nil {
			t.Fatal(err)
		}
		g, err := LookupGPU(row["hardware"])
		if err != nil {
			t.Fatal(err)
		}
		got, err := KVCapacity(m, g, int(number(t, row["tp"])), number(t, row["gpu_mem_util"]), int(number(t, row["block_size"])))
		if err != nil {
			t.Fatal(err)
		}
		near(t, "KV blocks of "+key, float64(got), number(t, row["kv_blocks"]), 0.025)
	}
	if len(known) < 5 {
		t.Errorf("%d known capacities, want at least 5", len(known))
	}
}

func TestKVCapacityErrors(t *testing.T) {
	big, _ := LookupModel("meta-llama/Llama-3.1-70B-Instruct")
	h100, _ := LookupGPU("H100")
	for _, c := range []struct {
		name  string
		tp    int
		util  float64
		block int
		want  string
	}{
		{"does not fit", 1, 0.9, 16, "want a larger tp, a GPU with more memory, or a higher gpu-memory-utilization"},
		{"heads", 3, 0.9, 16, "has 64 attention heads, want a tp that divides them, not 3"},
		{"no gpus", 0, 0.9, 16, "tp is 0, want at least 1"},
		{"per cent", 4, 90, 16, "gpu-memory-utilization is 90, want above 0 up to 1"},
		{"block", 4, 0.9, 0, "block-size is 0, want at least 1"},
	} {
		_, err := KVCapacity(big, h100, c.tp, c.util, c.block)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want ... %s", c.name, err, c.want)
		}
	}
}

// More memory, more GPUs or smaller blocks never give fewer blocks.
func TestKVCapacityGrows(t *testing.T) {
	h100, _ := LookupGPU("H100")
	for _, m := range models {
		last := 0
		for _, tp := range []int{1, 2, 4, 8} {
			n, err := KVCapacity(m, h100, tp, 0.9, 16)
			if err != nil {
				continue
			}
			more, _ := KVCapacity(m, h100, tp, 0.95, 16)
			smaller, _ := KVCapacity(m, h100, tp, 0.9, 8)
			if n < last || more <= n || smaller < 2*n {
				t.Errorf("%s tp %d: %d blocks, %d with half the GPUs, %d with more of the memory, %d of half the size",
					m.Name, tp, n, last, more, smaller)
			}
			last = n
		}
	}
}
