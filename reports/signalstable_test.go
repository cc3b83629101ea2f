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
	gridPolicies = []string{"round-robin", "least-request", "score:norm=absolute", "score"}
)

// gridPoint is a run of the grid, by place.
type gridPoint struct{ load, routers, signals, policy int }

// signalsGrid replays Mooncake's conversations over the grid.
func signalsGrid(t *testing.T) map[gridPoint]sim.Summary {
	t.Helper()
	const file = "../../shared/traces/mooncake/conversation_trace.jsonl.gz"
	if _, err := os.Stat(file); err != nil {
		t.Skip("no shared traces beside the checkout")
	}
	tr, err := traces.Open(file, traces.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var specs []policies.Spec
	for _, p := range gridPolicies {
		s, err := policies.Parse(p)
		if err != nil {
			t.Fatal(err)
		}
		specs = append(specs, s)
	}
	grid := map[gridPoint]sim.Summary{}
	for i, load := range gridLoads {
		for j, routers := range gridRouters {
			for k, signals := range gridSignals {
				cfg := sim.Default()
				cfg.Speed, cfg.Routers.N = load, routers
				if cfg.Signals, err = sim.ParseSignals(signals); err != nil {
					t.Fatal(err)
				}
				results, err := sim.RunAll(context.Background(), cfg, specs, tr, 2, nil)
				if err != nil {
					t.Fatal(err)
				}
				for l, r := range results {
					grid[gridPoint{i, j, k, l}] = r.Summary()
				}
			}
		}
	}
	return grid
}

// The tables in the README and beside it are those that a replay makes, and what they are said to show is in them; -update
// writes them.
func TestSignalsTable(t *testing.T) {
	grid := signalsGrid(t)
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

// lessons holds the grid to what is said of it.
func lessons(t *testing.T, load int, grid map[gridPoint]sim.Summary) {
	t.Helper()
	const plain, least, absolute, work = 0, 1, 2, 3
	at := func(routers, signals, policy int) sim.Summary { return grid[gridPoint{load, routers, signals, policy}] }
	old := len(gridSignals) - 1
	for k := range gridSignals { // 1.01 and 1.08 times; 1.04 and 1.06
		if x := at(0, k, work).TTFT.Mean / at(0, 0, work).TTFT.Mean; x > 1.1 {
			t.Errorf("load %v: %s costs one router that counts what it sent %.2f times the mean TTFT", gridLoads[load], gridSignals[k], x)
		}
	}
	one, four := at(0, 0, work), at(1, 0, work)
	if four.TTFT.Mean < 1.7*one.TTFT.Mean || four.HitRatio > 0.8*one.HitRatio {
		t.Errorf("load %v: four routers have %.2f s at hit ratio %.3f, one has %.2f s at %.3f", gridLoads[load], four.TTFT.Mean, four.HitRatio, one.TTFT.Mean, one.HitRatio)
	}
	if x := at(1, old, absolute).TTFT.Mean / at(1, old, least).TTFT.Mean; x < 1.2 { // 1.24 and 1.95
		t.Errorf("load %v: four routers that read old signals have %.2f times the mean TTFT of counting alone", gridLoads[load], x)
	}
	if x := at(0, 0, plain).TTFT.Mean / one.TTFT.Mean; x < 2 {
		t.Errorf("load %v: round robin has %.2f times the mean TTFT of score", gridLoads[load], x)
	}
}
