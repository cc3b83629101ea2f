package sim

import (
	"strings"
	"testing"
)

// flat lists an environment's dotted names.
func flat(prefix string, env map[string]any, into map[string]float64, t *testing.T) {
	for name, v := range env {
		switch v := v.(type) {
		case map[string]any:
			flat(prefix+name+".", v, into, t)
		case float64:
			into[prefix+name] = v
		default:
			t.Errorf("%s%s is a %T, want a float64", prefix, name, v)
		}
	}
}

// EnvNames and Env list the same names.
func TestEnvNames(t *testing.T) {
	have := map[string]float64{}
	flat("", Summary{}.Env(), have, t)
	listed := 0
	for _, name := range EnvNames() {
		names := []string{name}
		if field, ok := strings.CutPrefix(name, "TIME."); ok {
			names = []string{"ttft." + field, "tpot." + field, "e2e." + field, "gateway_wait." + field}
		}
		for _, n := range names {
			listed++
			if _, ok := have[n]; !ok {
				t.Errorf("EnvNames lists %s, Env does not have it", n)
			}
		}
	}
	if listed != len(have) {
		t.Errorf("EnvNames lists %d names, Env has %d", listed, len(have))
	}
}

// Every name carries its own number.
func TestEnvValues(t *testing.T) {
	s := Summary{Requests: 10, Completed: 8, Rejected: 2, TTFT: Quantiles{Mean: 1, P50: 2, P90: 3, P95: 4, P99: 5, Max: 6},
		TPOT: Quantiles{P90: 7}, E2E: Quantiles{P90: 9}, GatewayWait: Quantiles{P90: 11}, HitRatio: 0.5, Imbalance: 1.5, Held: 3,
		Preemptions: 12, OutputPerS: 13, RequestsPerS: 14, Makespan: 15}
	have := map[string]float64{}
	flat("", s.Env(), have, t)
	for name, want := range map[string]float64{"ttft.mean": 1, "ttft.p50": 2, "ttft.p90": 3, "ttft.p95": 4, "ttft.p99": 5,
		"ttft.max": 6, "tpot.p90": 7, "e2e.p90": 9, "gateway_wait.p90": 11, "hit_ratio": 0.5, "imbalance": 1.5, "requests": 10,
		"completed": 8, "rejected": 2, "rejected_ratio": 0.2, "held": 3, "preemptions": 12, "output_tokens_per_s": 13,
		"requests_per_s": 14, "makespan": 15} {
		if have[name] != want {
			t.Errorf("%s is %v, want %v", name, have[name], want)
		}
	}
}
