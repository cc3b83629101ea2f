package traces

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/agnivade/levenshtein"
)

var jsonKey = regexp.MustCompile(`"(\w+)"\s*:`)

// badJSON says where a line stops being JSON: the characters around the place, and the last key before it.
func badJSON(text []byte, err error) error {
	const around = 12
	var syntax *json.SyntaxError
	if !errors.As(err, &syntax) {
		return fmt.Errorf("the line is %s, want a JSON object: %w", excerpt(text), err)
	}
	at := min(max(int(syntax.Offset)-1, 0), len(text))
	near := text[max(0, at-around):min(len(text), at+around)]
	after := ""
	if keys := jsonKey.FindAllSubmatch(text[:at], -1); len(keys) > 0 {
		after = fmt.Sprintf(" (after the key %q)", keys[len(keys)-1][1])
	}
	if value := bytes.TrimLeft(text[at:], "-"); bytes.HasPrefix(value, []byte("NaN")) || bytes.HasPrefix(value, []byte("Inf")) {
		after += "; JSON has no NaN and no Infinity"
	}
	return fmt.Errorf("the line is no JSON object: %w near %q%s", err, near, after)
}

// twice returns a key that an object has more than once, "" if there is none. Of such keys decoders take one silently.
// The text is valid JSON, which leaves little to look at: strings, and how deep they are.
func twice(text []byte) string {
	seen := map[string]bool{}
	depth, isKey := 0, false
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '{', '[':
			depth++
			isKey = true
		case '}', ']':
			depth--
		case ',':
			isKey = true
		case ':':
			isKey = false
		case '"':
			from := i
			i = stringEnd(text, i)
			if depth != 1 || !isKey {
				continue
			}
			var key string
			if json.Unmarshal(text[from:i+1], &key) != nil || seen[key] {
				return key
			}
			seen[key] = true
		}
	}
	return ""
}

// stringEnd finds the closing quote of the string that opens at i.
func stringEnd(text []byte, i int) int {
	for i++; i < len(text) && text[i] != '"'; i++ {
		if text[i] == '\\' {
			i++
		}
	}
	return min(i, len(text)-1)
}

// knownKeys are the keys that something is made of.
var knownKeys = func() []string {
	keys := []string{"hash_ids"}
	for _, n := range numberKeys {
		keys = append(keys, n.key)
	}
	for _, n := range nameKeys {
		keys = append(keys, n.key)
	}
	return keys
}()

// misspelled is an error about an unknown key that is close to a known one which the row has not: an identity under a
// wrong name would be none.
func misspelled(object map[string]json.RawMessage) error {
	for _, key := range slices.Sorted(maps.Keys(object)) {
		if slices.Contains(knownKeys, key) {
			continue
		}
		for _, known := range knownKeys {
			if _, ok := object[known]; !ok && alike(key, known) {
				return fmt.Errorf("unknown key %q; did you mean %q?", key, known)
			}
		}
	}
	return nil
}

// alike tells a slip of at most two letters, and of fewer in a short word, from another word.
func alike(key, known string) bool {
	most := min(2, len(known)/4)
	return abs(len(key)-len(known)) <= most && levenshtein.ComputeDistance(strings.ToLower(key), known) <= most
}

func abs(v int) int { return max(v, -v) }
