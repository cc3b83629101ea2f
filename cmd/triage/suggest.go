package main

import (
	"fmt"
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

// nearest returns the name closest to the given one, or else the first that contains it; "" if there is none.
func nearest(name string, have []string) string {
	const longest = 200 // no name is as long, and the comparison is not free
	if len(name) > longest {
		return ""
	}
	best, least := "", max(1, len(name)/3)+1
	for _, h := range have {
		if d := distance(strings.ToLower(name), h); d < least {
			best, least = h, d
		}
	}
	for _, h := range have {
		if best == "" && len(name) > 2 && strings.Contains(h, strings.ToLower(name)) {
			best = h
		}
	}
	return best
}

// distance is how many bytes must be inserted, deleted, replaced, or swapped with the next to make one of the other.
func distance(a, b string) int {
	row, old := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		older := old
		old, row = row, make([]int, len(b)+1)
		row[0] = i + 1
		for j := range len(b) {
			replaced := old[j]
			if a[i] != b[j] {
				replaced++
			}
			row[j+1] = min(replaced, old[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], older[j-1]+1)
			}
		}
	}
	return row[len(b)]
}
