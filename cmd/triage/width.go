package main

import (
	"io"
	"os"

	"github.com/vbauerster/cupwriter"

	"github.com/seed-2cee110a/triage/reports"
)

// wide is the width of text on terminals that have it.
const wide = 100

// columns returns how wide text for w may be: 100 on a terminal that wide, else 80, so that what goes to a file or a
// pipe does not depend on a terminal.
func columns(w io.Writer) int {
	if s, ok := w.(*sink); ok {
		w = s.w
	}
	f, ok := w.(*os.File)
	if !ok {
		return reports.Width
	}
	t := cupwriter.New(f, false)
	if n, _, err := t.GetTermSize(); t.IsTerminal() && err == nil && n >= wide {
		return wide
	}
	return reports.Width
}
