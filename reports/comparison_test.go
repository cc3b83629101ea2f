package reports

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-2cee110a/triage/policies"
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

// Whatever is known of the runs and however long their labels are, text keeps to its width and uses what it has.
func TestTextKeepsToItsWidth(t *testing.T) {
	scraped := sample(t)
	scraped.Config.Signals.Scrape, scraped.Runs[1].Age.Mean = 30e9, 14.9
	long := hand(t, made(t, "round-robin", 1200, 0.2, 1.1), made(t, "score:norm=absolute,sent=off,aff=20,q=1,kv=5", 820, 0.37, 7.9))
	for _, c := range []*Comparison{sample(t), scraped, long} {
		for _, width := range []int{80, 100} {
			c.Width = width
			text := render(t, c, "table")
			for n, line := range strings.Split(text, "\n") {
				if w := len([]rune(line)); w > width {
					t.Errorf("line %d is %d columns wide, want at most %d: %s", n+1, w, width, line)
				}
				if line != strings.TrimRight(line, " ") {
					t.Errorf("line %d ends in spaces: %q", n+1, line)
				}
			}
			if got := broadest(text); width == 100 && got <= 80 {
				t.Errorf("text is %d columns wide, want it to use more than 80 of 100", got)
			}
		}
	}
}

func TestLongCommandsStayRunnable(t *testing.T) {
	far := "triage replay " + strings.Repeat("very/", 20) + "far.jsonl"
	quoted := "triage replay '" + strings.Repeat("a -b ", 20) + "'"
	flags := "triage replay conv.jsonl --signals scrape=30s --speed 2.5 --tp 4 -p score -p score:aff=0"
	got := commands([]step{{far, "far"}, {quoted, "quoted"}, {flags, "flags"}, {"triage demo", "more"}})
	want := "  # far\n  $ " + far + "\n  # quoted\n  $ " + quoted + "\n  # flags\n  $ " +
		"triage replay conv.jsonl --signals scrape=30s --speed 2.5 --tp 4 \\\n      -p score -p score:aff=0\n  $ triage demo   # more\n"
	if got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

// A small screen shows the end: the findings stand right below the table.
func TestFindingsFollowTheTable(t *testing.T) {
	for _, format := range []string{"table", "md"} {
		text := render(t, sample(t), format)
		table, found, buckets := strings.Index(text, "410x"), strings.Index(text, "findings"), strings.Index(text, "truly cached")
		if table < 0 || found < table || buckets < found {
			t.Errorf("%s has the table at %d, findings at %d, buckets at %d, want this order", format, table, found, buckets)
		}
	}
}

func TestThinBucketsAreMarked(t *testing.T) {
	c := sample(t)
	for _, format := range []string{"table", "md"} {
		text := render(t, c, format)
		for _, want := range []string{"(1.00 / 2.00)", "2.00 / 4.00", "over fewer than 30 requests"} {
			if !strings.Contains(text, want) {
				t.Errorf("%s has no %q:\n%s", format, want, text)
			}
		}
		if strings.Contains(text, "(2.00 / 4.00)") {
			t.Errorf("%s puts a bucket of 30 requests in brackets", format)
		}
	}
	for i := range c.Runs {
		c.Runs[i].Affinity = c.Runs[i].Affinity[:2]
	}
	if text := render(t, c, "table"); strings.Contains(text, "brackets") {
		t.Errorf("explains brackets that are not there:\n%s", text)
	}
}

// Where one side refused much, the cell of the gain says so, whichever side it is.
func TestUnevenGainsAreMarked(t *testing.T) {
	refused := rejects(map[sim.Reason]int{sim.Deadline: 40})
	for _, test := range []struct {
		name string
		c    *Comparison
		want string
	}{
		{"the run refused", hand(t, made(t, "round-robin", 2, 0.2, 1), made(t, "score", 0.14, 0.3, 1, refused)), "-93 %*"},
		{"the baseline refused", hand(t, made(t, "round-robin", 2, 0.2, 1, refused), made(t, "score", 7.2, 0.3, 1)), "3.6x*"},
		{"both alike", hand(t, made(t, "round-robin", 2, 0.2, 1, refused), made(t, "score", 0.14, 0.3, 1, refused)), "-93 %"},
	} {
		if got := gainCell(test.c, 1); got != test.want {
			t.Errorf("%s: got %q, want %q", test.name, got, test.want)
		}
		for _, format := range []string{"table", "md"} {
			text := render(t, test.c, format)
			if marked := strings.Contains(text, "over fewer requests on one side"); marked != strings.HasSuffix(test.want, "*") {
				t.Errorf("%s: %s explains the mark: %v\n%s", test.name, format, marked, text)
			}
		}
	}
}

// Only the score reads signals: ages of the other policies are not known, whatever the simulator noted.
func TestSignalAgesAreTheScores(t *testing.T) {
	cfg := quick()
	cfg.Signals.Scrape = 5e9
	tr := traceOf(t, request{0, 30, 4, []int64{1, 2, 3}}, request{7000, 30, 4, []int64{1, 2, 3}}, request{9000, 10, 1, nil})
	var results []*sim.Result
	for _, policy := range []string{"round-robin", "score"} {
		r, err := sim.Run(cfg, mustParse(t, policy), tr)
		if err != nil {
			t.Fatal(err)
		}
		results = append(results, r)
	}
	c, err := Compare("triage replay x", results...)
	if err != nil {
		t.Fatal(err)
	}
	if known(c.Runs[0].Age.Mean) || !(c.Runs[1].Age.Mean > 0) || c.Signals != c.Runs[1].Age {
		t.Errorf("ages of round robin %v, score %v, header %v; want none, some and the score's", c.Runs[0].Age, c.Runs[1].Age, c.Signals)
	}
	var doc struct {
		Signals struct {
			Age map[string]*float64 `json:"age_s"`
		}
		Runs []struct {
			Age map[string]*float64 `json:"signal_age_s"`
		}
	}
	if err := json.Unmarshal([]byte(render(t, c, "json")), &doc); err != nil {
		t.Fatal(err)
	}
	if a := doc.Runs[0].Age["mean"]; a != nil {
		t.Errorf("JSON has age %v for round robin, want null", *a)
	}
	for name, a := range map[string]*float64{"run": doc.Runs[1].Age["mean"], "header": doc.Signals.Age["mean"]} {
		if a == nil || *a != c.Runs[1].Age.Mean {
			t.Errorf("JSON has age %v of the %s, want %v", a, name, c.Runs[1].Age.Mean)
		}
	}
	if rows := rowsOf(t, render(t, c, "csv")); rows[0]["signal_age_mean_s"] != "" || rows[1]["signal_age_mean_s"] == "" {
		t.Errorf("CSV has ages %q and %q, want none and some", rows[0]["signal_age_mean_s"], rows[1]["signal_age_mean_s"])
	}
	if text := render(t, c, "md"); !strings.Contains(text, "| signal age s p50/p95 |") {
		t.Errorf("Markdown has no column for the age:\n%s", text)
	}
}

func mustParse(t *testing.T, policy string) policies.Spec {
	t.Helper()
	s, err := policies.Parse(policy)
	if err != nil {
		t.Fatal(err)
	}
	return s
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
	alone := hand(t, made(t, "mine=score:q=1", 1, 0.3, 1))
	alone.Policies = "-p mine=score:q=1"
	if got := next(alone); got[0].command != "triage replay conv.jsonl -p mine=score:q=1 -p round-robin" {
		t.Errorf("for a lone run: %v, want a baseline first", got)
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
