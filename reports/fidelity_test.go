package reports

import (
	"encoding/csv"
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/seed-2cee110a/triage/sim/fidelity"
)

// handFidelity is two stable stages that are 10 % too slow and 30 % too fast, a warmer one of a trace, and an overload.
func handFidelity() *fidelity.Report {
	score := func(id, subset, metric, regime string, measured, simulated float64, best bool) fidelity.Score {
		return fidelity.Score{Key: fidelity.Key{Experiment: id, Stage: "0", Subset: subset, Metric: metric, Stat: "mean"}, Regime: regime, GPU: "H100",
			Model: "m", Calibrated: true, Overload: regime == "overload", Measured: measured, Simulated: simulated, Best: best}
	}
	return &fidelity.Report{
		Seed: 7, Experiments: 4, Played: 3, ClosedRows: 2, ClosedPlayed: 1,
		Scores: []fidelity.Score{
			score("a", "all", "ttft", "stable", 20, 22, true),
			score("b", "all", "ttft", "stable", 100, 300, false),
			score("b", "warm", "ttft", "stable", 100, 70, true),
			score("c", "all", "request_throughput", "overload", 2, 3, true),
		},
		Rivals: []fidelity.Rival{{Simulator: "other", Metric: "itl_published", Ours: fidelity.Errors{N: 3, Mean: 0.5, Median: 0.5},
			Theirs: fidelity.Errors{N: 3, Mean: 0.4, Median: 0.4}}},
		Closed: []fidelity.Score{
			score("d", "all", "ttft", "closed loop", 10, 15, true), score("d", "warm", "ttft", "closed loop", 10, 12, false),
			score("d", "all", "tpot", "closed loop", 10, 9, true), score("d", "warm", "tpot", "closed loop", 10, 9, false),
		},
		Skipped: []fidelity.Skipped{{What: "e", Rows: 1, Reason: "unknown | model"}},
	}
}

func TestFidelityText(t *testing.T) {
	var b strings.Builder
	if err := FidelityText(&b, handFidelity()); err != nil {
		t.Fatal(err)
	}
	lines := map[string]bool{}
	for line := range strings.SplitSeq(b.String(), "\n") {
		lines[strings.Join(strings.Fields(line), " ")] = true
	}
	for _, want := range []string{
		"3 of 4 experiments and 1 of 2 closed-loop rows played, 8 measured statistics",
		"TTFT 2 20.0 % 20.0 % -10.0 %",
		"ITL other 3 40.0/40.0 % 50.0/50.0 % worse",
		"TTFT mean 2 20.0 % 20.0 % 2 105.0 % 105.0 %",
		"H100 mean 2 20.0/20.0 % 0 - 0 -",
		"c 0 served/s 2.00 3.00 +50.0 %",
		"m on H100",
		"1 50.0/50.0 +50.0 20.0/20.0 10.0/10.0 -10.0 10.0/10.0",
		"b 0 TTFT 100 70.0 -30.0 %",
		"e 1 unknown | model",
	} {
		if !lines[want] {
			t.Errorf("no line %q in\n%s", want, &b)
		}
	}
}

// The formats hold the same tables and rows.
func TestFidelityFormats(t *testing.T) {
	r := handFidelity()
	var md, table, rows, doc strings.Builder
	for w, write := range map[*strings.Builder]string{&md: "md", &table: "csv", &doc: "json", &rows: "table"} {
		for _, f := range FidelityCatalog() {
			if f.Name == write {
				if err := f.Write(w, r); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	for _, want := range []string{"| TTFT | 2 | 20.0 % | 20.0 % | -10.0 % |", `unknown \| model`} {
		if !strings.Contains(md.String(), want) {
			t.Errorf("no %q in\n%s", want, &md)
		}
	}
	all, err := csv.NewReader(strings.NewReader(table.String())).ReadAll()
	if err != nil || len(all) != 1+len(r.Scores)+len(r.Closed) {
		t.Fatalf("%d rows of CSV, %v; want %d", len(all), err, 1+len(r.Scores)+len(r.Closed))
	}
	if got := strings.Join(all[3], ","); got != "b,0,warm,ttft,mean,stable,H100,true,m,100,70,-0.3" {
		t.Errorf("CSV row %s", got)
	}
	var got fidelityJSON
	if err := json.Unmarshal([]byte(doc.String()), &got); err != nil {
		t.Fatal(err)
	}
	if got.Schema != FidelitySchemaName || len(got.Scores) != 4 || len(got.Closed) != 4 || math.Abs(float64(got.Scores[0].Error)-0.1) > 1e-12 ||
		got.Published[0].Verdict != "worse" || got.Skipped[0].Reason != "unknown | model" {
		t.Errorf("%+v", got)
	}
}
