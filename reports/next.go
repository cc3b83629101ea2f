package reports

// step is a command worth running next, and what it shows.
type step struct{ command, why string }

// next returns the commands that answer what this comparison leaves open, most telling first.
func next(c *Comparison) []step {
	var out []step
	add := func(open bool, tail, why string) {
		if open {
			out = append(out, step{c.Command + " " + tail, why})
		}
	}
	hasScore := false
	for _, r := range c.Runs {
		hasScore = hasScore || r.Spec.Name == "score"
	}
	add(!hasScore, "-p round-robin -p score", "what explicit weights are worth")
	add(hasScore && c.Trace.Unidentified < c.Trace.Requests && len(pairs(c, "aff")) == 0,
		"-p score -p score:aff=0", "what affinity is worth")
	add(hasScore && len(pairs(c, "fit")) == 0, "-p score -p score:fit=off", "what spilling costs")
	add(hasScore && c.Config.Signals.Scrape == 0, "--signals scrape=30s", "what stale signals cost")
	add(len(out) == 0, "-o results", "keep results and per-request outcomes")
	return out
}
