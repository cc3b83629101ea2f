package sim

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/seed-2cee110a/triage/policies"
)

const signalsWanted = "live, scrape=DURATION[,delay=DURATION][,phase=spread|same] or push=DURATION, each with [,fields=waiting+running+kv]"

// fields are the numbers that a source may report, by name.
var fields = []struct {
	name string
	have policies.Field
}{
	{"waiting", policies.HasWaiting},
	{"running", policies.HasRunning},
	{"kv", policies.HasKVUsed | policies.HasKVTokens},
}

// ParseSignals reads how signals reach the routers, such as "live", "scrape=5s,delay=100ms" or "push=50ms".
func ParseSignals(text string) (Signals, error) {
	var s Signals
	parts := strings.Split(text, ",")
	kind, value, _ := strings.Cut(parts[0], "=")
	var err error
	switch kind {
	case "live":
		if value != "" || parts[0] != "live" {
			return s, fmt.Errorf("signals is %q, want %s", text, signalsWanted)
		}
	case "scrape":
		s.Scrape, err = interval(kind, value)
	case "push":
		s.Push, err = interval(kind, value)
	default:
		return s, fmt.Errorf("signals is %q, want %s", text, signalsWanted)
	}
	for _, p := range parts[1:] {
		if err == nil {
			err = s.option(p)
		}
	}
	if err == nil {
		err = s.check()
	}
	return s, err
}

// option reads one of the settings after the first.
func (s *Signals) option(text string) (err error) {
	key, value, _ := strings.Cut(text, "=")
	switch {
	case key == "delay" && s.Scrape > 0:
		s.Delay, err = interval(key, value)
	case key == "phase" && s.Scrape > 0:
		s.Phase = Phase(value)
	case key == "fields":
		s.Fields, err = parseFields(value)
	default:
		return fmt.Errorf("signals has the setting %q, want %s", text, signalsWanted)
	}
	return err
}

func interval(key, value string) (time.Duration, error) {
	d, err := time.ParseDuration(value)
	if err != nil || d <= 0 {
		return 0, fmt.Errorf("signals has %s=%s, want a duration above 0 with its unit, such as 500ms or 5s", key, value)
	}
	return d, nil
}

func parseFields(text string) (have policies.Field, err error) {
	for name := range strings.SplitSeq(text, "+") {
		i := slices.IndexFunc(fields, func(f struct {
			name string
			have policies.Field
		}) bool {
			return f.name == name
		})
		if i < 0 {
			return 0, fmt.Errorf("signals has the field %q, want some of waiting, running and kv, joined by +", name)
		}
		have |= fields[i].have
	}
	return have, nil
}

// String returns what ParseSignals reads.
func (s Signals) String() string {
	var out string
	switch {
	case s.Scrape > 0:
		out = "scrape=" + s.Scrape.String()
	case s.Push > 0:
		out = "push=" + s.Push.String()
	default:
		out = "live"
	}
	if s.Delay > 0 {
		out += ",delay=" + s.Delay.String()
	}
	if s.Phase == Together {
		out += ",phase=" + string(s.Phase)
	}
	if s.Fields != 0 {
		var names []string
		for _, f := range fields {
			if s.Fields&f.have != 0 {
				names = append(names, f.name)
			}
		}
		out += ",fields=" + strings.Join(names, "+")
	}
	return out
}

func (s Signals) check() error {
	for _, f := range []struct {
		name string
		d    time.Duration
	}{{"scrape interval", s.Scrape}, {"push delay", s.Push}, {"scrape delay", s.Delay}} {
		if f.d < 0 || f.d > longest || f.d > 0 && f.d < time.Millisecond && f.name == "scrape interval" {
			return fmt.Errorf("%s is %v, want 1ms to %v, or 0 for none", f.name, f.d, longest)
		}
	}
	switch {
	case s.Scrape > 0 && s.Push > 0:
		return fmt.Errorf("signals are scraped and pushed, want one of them")
	case s.Delay > 0 && s.Scrape == 0:
		return fmt.Errorf("signals have a scrape delay without scrapes")
	case s.Phase != "" && s.Phase != Apart && s.Phase != Together:
		return fmt.Errorf("signals have the phase %q, want %s or %s", s.Phase, Apart, Together)
	}
	return nil
}
