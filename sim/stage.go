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
	pools    []ready
	of       []*ready // by replica: its pool
	asks     []ask    // by row; nil if no pools are named: any replica serves any request
	lines    int      // at the gateway
	cut      int      // Config.PrefixBlock
	note     CostNote
	arrivals []engine.Time
	replicas []policies.Replica
	warnings []string
	build    func(replica int) (replica, error) // an idle and cold one
	idle     *sync.Pool                         // workshops of runs that are over

	timeline []incident // faults in order of time
	unborn   []bool     // by replica: it joins later; nil without faults
	turns    *turns     // closed sessions; nil for open ones
	adapters bool       // they play a part
	bound    *bound     // generated tokens that can be hit; nil if none can

	reorders bool // a router's queue may put a request in front of one that came before
	eventful bool // every delivery has an effect elsewhere, so that none may be heard of late

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
	s := &Stage{trace: t, lines: 1, idle: new(sync.Pool)}
	s.cfg = s.fit(cfg)
	if err := s.furnish(); err != nil {
		return nil, err
	}
	var err error
	if s.arrivals, err = arrivals(&s.cfg, t); err != nil {
		return nil, err
	}
	var unserved []string
	if len(s.cfg.Pools) > 0 {
		if unserved, err = s.filter(); err != nil {
			return nil, err
		}
	}
	s.man()
	s.cut = s.cfg.PrefixBlock()
	s.build = s.engine
	if len(s.cfg.Faults) > 0 {
		if err := s.schedule(); err != nil {
			return nil, err
		}
	}
	if s.cfg.Sessions == Closed {
		if err := s.closeSessions(); err != nil {
			return nil, err
		}
	}
	s.reorders = s.cfg.Gateway.reorders()
	s.eventful = s.cfg.Engine.SingleStep || s.cfg.Signals.Push > 0 || len(s.cfg.Gateway.Limits) > 0
	s.warnings = append(s.doubts(), unserved...)
	return s, nil
}

// man puts replicas into the pools.
func (s *Stage) man() {
	for i := range s.pools {
		p := &s.pools[i]
		for _, name := range p.named.ReplicaNames() {
			s.replicas = append(s.replicas, policies.Replica{Name: name, Salt: policies.Salt(name), Model: p.model, Caps: p.caps})
			s.of = append(s.of, p)
		}
	}
}

// filter gives pools and requests what policies go by when they look for replicas that can serve a request, and says
// which requests nobody serves.
func (s *Stage) filter() (unserved []string, err error) {
	o, err := s.offers()
	if err != nil {
		return nil, err
	}
	for i := range s.pools {
		s.pools[i].model, s.pools[i].caps = o.models[i], o.caps[i]
	}
	s.asks = make([]ask, s.cfg.Limit)
	for row := range s.asks {
		s.asks[row] = s.ask(o, row)
	}
	s.lines = s.queue()
	return s.unserved(o), nil
}

// Config returns the configuration with every default filled in.
func (s *Stage) Config() Config { return s.cfg }

// doubts returns what makes results on this trace doubtful.
func (s *Stage) doubts() []string {
	w := append([]string(nil), s.trace.Notes...)
	var unknown, adapters int
	for row := range s.cfg.Limit {
		if s.trace.Output[row] == traces.Unknown {
			unknown++
		}
		if s.trace.Strings[s.trace.Adapter[row]] != "" {
			adapters++
		}
	}
	w = append(w, s.overlong()...)
	if names := s.models(); len(names) > 1 && len(s.cfg.Pools) == 0 {
		w = append(w, fmt.Sprintf("requests name %d models (%s, ...): all are played on %s, with caches kept apart", len(names), names[0], s.cfg.Model))
	}
	if unknown > 0 {
		w = append(w, fmt.Sprintf("%d of %d requests have no output length in the trace and are played as one token", unknown, s.cfg.Limit))
	}
	if text := s.assumed(); text != "" {
		w = append(w, text)
	}
	if adapters > 0 && !s.adapters {
		w = append(w, fmt.Sprintf("%d of %d requests name an adapter: their prefixes are kept apart, but loading adapters is not simulated", adapters, s.cfg.Limit))
	}
	return w
}

// overlong names the pools that would serve longer requests than their model was made for.
func (s *Stage) overlong() []string {
	var w []string
	for i := range s.pools {
		p, long := &s.pools[i], 0
		if p.cfg.Engine.MaxModelLen > 0 {
			continue
		}
		for row := range s.cfg.Limit {
			if s.tokens(row) > int64(p.context) && (s.asks == nil || s.asks[row].by(p)) {
				long++
			}
		}
		if long > 0 {
			w = append(w, p.tooShort(long, s.cfg.Limit))
		}
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
