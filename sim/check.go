package sim

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

// longest bounds the durations of a configuration.
const longest = 24 * time.Hour

// mostReplicas bounds the replicas of a cluster.
const mostReplicas = 4096

// Costs are the names that Config.Cost takes.
var Costs = []string{"physical", "unit"}

// Check says what is wrong with a configuration, by flag name. What depends on model and GPU is checked by Prepare.
func (c Config) Check() error {
	switch {
	case len(c.Pools) > 0:
		return c.checkPools()
	case c.Replicas < 1 || c.Replicas > mostReplicas:
		return fmt.Errorf("replicas is %d, want 1 to %d", c.Replicas, mostReplicas)
	case c.TP < 1 || c.TP > 64:
		return fmt.Errorf("tp is %d, want 1 to 64", c.TP)
	case c.KVTokens < 0:
		return fmt.Errorf("kv-tokens is %d, want 0 (derive it) or more", c.KVTokens)
	case !(c.GPUUtil > 0 && c.GPUUtil <= 1):
		return fmt.Errorf("gpu-memory-utilization is %v, want above 0 up to 1", c.GPUUtil)
	case c.BlocksOverride < 0:
		return fmt.Errorf("num-gpu-blocks-override is %d, want 0 (none) or more", c.BlocksOverride)
	case !(c.Speed > 0) || math.IsInf(c.Speed, 0):
		return fmt.Errorf("speed is %v, want more than 0", c.Speed)
	case c.Ties != Keep && c.Ties != Spread:
		return fmt.Errorf("ties is %q, want %s or %s", c.Ties, Keep, Spread)
	case c.CostScale != 0 && !(c.CostScale >= leastScale && c.CostScale <= mostScale):
		return fmt.Errorf("cost-scale is %v, want %v to %v", c.CostScale, leastScale, mostScale)
	case c.Limit < 0:
		return fmt.Errorf("limit is %d, want 0 (all) or more", c.Limit)
	case c.CostFile == nil && c.Cost != Costs[0] && c.Cost != Costs[1]:
		return fmt.Errorf("cost is %q, want %s, or a cost file", c.Cost, strings.Join(Costs, " or "))
	case c.Sessions != "" && c.Sessions != Open && c.Sessions != Closed:
		return fmt.Errorf("sessions is %q, want %s or %s", c.Sessions, Open, Closed)
	case c.ReuseOutput != "" && !slices.Contains(ReuseOutputs, c.ReuseOutput):
		return fmt.Errorf("reuse-output is %q, want auto, true or false", c.ReuseOutput)
	case c.AdapterSignal != "" && !slices.Contains(AdapterSignals, c.AdapterSignal):
		return fmt.Errorf("adapter-signal is %q, want active or resident", c.AdapterSignal)
	case c.Think < 0 || c.Think > longest:
		return fmt.Errorf("think is %v, want 0 (as the trace says) to %v", c.Think, longest)
	case c.Think > 0 && c.Sessions != Closed:
		return fmt.Errorf("think is %v, but open sessions arrive as logged; want closed sessions, or no think", c.Think)
	}
	for _, check := range []func() error{c.Signals.check, c.Routers.check, c.Gateway.check, c.checkFaults} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}
