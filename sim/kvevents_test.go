package sim

import (
	"testing"
)

// A router that is told at once what the engines store and evict believes what is so, but for what is evicted between its
// decision and the admission (1.02 of the true hits here). One that is told late believes in blocks that are gone (1.27), and
// so does one that only remembers what it sent and takes the cache for larger than it is (1.07).
func TestEventsAreTheTruth(t *testing.T) {
	tr := generated(t, "near-capacity", 800)
	cfg := Default()
	cfg.Replicas, cfg.KVTokens = 8, 307_328 // the prompts do not all fit
	believed := map[string]float64{}
	for _, p := range []string{"score:fit=off,prefix=events", "score:fit=off,prefix=events,delay=20s", "score:fit=off,capacity=20"} {
		r, err := Run(cfg, spec(t, p), tr)
		if err != nil {
			t.Fatal(err)
		}
		s := r.Summary()
		believed[p] = s.Believed / s.HitRatio
	}
	for p, want := range map[string][2]float64{"score:fit=off,prefix=events": {0.97, 1.03}, "score:fit=off,prefix=events,delay=20s": {1.15, 2}, "score:fit=off,capacity=20": {1.05, 2}} {
		if got := believed[p]; got < want[0] || got > want[1] {
			t.Errorf("%s: believes in %.3f of the true hits, want %v to %v", p, got, want[0], want[1])
		}
	}
}
