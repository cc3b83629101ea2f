package reports

import (
	"fmt"
	"strings"
)

// step is a command worth running next, and what it shows.
type step struct{ command, why string }

// next returns the advice given, or else the commands that answer what this comparison leaves open, most telling first.
func next(c *Comparison) []step {
	var out []step
	for _, a := range c.Advice {
		out = append(out, step{a[0], a[1]})
	}
	if out != nil {
		return out
	}
	add := func(open bool, tail, why string) {
		if open {
			out = append(out, step{c.Command + " " + tail, why})
		}
	}
	hasScore := false
	for _, r := range c.Runs {
		hasScore = hasScore || r.Spec.Name == "score"
	}
	limit := longest(c)
	add(limit > 0, strings.TrimSpace(fmt.Sprintf("--max-model-len %d %s", limit, chosen(c))), "what a server that refuses longer requests would show")
	add(lonely(c), chosen(c)+" -p round-robin", "what it is worth against the usual baseline")
	add(!hasScore, "-p round-robin -p score", "what explicit weights are worth")
	add(hasScore && c.Trace.Unidentified < c.Trace.Requests && len(pairs(c, "aff")) == 0,
		"-p score -p score:aff=0", "what affinity is worth")
	add(hasScore && len(pairs(c, "fit")) == 0, "-p score -p score:fit=off", "what spilling costs")
	add(hasScore && !c.stale(), stale(c), "what stale signals cost a router that counts nothing itself")
	add(len(out) == 0, strings.TrimSpace(chosen(c)+" -o results"), "keep results and per-request outcomes")
	return out
}

// chosen returns the policies to append to repeat the comparison, nothing if they are the default.
func chosen(c *Comparison) string {
	if c.Policies == "-p round-robin -p score" {
		return ""
	}
	return c.Policies
}

// lonely is true for a run with nobody to compare with.
func lonely(c *Comparison) bool {
	return len(c.Runs) == 1 && c.Runs[0].Spec.Name != "round-robin" && c.Policies != ""
}

// longest returns the model's context where the trace has longer requests and nothing refuses them, else 0.
func longest(c *Comparison) int {
	if c.Config.Engine.MaxModelLen > 0 {
		return 0
	}
	for _, w := range c.Warnings() {
		if m, err := c.Config.LookupModel(); err == nil && strings.Contains(w.Text, "max-model-len") {
			return m.Context
		}
	}
	return 0
}

// stale returns what to append to see old signals hurt. The embedded trace leaves replicas idle unless it is sped up.
func stale(c *Comparison) string {
	tail := "--signals scrape=30s -p score -p score:load=1,sent=off"
	if c.Trace.Name == "demo" && c.Config.Speed == 1 {
		tail = "--speed 2 " + tail
	}
	return tail
}

// commands is commandsTo the width of a small terminal.
func commands(steps []step) string { return commandsTo(Width, steps) }

// commandsTo lists steps with what they show, beside a command if there is room, else above it.
func commandsTo(width int, steps []step) string {
	const between = len("  $ ") + len("   # ")
	longest := 0
	for _, s := range steps {
		if len(s.command)+between+len(s.why) <= width {
			longest = max(longest, len(s.command))
		}
	}
	var b strings.Builder
	for _, s := range steps {
		if len(s.command) <= longest && longest+between+len(s.why) <= width {
			fmt.Fprintf(&b, "  $ %-*s   # %s\n", longest, s.command, s.why)
		} else {
			fmt.Fprintf(&b, "  # %s\n  $ %s\n", s.why, strings.Join(broken(s.command, width), " \\\n      "))
		}
	}
	return b.String()
}

// broken cuts a command that is too long before flags, into lines that a shell joins again, since people copy them. It
// cuts nothing inside quotes.
func broken(command string, width int) []string {
	const lead, tail = 6, 2 // the indent of later lines; a blank and a backslash
	if len("  $ ")+len(command) <= width {
		return []string{command}
	}
	words := strings.Split(command, " -")
	lines := words[:1]
	for _, word := range words[1:] {
		last := &lines[len(lines)-1]
		if quoted := strings.Count(*last, "'")%2 == 1; quoted || lead+len(*last)+len(word)+2+tail <= width {
			*last += " -" + word
		} else {
			lines = append(lines, "-"+word)
		}
	}
	return lines
}
