package reports

import (
	"os"
	"strings"
	"testing"

	"github.com/seed-2cee110a/triage/sim/trust"
)

// The README has the errors of the calibration in the program, between two marks; -update writes them.
func TestReadmeErrors(t *testing.T) {
	const file, from, to = "../README.md", "<!-- triage fidelity -->\n", "<!-- end -->"
	text, err := os.ReadFile(file)
	if os.IsNotExist(err) {
		t.Skip("there is no README.md")
	}
	if err != nil {
		t.Fatal(err)
	}
	before, rest, marked := strings.Cut(string(text), from)
	old, after, ended := strings.Cut(rest, to)
	if !marked || !ended {
		t.Fatalf("README.md has no %q followed by %q", from, to)
	}
	var b strings.Builder
	table := trust.Embedded()
	if err := markdownTables(&b, nil, trustTables(table)[:2]); err != nil {
		t.Fatal(err)
	}
	want := b.String() + "\n"
	if old == want {
		return
	}
	if !*update {
		t.Fatalf("README.md has other errors than the program, make fidelity-table writes them: got\n%swant\n%s", old, want)
	}
	if err := os.WriteFile(file, []byte(before+from+want+to+after), 0o644); err != nil {
		t.Fatal(err)
	}
}
