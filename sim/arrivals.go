package sim

import (
	"fmt"
	"math"
	"slices"

	"github.com/seed-2cee110a/triage/engine"
	"github.com/seed-2cee110a/triage/traces"
)

// lastArrival is the latest arrival that leaves room for the work after it.
const lastArrival = engine.Never / 2

// arrivals returns when the requests arrive, in trace order, with ties and speed applied.
func arrivals(cfg *Config, t *traces.Trace) ([]engine.Time, error) {
	ns := slices.Clone(t.ArrivalNs[:cfg.Limit])
	if cfg.Ties == Spread {
		spread(ns, cfg.Seed)
	}
	at := make([]engine.Time, len(ns))
	for i, n := range ns {
		x := float64(n) * 1000 / cfg.Speed
		if cfg.Speed == 1 && n <= int64(lastArrival)/1000 {
			at[i] = engine.Time(n) * engine.Nanosecond
			continue
		}
		if !(x >= 0 && x <= float64(lastArrival)) {
			return nil, fmt.Errorf("request %d arrives at %.0f s, want at most %.0f s (use speed to shorten the trace)",
				i+1, float64(n)/1e9/cfg.Speed, lastArrival.Seconds())
		}
		at[i] = engine.Time(math.Round(x))
	}
	return at, nil
}

// spread moves requests with equal arrivals into the gap up to the next distinct arrival, keeping their order. The last
// group takes the gap before it.
func spread(ns []int64, seed uint64) {
	gap := int64(0)
	for lo := 0; lo < len(ns); {
		hi := lo + 1
		for hi < len(ns) && ns[hi] == ns[lo] {
			hi++
		}
		if hi < len(ns) {
			gap = ns[hi] - ns[lo]
		}
		for i := lo + 1; i < hi; i++ {
			ns[i] += int64(unit(seed, uint64(i), tieStream) * float64(gap))
		}
		slices.Sort(ns[lo:hi])
		lo = hi
	}
}
