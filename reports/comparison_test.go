package reports

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-2cee110a/triage/sim"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// sample is the comparison of the golden files.
func sample(t *testing.T) *Comparison {
	c := hand(t,
		made(t, "round-robin", 2, 0.2, 1.1),
		made(t, "score", 0.84, 0.36, 1.05, rejects(map[sim.Reason]int{sim.TooLong: 1})),
		made(t, "piled=score:q=0,load=0", 820, 0.37, 7.9))
	c.Runs[1].Warnings = []string{"3 of 100 requests have output 0, read as 1"}
	return c
}

func render(t *testing.T, c *Comparison, format string) string {
	t.Helper()
	r, err := Lookup(format)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := r.Write(&b, c); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestGolden(t *testing.T) {
	for _, r := range Catalog() {
		t.Run(r.Name, func(t *testing.T) {
			got := render(t, sample(t), r.Name)
			path := filepath.Join("testdata", "comparison."+r.Name)
			if *update {
				if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("%s differs (-want +got):\n%s", path, diff)
			}
		})
	}
}

func TestTextIsAtMostAHundredColumnsWide(t *testing.T) {
	for n, text := range strings.Split(render(t, sample(t), "table"), "\n") {
		if w := len([]rune(text)); w > wide {
			t.Errorf("line %d is %d columns wide, want at most %d: %s", n+1, w, wide, text)
		}
		if text != strings.TrimRight(text, " ") {
			t.Errorf("line %d ends in spaces: %q", n+1, text)
		}
	}
}

func TestLongCommandsStayWhole(t *testing.T) {
	long := "triage replay " + strings.Repeat("very/", 20) + "far.jsonl"
	got := commands([]step{{long, "what it shows"}, {"triage demo", "more"}})
	want := "  # what it shows\n  $ " + long + "\n  # more\n  $ triage demo\n"
	if got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func TestEveryFormatWarnsOfUnknownIdentity(t *testing.T) {
	c := hand(t, made(t, "round-robin", 2, 0, 1, unidentified), made(t, "score", 1, 0, 1, unidentified))
	for _, r := range Catalog() {
		text := render(t, c, r.Name)
		if !strings.Contains(text, "100 of 100 requests have no prefix identity") {
			t.Errorf("%s does not warn:\n%s", r.Name, text)
		}
		if r.Name != "csv" && strings.Contains(text, "cold") {
			t.Errorf("%s shows affinity buckets of requests without identity:\n%s", r.Name, text)
		}
	}
}

func TestWarningsAreToldOnce(t *testing.T) {
	c := hand(t, made(t, "round-robin", 2, 0.2, 1), made(t, "score", 1, 0.2, 1))
	c.Runs[0].Warnings = []string{"all", "first"}
	c.Runs[1].Warnings = []string{"second", "all"}
	want := []Warning{{"all", nil}, {"first", []string{"round-robin"}}, {"second", []string{"score"}}}
	if diff := cmp.Diff(want, c.Warnings()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestMarkdownEscapesBars(t *testing.T) {
	c := hand(t, made(t, "a|b=round-robin", 2, 0.2, 1))
	for _, text := range strings.Split(render(t, c, "md"), "\n") {
		if strings.HasPrefix(text, "| a") && !strings.HasPrefix(text, `| a\|b |`) {
			t.Errorf("got %q, want the label's bar escaped", text)
		}
	}
}

func TestBaselineIsTheFirstRoundRobin(t *testing.T) {
	c := hand(t, made(t, "score", 1, 0.3, 1), made(t, "round-robin", 2, 0.2, 1), made(t, "again=round-robin", 4, 0.2, 1))
	if c.Baseline != 1 || c.Gain(0) != -0.5 || gainCell(c, 1) != "base" {
		t.Errorf("baseline %d, gain of score %v, cell %q; want 1, -0.5, base", c.Baseline, c.Gain(0), gainCell(c, 1))
	}
	if c = hand(t, made(t, "score", 1, 0.3, 1), made(t, "random", 2, 0.2, 1)); c.Baseline != 0 {
		t.Errorf("baseline %d without a round robin, want the first run", c.Baseline)
	}
}

func TestNextStepsAskWhatIsOpen(t *testing.T) {
	full := hand(t, made(t, "score", 1, 0.3, 1), made(t, "score:aff=0", 1, 0.3, 1), made(t, "score:fit=off", 1, 0.3, 1))
	full.Config.Signals.Scrape = 1e9
	if got := next(full); len(got) != 1 || !strings.Contains(got[0].command, "-o results") {
		t.Errorf("with every question answered: %v, want only to keep the results", got)
	}
	blind := hand(t, made(t, "score", 1, 0.3, 1, unidentified))
	blind.Trace.Unidentified = 100
	for _, s := range next(blind) {
		if strings.Contains(s.command, "aff=0") {
			t.Errorf("proposes %q for a trace without identity", s.command)
		}
	}
	if got := next(hand(t, made(t, "random", 1, 0.3, 1))); got[0].command != "triage replay conv.jsonl -p round-robin -p score" {
		t.Errorf("without a score: %v", got)
	}
}

func TestWriteErrorsComeBack(t *testing.T) {
	for _, r := range Catalog() {
		if err := r.Write(full{}, sample(t)); !errors.Is(err, errFull) {
			t.Errorf("%s: got %v, want %v", r.Name, err, errFull)
		}
	}
}

var errFull = errors.New("disk full")

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errFull }

func TestLookupNamesWhatThereIs(t *testing.T) {
	if _, err := Lookup("xml"); err == nil || !strings.Contains(err.Error(), "have table, md, csv, json") {
		t.Errorf("got %v", err)
	}
}
