package sim

import (
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/seed-2cee110a/triage/engine"
	"github.com/seed-2cee110a/triage/traces"
)

// restless is an engine that promises nothing about its load.
type restless struct{ *engine.Engine }

func (restless) Still() engine.Time { return 0 }

// allAsked returns the stage with engines of which every router asks every one at every look.
func allAsked(s *Stage) *Stage {
	c := *s
	c.idle = new(sync.Pool)
	c.build = func(i int) (replica, error) {
		e, err := s.engine(i)
		return restless{e.(*engine.Engine)}, err
	}
	return &c
}

// Asking only the replicas whose numbers can have changed is asking all of them: whatever is dispatched, evicted, slowed
// down, crashed or loaded in between, routers decide alike.
func TestAskingOnlyTheChangedChangesNothing(t *testing.T) {
	for range 10 { // an arrival has to fall into the step in which a replica came back
		rapid.Check(t, askOnlyTheChanged)
	}
}

func askOnlyTheChanged(t *rapid.T) {
	cfg, _ := anyCase(t)
	cfg.Signals, cfg.Decisions = Signals{}, true
	cfg.Engine.MaxLoRAs = rapid.IntRange(0, 2).Draw(t, "slots")
	cfg.Engine.AdapterLoadTime = engine.Millisecond
	tr := anyTraceOf(t, func(r *traces.Record) { r.Adapter = rapid.SampledFrom([]string{"", "x", "y", "z"}).Draw(t, "adapter") })
	mishaps(t, &cfg, tr)
	sameOnStages(t, cfg, tr, allAsked)
}
