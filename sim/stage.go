package sim

import (
	"fmt"
	"slices"
	"sync"

	"github.com/seed-2cee110a/triage/engine"
	"github.com/seed-2cee110a/triage/policies"
	"github.com/seed-2cee110a/triage/traces"
)

// Stage is a trace and a cluster made ready: what all runs on them share. It is immutable and safe for concurrent use.
type Stage struct {
	cfg      Config // every default filled in
	trace    *traces.Trace
	layout   *engine.Layout
	cost     engine.CostModel
	note     CostNote
	arrivals []engine.Time
	replicas []policies.Replica
	warnings []string
	build    func() (replica, error) // one replica, idle and cold
	idle     *sync.Pool              // workshops of runs that are over

	everyScrape bool // take reports that nobody will look at, too: a test aid
}

// Prepare checks a configuration and fills in its defaults.
func Prepare(cfg Config, t *traces.Trace) (*Stage, error) {
	if err := cfg.Check(); err != nil {
		return nil, err
	}
	if t.Len() == 0 {
		return nil, fmt.Errorf("the trace has no requests")
	}
	if cfg.Limit == 0 || cfg.Limit > t.Len() {
		cfg.Limit = t.Len()
	}
	s := &Stage{trace: t, idle: new(sync.Pool)}
	hw, err := cfg.hardware()
	if err != nil {
		return nil, err
	}
	s.cfg, s.cost, s.note = hw.cfg, hw.cost, hw.note
	if s.arrivals, err = arrivals(&s.cfg, t); err != nil {
		return nil, err
	}
	f := engine.Forest{Parent: t.Forest.Parent, End: t.Forest.End, Walks: t.Forest.Walks}
	s.layout = engine.NewLayout(&f, s.cfg.Engine.BlockSize)
	s.build = s.engine
	for i := range s.cfg.Replicas {
		name := fmt.Sprintf("r%d", i)
		s.replicas = append(s.replicas, policies.Replica{Name: name, Salt: policies.Salt(name)})
	}
	s.warnings = s.doubts(hw.context)
	return s, nil
}

// Config returns the configuration with every default filled in.
func (s *Stage) Config() Config { return s.cfg }

// doubts returns what makes results on this trace doubtful.
func (s *Stage) doubts(context int) []string {
	w := append([]string(nil), s.trace.Notes...)
	var unknown, adapters, long int
	for row := range s.cfg.Limit {
		if s.trace.Output[row] == traces.Unknown {
			unknown++
		}
		if s.trace.Strings[s.trace.Adapter[row]] != "" {
			adapters++
		}
		if int(s.trace.Prompt[row])+int(max(1, s.trace.Output[row])) > context {
			long++
		}
	}
	if long > 0 && s.cfg.Engine.MaxModelLen == 0 {
		w = append(w, fmt.Sprintf("%d of %d requests are longer than the %d tokens %s was made for, and are served all the same; max-model-len rejects them",
			long, s.cfg.Limit, context, s.cfg.Model))
	}
	if names := s.models(); len(names) > 1 {
		w = append(w, fmt.Sprintf("requests name %d models (%s, ...): all are played on %s, with caches kept apart", len(names), names[0], s.cfg.Model))
	}
	if unknown > 0 {
		w = append(w, fmt.Sprintf("%d of %d requests have no output length in the trace and are played as one token", unknown, s.cfg.Limit))
	}
	if adapters > 0 {
		w = append(w, fmt.Sprintf("%d of %d requests name an adapter: their prefixes are kept apart, but loading adapters is not simulated", adapters, s.cfg.Limit))
	}
	return w
}

// models returns the names of models in the trace, in order of appearance.
func (s *Stage) models() []string {
	var names []string
	for row := range s.cfg.Limit {
		if name := s.trace.Strings[s.trace.Model[row]]; name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}
