package reports

import (
	"fmt"
	"math"
)

// farBelief is the difference of believed and true hit ratio from which a belief is far from the truth.
const farBelief = 0.1

// beliefOff finds a router that is wrong about the replicas' caches.
func beliefOff(c *Comparison, r *Run) *Finding {
	d := r.Believed - r.HitRatio
	if !known(d) || math.Abs(d) < farBelief || r.Completed < thin || d < 0 && r.Spec.Knob("prefix") == "bucket" { // which goes by the first tokens alone
		return nil
	}
	text := fmt.Sprintf("it believed that %s of the prompt tokens were cached where it sent them, and %s were: ", ratio(r.Believed), ratio(r.HitRatio))
	if d > 0 {
		text += "it believes in what was evicted or never came; try a ttl, a smaller index, or prefix=oracle to see what the truth is worth"
	} else {
		text += "it forgets what is there; try a longer ttl, or prefix=oracle to see what the truth is worth"
	}
	numbers := map[string]float64{"believed_hit_ratio": r.Believed, "hit_ratio": r.HitRatio}
	if r.Belief.Entries > 0 {
		numbers["believed_tokens"], numbers["duplicated_tokens"] = float64(r.Belief.Tokens), float64(r.Belief.Duplicated)
	}
	return &Finding{Text: text, Evidence: &Evidence{Numbers: numbers}}
}
