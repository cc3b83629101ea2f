package engine

// class picks the efficiencies that a GPU's memory reaches under vLLM.
type class int

const (
	hopper class = iota
	ampere
	ada
	blackwell
	cdna3
)

func (c class) String() string {
	return [...]string{"Hopper", "Ampere", "Ada", "Blackwell", "CDNA3"}[c]
}

// GPU is a datasheet: dense peaks (no sparsity), per GPU.
type GPU struct {
	Name       string
	BF16       float64 // FLOP/s
	FP8        float64 // FLOP/s; BF16's where the hardware has no FP8
	Bandwidth  float64 // of its memory, bytes/s
	Memory     float64 // bytes that a process can use
	Link       float64 // to its peers, one way, bytes/s
	Calibrated bool    // the efficiencies were fitted to measurements on this GPU; else they are extrapolated
	class      class
}

// Class names the generation whose memory efficiencies are used; Blackwell and CDNA3 use Hopper's.
func (g GPU) Class() string { return g.class.String() }

const (
	tera = 1e12
	giga = 1e9

	// Memory that a process can use for each GB on the label, which means GiB. It fits the KV blocks that vLLM
	// reported on 80 GB cards and on an L40S. Error correction takes a sixteenth of GDDR memory
	// where it is on; HBM has room of its own for it.
	hbm     = 85.5e9 / 80
	gddrECC = 48.3e9 / 48
)

// gpus are known by name. Figures are from the vendors' datasheets: nvidia.com/en-us/data-center (A10, L4, L40S,
// A100, H100, H200, DGX B200, RTX PRO 6000), the Ada architecture whitepaper (RTX 4090), amd.com (MI300X). H20's are
// as reported by the press: NVIDIA publishes none. A PCIe card's link is PCIe: 32 GB/s for 4.0 x16, 64 for 5.0 x16.
var gpus = []GPU{
	{"A10G", 70 * tera, 70 * tera, 0.600 * tera, 24 * gddrECC, 32 * giga, false, ampere},
	{"A100-80GB", 312 * tera, 312 * tera, 2.039 * tera, 80 * hbm, 300 * giga, true, ampere},
	{"A100-40GB", 312 * tera, 312 * tera, 1.555 * tera, 40 * hbm, 300 * giga, false, ampere},
	{"L4", 121 * tera, 242 * tera, 0.300 * tera, 24 * gddrECC, 32 * giga, false, ada},
	{"L40S", 362 * tera, 733 * tera, 0.864 * tera, 48 * gddrECC, 32 * giga, true, ada},
	{"RTX4090", 165.2 * tera, 330.3 * tera, 1.008 * tera, 24 * hbm, 32 * giga, false, ada},
	{"RTXPRO6000", 503.8 * tera, 1007 * tera, 1.792 * tera, 96 * hbm, 64 * giga, false, blackwell},
	{"H20", 148 * tera, 296 * tera, 4.0 * tera, 96 * hbm, 450 * giga, false, hopper},
	{"H100", 989.5 * tera, 1979 * tera, 3.35 * tera, 80 * hbm, 450 * giga, true, hopper},
	{"H100-PCIe", 756 * tera, 1513 * tera, 2.0 * tera, 80 * hbm, 64 * giga, false, hopper},
	{"H100-NVL", 835 * tera, 1671 * tera, 3.9 * tera, 94 * hbm, 300 * giga, false, hopper},
	{"H200", 989.5 * tera, 1979 * tera, 4.8 * tera, 141 * hbm, 450 * giga, false, hopper},
	{"B200", 2250 * tera, 4500 * tera, 8.0 * tera, 180 * hbm, 900 * giga, false, blackwell},
	{"MI300X", 1307 * tera, 2615 * tera, 5.3 * tera, 192 * hbm, 448 * giga, false, cdna3},
}

// LookupGPU returns the GPU called name, in any case of letters.
func LookupGPU(name string) (GPU, error) {
	i, err := lookup("gpu", name, len(gpus), func(i int) string { return gpus[i].Name })
	if err != nil {
		return GPU{}, err
	}
	return gpus[i], nil
}

// GPUs returns the known GPUs' names.
func GPUs() []string {
	names := make([]string, len(gpus))
	for i, g := range gpus {
		names[i] = g.Name
	}
	return names
}
