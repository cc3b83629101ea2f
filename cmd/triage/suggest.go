package main

import (
	"fmt"
	"slices"
	"strings"
)

// unknown is the error for a name that is not in the list, with the nearest that is.
func unknown(what, name string, have []string) error {
	list := strings.Join(have, ", ")
	if near := nearest(name, have); near != "" {
		return fmt.Errorf("unknown %s %q (have %s; did you mean %q?)", what, name, list, near)
	}
	return fmt.Errorf("unknown %s %q (have %s)", what, name, list)
}

// nearest returns the name closest to the given one, "" if none is close.
func nearest(name string, have []string) string {
	best, least := "", max(1, len(name)/3)+1
	for _, h := range have {
		if d := distance(name, h); d < least {
			best, least = h, d
		}
	}
	return best
}

// distance is the Levenshtein distance in bytes.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		old := slices.Clone(row)
		row[0] = i + 1
		for j := range len(b) {
			swap := old[j]
			if a[i] != b[j] {
				swap++
			}
			row[j+1] = min(swap, old[j+1]+1, row[j]+1)
		}
	}
	return row[len(b)]
}
