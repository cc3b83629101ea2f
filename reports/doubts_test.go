package reports

import (
	"strings"
	"testing"

	"github.com/seed-2cee110a/triage/sim"
)

// A pool too small for what runs at once is preempted again and again, and the finding says what that cost; with room there
// is nothing to say.
func TestPreemptionsAreReported(t *testing.T) {
	tr := madeUp(t, "chat", 300, nil)
	for tokens, wanted := range map[int64]bool{4_000: true, 400_000: false} {
		cfg := sim.Default()
		cfg.Replicas, cfg.KVTokens, cfg.Engine.ReserveFullISL = 1, tokens, false
		c := diagnose(t, cfg, tr, false, "round-robin")
		said := ""
		for _, f := range c.Findings {
			if f.ID == "preemptions" {
				said = f.Text
			}
		}
		run := c.Runs[0]
		if got := strings.Contains(said, "tokens were computed again for every token of output"); got != wanted || run.Recomputed >= muchAgain != wanted {
			t.Errorf("%d KV tokens: %d preemptions, %.3f recomputed, said %q", tokens, run.Preemptions, run.Recomputed, said)
		}
	}
}
