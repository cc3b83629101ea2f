package engine

import (
	"strings"
	"testing"
)

func TestGPUsMatchFacts(t *testing.T) {
	for _, row := range fidelity(t, "hardware_facts.csv") {
		g, err := LookupGPU(row["hardware"])
		if err != nil {
			t.Error(err)
			continue
		}
		near(t, g.Name+" BF16", g.BF16, tera*number(t, row["bf16_dense_tflops"]), 1e-9)
		near(t, g.Name+" FP8", g.FP8, tera*number(t, row["fp8_dense_tflops"]), 1e-9)
		near(t, g.Name+" bandwidth", g.Bandwidth, tera*number(t, row["hbm_tb_per_s"]), 1e-9)
		near(t, g.Name+" link", g.Link, giga*number(t, row["link_gb_per_s_one_way"]), 1e-9)
		near(t, g.Name+" memory", g.Memory, giga*number(t, row["memory_gb"]), 0.08)
	}
}

// What the calibrated cards leave to a process, by the KV blocks that vLLM reported on them.
func TestGPUMemory(t *testing.T) {
	for name, want := range map[string]float64{"H100": 85.5e9, "A100-80GB": 85.5e9, "L40S": 48.3e9} {
		g, err := LookupGPU(name)
		if err != nil {
			t.Fatal(err)
		}
		near(t, name+" memory", g.Memory, want, 1e-9)
	}
}

func TestPeak(t *testing.T) {
	g, _ := LookupGPU("H100")
	for w, want := range map[DType]float64{BF16: 989.5e12, FP8: 1979e12, MXFP4: 989.5e12} {
		if got := g.peak(w); got != want {
			t.Errorf("peak with weights of %v bytes is %g, want %g", w.Bytes(), got, want)
		}
	}
}

// The three GPUs that measurements were made on, and no others, are called calibrated.
func TestCalibrated(t *testing.T) {
	var got []string
	for _, g := range gpus {
		if g.Calibrated {
			got = append(got, g.Name)
		}
	}
	if want := "A100-80GB L40S H100"; strings.Join(got, " ") != want {
		t.Errorf("calibrated are %v, want %s", got, want)
	}
}
