package main

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// checkLabel says what is wrong with a policy's label, which is a column of every output. What is shown when none is
// given may have commas.
func checkLabel(label string, byDefault bool) error {
	bad := func(r rune) bool {
		return !unicode.IsPrint(r) || strings.ContainsRune("\"'`", r) || r == ',' && !byDefault
	}
	i := strings.IndexFunc(label, bad)
	switch {
	case !utf8.ValidString(label):
		return fmt.Errorf("label %q is not UTF-8, want printable characters", label)
	case i < 0:
		return nil
	}
	found, _ := utf8.DecodeRuneInString(label[i:])
	return fmt.Errorf("label %q has %q, want printable characters without quotes and commas, as in -p other=score", label, found)
}
