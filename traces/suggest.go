package traces

import (
	"fmt"
	"strings"

	"github.com/agnivade/levenshtein"
)

// didYouMean returns "; did you mean "x"?" if a name is close enough.
func didYouMean(got string, names []string) string {
	best, least := "", 3
	for _, n := range names {
		if d := levenshtein.ComputeDistance(strings.ToLower(got), n); d < least && d < len(n) {
			best, least = n, d
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf("; did you mean %q?", best)
}
