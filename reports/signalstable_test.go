package reports

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/seed-2cee110a/triage/policies"
	"github.com/seed-2cee110a/triage/sim"
	"github.com/seed-2cee110a/triage/traces"
)

// The grid of the tables of signals and routers.
var (
	gridLoads    = []float64{1, 1.3}
	gridRouters  = []int{1, 4}
	gridSignals  = []string{"live", "push=50ms", "push=1s", "push=5s", "scrape=30s"}
	gridPolicies = []string{"round-robin", "least-request", "score:norm=absolute", "score", "score:others=off,load=0"}
)

// gridPoint is a run of the grid, by place.
type gridPoint struct{ load, routers, signals, policy int }

// conversation loads Mooncake's conversations, which lie beside the checkout.
func conversation(t *testing.T) *traces.Trace {
	t.Helper()
	const file = "../../shared/traces/mooncake/conversation_trace.jsonl.gz"
	if _, err := os.Stat(file); err != nil {
		t.Skip("no shared traces beside the checkout")
	}
	tr, err := traces.Open(file, traces.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// summaries replays a trace through policies.
func summaries(t *testing.T, tr *traces.Trace, load float64, routers int, signals string, names ...string) []sim.Summary {
	t.Helper()
	cfg := sim.Default()
	cfg.Speed, cfg.Routers.N = load, routers
	var err error
	if cfg.Signals, err = sim.ParseSignals(signals); err != nil {
		t.Fatal(err)
	}
	specs := make([]policies.Spec, len(names))
	for i, name := range names {
		if specs[i], err = policies.Parse(name); err != nil {
			t.Fatal(err)
		}
	}
	results, err := sim.RunAll(context.Background(), cfg, specs, tr, 2, nil)
	if err != nil {
		t.Fatal(err)
	}
	var out []sim.Summary
	for _, r := range results {
		out = append(out, r.Summary())
	}
	return out
}

// signalsGrid replays a trace over the grid.
func signalsGrid(t *testing.T, tr *traces.Trace) map[gridPoint]sim.Summary {
	grid := map[gridPoint]sim.Summary{}
	for i, load := range gridLoads {
		for j, routers := range gridRouters {
			for k, signals := range gridSignals {
				for l, s := range summaries(t, tr, load, routers, signals, gridPolicies...) {
					grid[gridPoint{i, j, k, l}] = s
				}
			}
		}
	}
	return grid
}

// The tables in the README and beside it are those that a replay makes, and what they are said to show is in them; -update
// writes them.
func TestSignalsTable(t *testing.T) {
	grid := signalsGrid(t, conversation(t))
	rewrite(t, "../README.md", "<!-- triage signals -->\n", shortGrid(grid))
	rewrite(t, "doc/signals.md", "<!-- triage signals -->\n", longGrid(grid))
	for i := range gridLoads {
		lessons(t, i, grid)
	}
}

// rewrite holds what stands between two marks in a file to a text, or writes it.
func rewrite(t *testing.T, file, from, want string) {
	t.Helper()
	const to = "<!-- end -->"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, marked := strings.Cut(string(text), from)
	old, after, ended := strings.Cut(rest, to)
	switch {
	case !marked || !ended:
		t.Fatalf("%s has no %q followed by %q", file, from, to)
	case old == want:
	case !*update:
		t.Errorf("%s has another table than a replay, make signals-table writes it: got\n%swant\n%s", file, old, want)
	default:
		if err := os.WriteFile(file, []byte(before+from+want+to+after), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// eachRow calls a function for each load, number of routers and policy.
func eachRow(f func(p gridPoint, name string)) {
	for i, load := range gridLoads {
		for j, routers := range gridRouters {
			for l, policy := range gridPolicies {
				f(gridPoint{i, j, 0, l}, fmt.Sprintf("%v | %d | `%s`", load, routers, policy))
			}
		}
	}
}

// shortGrid has mean and p90 TTFT, a column for each source of signals.
func shortGrid(grid map[gridPoint]sim.Summary) string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n| load | routers | policy | %s |\n| --- | --- | --- |%s\n", strings.Join(gridSignals, " | "), strings.Repeat(" ---: |", len(gridSignals)))
	eachRow(func(p gridPoint, name string) {
		b.WriteString("| " + name + " |")
		for p.signals = range gridSignals {
			s := grid[p]
			fmt.Fprintf(&b, " %s / %s |", digits(s.TTFT.Mean), digits(s.TTFT.P90))
		}
		b.WriteString("\n")
	})
	return b.String() + "\n"
}

// longGrid has a row a run.
func longGrid(grid map[gridPoint]sim.Summary) string {
	var b strings.Builder
	b.WriteString("\n| load | routers | policy | signals | mean TTFT, s | p90 TTFT, s | hit ratio | imbalance | rejected |\n| --- | --- | --- | --- | ---: | ---: | ---: | ---: | ---: |\n")
	eachRow(func(p gridPoint, name string) {
		for k, signals := range gridSignals {
			p.signals = k
			s := grid[p]
			fmt.Fprintf(&b, "| %s | %s | %s | %s | %.3f | %.2f | %d |\n", name, signals, digits(s.TTFT.Mean), digits(s.TTFT.P90), s.HitRatio, s.Imbalance, s.Rejected)
		}
	})
	return b.String() + "\n"
}

// digits prints seconds.
func digits(x float64) string { return strconv.FormatFloat(x, 'f', 2, 64) }

// lessons holds the grid to what the README says of it.
func lessons(t *testing.T, load int, grid map[gridPoint]sim.Summary) {
	t.Helper()
	const least, absolute, work, book = 1, 2, 3, 4
	mean := func(routers, signals, policy int) float64 {
		return grid[gridPoint{load, routers, signals, policy}].TTFT.Mean
	}
	old := len(gridSignals) - 1
	for k, signals := range gridSignals {
		filtered := k == old && gridLoads[load] > 1                                                              // old numbers, read by a filter that bites
		if x := mean(0, k, work) / mean(0, 0, work); !filtered && x > 1.07 || filtered && (x < 1.5 || x > 2.5) { // at most 1.05; 1.90
			t.Errorf("load %v: %s costs one router that counts what it sent %.2f times the mean TTFT", gridLoads[load], signals, x)
		}
		if x := mean(1, k, book) / mean(1, 0, book); x < 0.95 || x > 1.05 && !filtered || x > 1.3 { // 0.98 to 1.02; 1.18
			t.Errorf("load %v: %s changes the mean TTFT of a router that counts its own only %.2f times", gridLoads[load], signals, x)
		}
	}
	if x := mean(1, 0, work) / mean(0, 0, work); x < 1.5 { // 1.79 and 1.73
		t.Errorf("load %v: with live signals four routers have %.2f times the mean TTFT of one", gridLoads[load], x)
	}
	if x := mean(1, old, absolute) / mean(1, old, least); x < 1.15 { // 1.40 and 2.13
		t.Errorf("load %v: four routers that read old signals have %.2f times the mean TTFT of counting alone", gridLoads[load], x)
	}
	if x := mean(1, old, work) / mean(1, old, book); x < 1.08 { // 1.16 and 1.40
		t.Errorf("load %v: with old news of others' load four routers have %.2f times the mean TTFT of without", gridLoads[load], x)
	}
}

// It is not what each of several routers does not know of the caches: knowing all of it gains a tenth at most.
func TestSeveralRoutersMissWorkNotCaches(t *testing.T) {
	s := summaries(t, conversation(t), 1, 4, "live", "score", "score:prefix=oracle")
	if x := s[1].TTFT.Mean / s[0].TTFT.Mean; x < 0.9 { // 0.96
		t.Errorf("the truth about caches has %.2f times the mean TTFT of belief, with four routers", x)
	}
}
