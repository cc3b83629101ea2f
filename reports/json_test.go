package reports

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/seed-2cee110a/triage/sim"
)

func compiled(t *testing.T) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(Schema()))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("replay.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("replay.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestJSONFollowsItsSchema(t *testing.T) {
	nan := math.NaN()
	every := map[sim.Reason]int{}
	for r := sim.None + 1; r < sim.NumReasons; r++ {
		every[r] = 1
	}
	for name, c := range map[string]*Comparison{
		"every reason":      hand(t, made(t, "round-robin", 2, 0, 1, rejects(every))),
		"sample":            sample(t),
		"nothing completed": hand(t, made(t, "round-robin", nan, nan, nan, rejects(map[sim.Reason]int{sim.NeverFits: 100}))),
		"no identity":       hand(t, made(t, "round-robin", 2, 0, 1, unidentified)),
	} {
		t.Run(name, func(t *testing.T) { validated(t, c) })
	}
}

// validated holds a comparison's JSON to the schema.
func validated(t *testing.T, c *Comparison) {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(render(t, c, "json")))
	if err != nil {
		t.Fatal(err)
	}
	if err := compiled(t).Validate(doc); err != nil {
		t.Error(err)
	}
}

// Every reason for a refusal is in the schema.
func TestSchemaKnowsEveryReason(t *testing.T) {
	all := map[sim.Reason]int{}
	for r := sim.None + 1; r < sim.NumReasons; r++ {
		all[r] = 1
	}
	validated(t, hand(t, made(t, "round-robin", 2, 0.2, 1, rejects(all))))
}

// The schema must be tight enough to notice what breaks its readers.
func TestSchemaRefuses(t *testing.T) {
	schema := compiled(t)
	for _, test := range []struct{ name, old, new string }{
		{"a ratio above 1", `"hit_ratio": 0.36`, `"hit_ratio": 36`},
		{"a number as text", `"completed": 99`, `"completed": "99"`},
		{"another schema", SchemaName, "triage/replay/v2"},
		{"an unknown bucket", `"bucket": "cold"`, `"bucket": "chilly"`},
		{"an unknown field", `"makespan_s"`, `"makespan_ms"`},
		{"an unknown reason", `"too_long"`, `"too_tall"`},
		{"a negative time", `"span_s": 50`, `"span_s": -50`},
	} {
		text := render(t, sample(t), "json")
		if !strings.Contains(text, test.old) {
			t.Errorf("%s: the sample has no %s", test.name, test.old)
			continue
		}
		doc, err := jsonschema.UnmarshalJSON(strings.NewReader(strings.Replace(text, test.old, test.new, 1)))
		if err != nil {
			t.Fatal(err)
		}
		if schema.Validate(doc) == nil {
			t.Errorf("the schema accepts %s", test.name)
		}
	}
}

// The JSON and the CSV carry the summary's numbers unchanged, and nothing for what is unknown.
func TestNumbersSurvive(t *testing.T) {
	c := sample(t)
	c.Runs[0].TTFT.Mean = 0.1 + 0.2 // needs 17 digits
	c.Runs[0].HitRatio = math.NaN()
	var doc struct {
		Runs []struct {
			TTFT     map[string]float64 `json:"ttft_s"`
			HitRatio *float64           `json:"hit_ratio"`
			Rejected struct {
				Total    int            `json:"total"`
				ByReason map[string]int `json:"by_reason"`
			} `json:"rejected"`
		} `json:"runs"`
	}
	if err := json.Unmarshal([]byte(render(t, c, "json")), &doc); err != nil {
		t.Fatal(err)
	}
	table := rowsOf(t, render(t, c, "csv"))
	for i, r := range c.Runs {
		if got := doc.Runs[i].TTFT["mean"]; got != r.TTFT.Mean {
			t.Errorf("%s: JSON has mean TTFT %v, want %v", r.Policy, got, r.TTFT.Mean)
		}
		if got, _ := strconv.ParseFloat(table[i]["ttft_mean_s"], 64); got != r.TTFT.Mean {
			t.Errorf("%s: CSV has mean TTFT %v, want %v", r.Policy, got, r.TTFT.Mean)
		}
		if got := table[i]["affinity_cold_n"]; got != "40" {
			t.Errorf("%s: CSV has %s cold requests, want 40", r.Policy, got)
		}
		if got := table[i]["affinity_full_ttft_mean_s"]; got != "" {
			t.Errorf("%s: CSV has %q for a bucket without requests, want nothing", r.Policy, got)
		}
	}
	if doc.Runs[0].HitRatio != nil || table[0]["hit_ratio"] != "" {
		t.Errorf("unknown hit ratio: JSON %v, CSV %q, want null and nothing", doc.Runs[0].HitRatio, table[0]["hit_ratio"])
	}
	if got := doc.Runs[1].Rejected; got.Total != 1 || got.ByReason["too_long"] != 1 {
		t.Errorf("rejected: got %v, want 1 in all, too_long", got)
	}
}

func rowsOf(t *testing.T, text string) []map[string]string {
	t.Helper()
	all, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var out []map[string]string
	for _, record := range all[1:] {
		row := map[string]string{}
		for i, name := range all[0] {
			row[name] = record[i]
		}
		out = append(out, row)
	}
	return out
}
