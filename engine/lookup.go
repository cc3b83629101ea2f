package engine

import (
	"fmt"
	"strings"

	"github.com/agnivade/levenshtein"
)

// lookup finds name among n names, in any case of letters. The error says what is nearest.
func lookup(kind, name string, n int, at func(int) string) (int, error) {
	names := make([]string, n)
	for i := range n {
		names[i] = at(i)
		if strings.EqualFold(names[i], name) {
			return i, nil
		}
	}
	hint := ""
	if near := nearest(name, names); near != "" {
		hint = fmt.Sprintf("did you mean %q? ", near)
	}
	return 0, fmt.Errorf("unknown %s %q: %ssee triage models", kind, name, hint)
}

// nearest returns the first of names that begins as name does, or else the one with the fewest letters different, or
// "" if that is more than half of them.
func nearest(name string, names []string) string {
	near, best := "", len(short(name))/2+1
	for _, n := range names {
		if strings.HasPrefix(short(n), short(name)) {
			return n
		}
		if d := levenshtein.ComputeDistance(short(name), short(n)); d < best {
			near, best = n, d
		}
	}
	return near
}

// short is a name as people compare names: small letters, without the organisation before the slash.
func short(name string) string {
	return strings.ToLower(name[strings.LastIndexByte(name, '/')+1:])
}
