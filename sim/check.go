package sim

import (
	"fmt"
	"math"
	"strings"
	"time"
)

// longest bounds the durations of a configuration.
const longest = 24 * time.Hour

// Costs are the names that Config.Cost takes.
var Costs = []string{"physical", "unit"}

// Check says what is wrong with a configuration, by flag name. What depends on model and GPU is checked by Prepare.
func (c Config) Check() error {
	switch {
	case c.Replicas < 1 || c.Replicas > 4096:
		return fmt.Errorf("replicas is %d, want 1 to 4096", c.Replicas)
	case c.TP < 1 || c.TP > 64:
		return fmt.Errorf("tp is %d, want 1 to 64", c.TP)
	case c.KVTokens < 0:
		return fmt.Errorf("kv-tokens is %d, want 0 (derive it) or more", c.KVTokens)
	case !(c.GPUUtil > 0 && c.GPUUtil <= 1):
		return fmt.Errorf("gpu-memory-utilization is %v, want above 0 up to 1", c.GPUUtil)
	case c.BlocksOverride < 0:
		return fmt.Errorf("num-gpu-blocks-override is %d, want 0 (none) or more", c.BlocksOverride)
	case c.Signals.Scrape < 0 || c.Signals.Scrape > longest || c.Signals.Scrape > 0 && c.Signals.Scrape < time.Millisecond:
		return fmt.Errorf("scrape interval is %v, want 1ms to %v, or 0 for live signals", c.Signals.Scrape, longest)
	case c.Gateway.MaxQueue < 0:
		return fmt.Errorf("gateway-queue is %d, want 0 (no limit) or more", c.Gateway.MaxQueue)
	case c.Gateway.Deadline < 0 || c.Gateway.Deadline > longest:
		return fmt.Errorf("gateway-deadline is %v, want 0 to %v", c.Gateway.Deadline, longest)
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
	}
	return nil
}

// ParseSignals reads "live" or "scrape=DUR".
func ParseSignals(text string) (Signals, error) {
	if text == "live" {
		return Signals{}, nil
	}
	value, ok := strings.CutPrefix(text, "scrape=")
	if !ok {
		return Signals{}, fmt.Errorf("signals is %q, want live or scrape=DURATION, such as scrape=5s", text)
	}
	d, err := time.ParseDuration(value)
	if err != nil || d <= 0 {
		return Signals{}, fmt.Errorf("signals has the interval %q, want a duration above 0 with its unit, such as 500ms or 5s", value)
	}
	return Signals{Scrape: d}, nil
}

// String returns what ParseSignals reads.
func (s Signals) String() string {
	if s.Scrape == 0 {
		return "live"
	}
	return "scrape=" + s.Scrape.String()
}
