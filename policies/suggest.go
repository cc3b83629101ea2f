package policies

import (
	"fmt"
	"strings"
)

// unknown is the error for a name that is not in the list; it proposes the nearest one if that is near enough to be
// a slip of the hand.
func unknown(what, name string, have []string) error {
	if len(have) == 0 {
		return fmt.Errorf("unknown %s %q (there is none)", what, name)
	}
	list := strings.Join(have, ", ")
	if near := nearest(name, have); near != "" {
		return fmt.Errorf("unknown %s %q (have %s; did you mean %q?)", what, name, list, near)
	}
	return fmt.Errorf("unknown %s %q (have %s)", what, name, list)
}

// nearest returns the name with the smallest edit distance, "" if more than a third of it (at least one letter, and
// not all of it) would have to change.
func nearest(name string, have []string) string {
	best, least := "", 0
	for _, h := range have {
		d := distance(name, h)
		if d <= max(1, len(h)/3) && d < len(h) && (best == "" || d < least) {
			best, least = h, d
		}
	}
	return best
}

// distance counts the single-byte insertions, deletions, substitutions and swaps of neighbours that turn a into b
// (optimal string alignment).
func distance(a, b string) int {
	older, old, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		older, old, row = old, row, older
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(old[j]+1, row[j-1]+1, old[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], older[j-2]+1)
			}
		}
	}
	return row[len(b)]
}
