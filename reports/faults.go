package reports

import (
	"fmt"
	"strings"
	"time"

	"github.com/seed-2cee110a/triage/sim"
)

// arrivalsName is the mode in which later turns of sessions arrive.
func arrivalsName(cfg sim.Config) string {
	if cfg.Sessions == "" {
		return string(sim.Open)
	}
	return string(cfg.Sessions)
}

// arrivalsText names the mode in a header.
func arrivalsText(cfg sim.Config) string {
	switch {
	case cfg.Sessions != sim.Closed:
		return "arrivals open"
	case cfg.Think > 0:
		return fmt.Sprintf("arrivals closed (think time %v where the trace says none)", cfg.Think)
	}
	return "arrivals closed"
}

// faultsLine says what is to happen to replicas, and how the gateway takes a crash.
func faultsLine(cfg sim.Config) string {
	var parts []string
	crash := false
	for _, f := range cfg.Faults {
		text := fmt.Sprintf("%s %s at %v", f.Replica, f.Do, f.At)
		if f.Do == sim.Slow {
			text = fmt.Sprintf("%s %s by %v at %v", f.Replica, f.Do, f.Factor, f.At)
		}
		parts, crash = append(parts, text), crash || f.Do == sim.Crash
	}
	text := strings.Join(parts, ", ")
	if crash {
		text += fmt.Sprintf("; requests cut off are %s, crashes detected after %v", cutOff(cfg), cfg.Detect)
	}
	return text
}

func cutOff(cfg sim.Config) string {
	if cfg.OnCrash == sim.GiveUp {
		return "failed"
	}
	return "sent once more"
}

type faultJSON struct {
	AtS     number `json:"at_s"`
	Replica string `json:"replica"`
	Do      string `json:"do"`
	Factor  number `json:"factor,omitempty"`
}

// faultsJSON are the settings that matter only where faults are given.
type faultsJSON struct {
	Faults  []faultJSON `json:"faults,omitempty"`
	OnCrash string      `json:"on_crash,omitempty"`
	DetectS number      `json:"detect_s,omitempty"`
}

func faults(cfg sim.Config) (f faultsJSON) {
	if len(cfg.Faults) == 0 {
		return f
	}
	for _, x := range cfg.Faults {
		f.Faults = append(f.Faults, faultJSON{spanS(x.At), x.Replica, string(x.Do), number(x.Factor)})
	}
	f.OnCrash, f.DetectS = string(cfg.OnCrash), spanS(cfg.Detect)
	if f.OnCrash == "" {
		f.OnCrash = string(sim.Resend)
	}
	return f
}

func spanS(d time.Duration) number { return number(d.Seconds()) }

type crashJSON struct {
	AtS      number `json:"at_s"`
	Replica  string `json:"replica"`
	InFlight int    `json:"in_flight"`
	Resent   int    `json:"sent_again"`
	Failed   int    `json:"failed"`
	Bounced  int    `json:"sent_while_dead"`
}

func crashes(r *Run) []crashJSON {
	var out []crashJSON
	for _, c := range r.Crashes {
		out = append(out, crashJSON{number(c.At.Seconds()), r.Replicas[c.Replica].Name, c.InFlight, c.Resent, c.Failed, c.Bounced})
	}
	return out
}

// sessionsJSON are settings of sessions. Absent values are the defaults.
type sessionsJSON struct {
	Arrivals string `json:"arrivals"`
	ThinkS   number `json:"think_s,omitempty"`
	Reuse    string `json:"reuse_output,omitempty"`
}

func sessions(cfg sim.Config) sessionsJSON {
	s := sessionsJSON{Arrivals: arrivalsName(cfg), ThinkS: spanS(cfg.Think), Reuse: string(cfg.ReuseOutput)}
	if cfg.ReuseOutput == sim.ReuseKnown {
		s.Reuse = ""
	}
	return s
}

// adaptersJSON are engine settings that matter only where the trace names adapters.
type adaptersJSON struct {
	MaxLoRAs      int    `json:"max_loras,omitempty"`
	LoadTimeS     number `json:"adapter_load_time_s,omitempty"`
	MixedAdapters number `json:"mixed_adapters,omitempty"`
}

// loads is a number of adapter loads, absent where no adapters play a part.
func loads(played bool, n int64) *int64 {
	if !played {
		return nil
	}
	return &n
}

func loadsPer1000(r *Run) *number {
	if !r.Adapters {
		return nil
	}
	n := number(r.LoadsPer1000())
	return &n
}

// adapterSignal is which adapters replicas tell of.
func adapterSignal(cfg sim.Config) string {
	if cfg.AdapterSignal == "" {
		return string(sim.AdaptersActive)
	}
	return string(cfg.AdapterSignal)
}
