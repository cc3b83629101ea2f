package sim

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/seed-2cee110a/triage/engine"
)

// learn is when the gateway finds out that a replica crashed: an entry of the timeline that no configuration has.
const learn FaultKind = "learn"

// incident is an entry of a run's timeline.
type incident struct {
	at      engine.Time
	replica int
	do      FaultKind
	cost    engine.CostModel // Slow: from now on
	factor  float64          // Slow
}

// checkFaults says what is wrong with faults as such; whether they fit the replicas is checked by Prepare.
func (c Config) checkFaults() error {
	for i, f := range c.Faults {
		if err := f.check(); err != nil {
			return fmt.Errorf("faults[%d]: %w", i, err)
		}
	}
	switch {
	case c.OnCrash != "" && c.OnCrash != Resend && c.OnCrash != GiveUp:
		return fmt.Errorf("on_crash is %q, want %s or %s", c.OnCrash, Resend, GiveUp)
	case c.Detect < 0 || c.Detect > longest:
		return fmt.Errorf("detect is %v, want 0 to %v", c.Detect, longest)
	}
	return nil
}

func (f Fault) check() error {
	switch {
	case !slices.Contains(FaultKinds, f.Do):
		return fmt.Errorf("do is %q, want one of %s", f.Do, kindNames())
	case f.At < 0 || engine.FromDuration(f.At) > lastArrival:
		return fmt.Errorf("at is %v, want 0 to %v", f.At, lastArrival.Duration().Round(time.Hour))
	case f.Do == Slow && !(f.Factor >= leastScale && f.Factor <= mostScale):
		return fmt.Errorf("factor is %v, want %v to %v; 1 restores", f.Factor, leastScale, mostScale)
	case f.Do != Slow && f.Factor != 0:
		return fmt.Errorf("factor is given, but only slow has one, not %s", f.Do)
	}
	return nil
}

func kindNames() string {
	var names []string
	for _, k := range FaultKinds {
		names = append(names, string(k))
	}
	return strings.Join(names, ", ")
}

// life is what a replica is doing as far as faults go.
type life uint8

const (
	alive life = iota
	crashed
	unborn
)

// schedule makes the timeline: the faults in order of time, equal instants as given, and when the gateway learns of each
// crash, which is Detect later or when the replica comes back, if that is sooner.
func (s *Stage) schedule() error {
	faults := slices.Clone(s.cfg.Faults)
	slices.SortStableFunc(faults, func(a, b Fault) int { return cmp.Compare(a.At, b.At) })
	places := make([]int, len(faults))
	s.unborn = make([]bool, len(s.replicas))
	for k, f := range faults {
		i, err := s.place(f.Replica)
		if err != nil {
			return err
		}
		places[k] = i
		s.unborn[i] = s.unborn[i] || f.Do == Join
	}
	if err := s.checkLives(faults, places); err != nil {
		return err
	}
	for k, f := range faults {
		in := incident{at: engine.FromDuration(f.At), replica: places[k], do: f.Do, factor: f.Factor}
		switch f.Do {
		case Restart:
			s.timeline = s.learnBy(s.timeline, in)
		case Slow:
			in.cost = engine.Scaled(s.costOf(in.replica), f.Factor)
		}
		s.timeline = append(s.timeline, in)
		if f.Do == Crash {
			s.timeline = append(s.timeline, incident{at: in.at + engine.FromDuration(s.cfg.Detect), replica: in.replica, do: learn})
		}
	}
	slices.SortStableFunc(s.timeline, func(a, b incident) int { return cmp.Compare(a.at, b.at) })
	return nil
}

// learnBy brings what the gateway would learn only after a restart forward to it.
func (s *Stage) learnBy(all []incident, restart incident) []incident {
	for k := len(all) - 1; k >= 0; k-- {
		if l := all[k]; l.do == learn && l.replica == restart.replica {
			if l.at >= restart.at {
				l.at = restart.at
				all = append(slices.Delete(all, k, k+1), l)
			}
			break
		}
	}
	return all
}

// place returns the place of a replica.
func (s *Stage) place(name string) (int, error) {
	for i := range s.replicas {
		if s.replicas[i].Name == name {
			return i, nil
		}
	}
	return 0, fmt.Errorf("faults name the replica %q, want one of %s to %s", name, s.replicas[0].Name, s.replicas[len(s.replicas)-1].Name)
}

// checkLives holds that only what lives crashes, only what crashed restarts, and that nothing happens to a replica
// before it joins.
func (s *Stage) checkLives(faults []Fault, places []int) error {
	lives := make([]life, len(s.replicas))
	for i, u := range s.unborn {
		lives[i] = choose(u, unborn, alive)
	}
	for k, f := range faults {
		l := &lives[places[k]]
		wrong := ""
		switch {
		case f.Do == Join && *l != unborn:
			wrong = "joins twice"
		case f.Do != Join && *l == unborn:
			wrong = "has a " + string(f.Do) + " before it joins"
		case f.Do == Crash && *l == crashed:
			wrong = "crashes again before it restarts"
		case f.Do == Restart && *l != crashed:
			wrong = "restarts without a crash"
		}
		if wrong != "" {
			return fmt.Errorf("faults: %s %s at %v", f.Replica, wrong, f.At)
		}
		switch f.Do {
		case Join, Restart:
			*l = alive
		case Crash:
			*l = crashed
		}
	}
	return nil
}

// costOf returns the cost model of a healthy replica.
func (s *Stage) costOf(replica int) engine.CostModel { return s.of[replica].cost }
