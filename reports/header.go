package reports

import (
	"fmt"
	"slices"
	"strings"

	"github.com/seed-2cee110a/triage/sim"
	"github.com/seed-2cee110a/triage/sim/trust"
)

// line is a named line of the header.
type line struct{ name, text string }

// header says what was replayed on what, and how far to trust it.
func header(c *Comparison) []line {
	out := []line{
		{"trace", traceLine(c)},
		{"cluster", clusterLine(c.Config)},
		{"engine", enginesLine(c.Config)},
		{"signals", signalsLine(c)},
		{"cost", costLine(c)},
	}
	if c.Trust.Text != "" {
		out = append(out, line{trustTitle, c.Trust.Text})
	}
	out = append(out, gatewayLines(c.Config)...)
	if len(c.Config.Faults) > 0 {
		out = append(out, line{"faults", faultsLine(c.Config)})
	}
	return out
}

func traceLine(c *Comparison) string {
	t := c.Trace
	text := fmt.Sprintf("%s: %s in %s", t.Name, count(t.Requests, "request"), duration(t.SpanS))
	if t.SpanS > 0 {
		text += fmt.Sprintf(" (%s/s)", significant(float64(t.Requests)/t.SpanS))
	}
	if c.Config.Speed != 1 {
		text += fmt.Sprintf(", played %v times as fast", c.Config.Speed)
	}
	text += ", " + arrivalsText(c.Config)
	if t.Reused > 0 {
		text += fmt.Sprintf(", the next turn can hit %s", count(t.Reused, "answer"))
	}
	text += ", " + short(t.Digest)
	if t.Tied > 0 {
		text += fmt.Sprintf("; %s of arrivals share their instant (ties=%s)", percent(float64(t.Tied)/float64(t.Requests)), c.Config.Ties)
	}
	return text
}

// short cuts a digest to what an eye can compare.
func short(digest string) string {
	if i := strings.IndexByte(digest, ':'); i >= 0 && len(digest) > i+13 {
		return digest[:i+13]
	}
	return digest
}

func clusterLine(cfg sim.Config) string {
	if !named(cfg) {
		return equals(count(cfg.Replicas, "replica"), cfg)
	}
	var pools []string
	for _, p := range cfg.Pools {
		pools = append(pools, equals(fmt.Sprintf("%d %s", p.Replicas, p.Name), p.In(cfg)))
	}
	return count(cfg.Replicas, "replica") + ": " + strings.Join(pools, "; ")
}

// named says whether the pools have names, as several have.
func named(cfg sim.Config) bool { return len(cfg.Pools) > 0 && cfg.Pools[0].Name != "" }

// equals describes equal replicas.
func equals(who string, cfg sim.Config) string {
	return fmt.Sprintf("%s of %s on %d x %s, %s KV tokens each", who, modelText(cfg), cfg.TP, cfg.GPU, group(cfg.KVTokens))
}

// modelText names the model, and where it comes from if it is not a registered one.
func modelText(cfg sim.Config) string {
	switch c := cfg.ModelConfig; {
	case c == nil:
		return cfg.Model
	case c.Registered != "":
		return fmt.Sprintf("%s (from %s, as registered %s)", cfg.Model, c.File, c.Registered)
	default:
		return fmt.Sprintf("%s (from %s)", cfg.Model, c.File)
	}
}

// enginesLine prints settings that several pools share once.
func enginesLine(cfg sim.Config) string {
	if !named(cfg) {
		return engineLine(cfg)
	}
	var lines, names []string
	for _, p := range cfg.Pools {
		text := engineLine(p.In(cfg))
		if i := slices.Index(lines, text); i >= 0 {
			names[i] += ", " + p.Name
			continue
		}
		lines, names = append(lines, text), append(names, p.Name)
	}
	if len(lines) == 1 {
		return lines[0]
	}
	for i := range lines {
		lines[i] = names[i] + ": " + lines[i]
	}
	return strings.Join(lines, "; ")
}

func engineLine(cfg sim.Config) string {
	e := cfg.Engine
	parts := []string{
		fmt.Sprintf("block-size %d", e.BlockSize),
		fmt.Sprintf("max-num-seqs %d", e.MaxNumSeqs),
		fmt.Sprintf("max-num-batched-tokens %d", e.MaxNumBatchedTokens),
	}
	if e.LongPrefillTokenThreshold > 0 {
		parts = append(parts, fmt.Sprintf("long-prefill-token-threshold %d", e.LongPrefillTokenThreshold))
	}
	if e.MaxModelLen > 0 {
		parts = append(parts, fmt.Sprintf("max-model-len %d", e.MaxModelLen))
	}
	if e.Watermark > 0 {
		parts = append(parts, fmt.Sprintf("watermark %v", e.Watermark))
	}
	if e.MaxLoRAs > 0 {
		parts = append(parts, fmt.Sprintf("max-loras %d", e.MaxLoRAs))
	}
	return strings.Join(append(parts, switches(cfg)...), ", ")
}

// switches names the settings that are off.
func switches(cfg sim.Config) []string {
	var out []string
	e := cfg.Engine
	for _, s := range []struct {
		on   bool
		name string
	}{
		{e.EnablePrefixCaching, "enable-prefix-caching"},
		{e.ReserveFullISL, "scheduler-reserve-full-isl"},
		{e.AsyncScheduling, "async-scheduling"},
	} {
		if !s.on {
			out = append(out, s.name+" off")
		}
	}
	return out
}

func signalsLine(c *Comparison) string {
	mode := c.Config.Signals.String()
	if !c.stale() || !known(c.Signals.Mean) {
		return mode
	}
	return fmt.Sprintf("%s, %s old when used (mean; p95 %s)", mode, duration(c.Signals.Mean), duration(c.Signals.P95))
}

// poolCosts says which pools are calibrated and which are not.
func poolCosts(pools []sim.Pool) string {
	var text string
	for _, p := range pools {
		word := p.Note.Model
		switch {
		case p.Note.Calibrated:
			word = "calibrated"
		case p.Cost == "physical":
			word = "extrapolated"
		}
		text += fmt.Sprintf(", %s %s", p.Name, word)
		if x := p.CostScale; x != 0 && x != 1 {
			text += fmt.Sprintf(" and %v times as long", x)
		}
	}
	return text
}

// costLine says where step times come from. How far to trust them is a line of its own.
func costLine(c *Comparison) string {
	text := c.Cost.Model
	switch {
	case len(c.Config.Pools) > 1 && !c.Cost.Calibrated:
		return text + poolCosts(c.Config.Pools)
	case c.Cost.Calibrated:
		text += ", calibrated"
	case c.Trust.Status == trust.Extrapolated || c.Trust.Status == trust.Unknown:
		text += ", extrapolated"
	}
	if x := c.Config.CostScale; x != 0 && x != 1 {
		text += fmt.Sprintf("; steps take %v times as long", x)
	}
	return text
}
