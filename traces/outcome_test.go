package traces

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"
)

const outcomeHeader = "row,policy,arrival_s,replica,status,reason,prompt_tokens,output_tokens,hit_tokens,affinity,ttft_s,e2e_s,gateway_wait_s,engine_wait_s,preemptions,score,runner_up,margin,terms,retries,retry_after_s"

// outcomes makes two outcomes a row: one with everything and one with nothing that can be unknown.
func outcomes(tr *Trace, policies ...string) []Outcome {
	nan := math.NaN()
	var all []Outcome
	for _, policy := range policies {
		row := int64(0)
		for r := range tr.Records() {
			o := Outcome{Record: r, Row: row, Policy: policy, Outcome: "completed", Replica: "r1", HitTokens: 0, Affinity: 0.5,
				TTFTs: 0.25, E2Es: 1.5, GatewayWaitS: 0, EngineWaitS: 0.125, Score: -8.5, Margin: 0.0000001, RunnerUp: "r0",
				Terms: "aff=8.4,q=-0.6", RetryAfterS: nan}
			if row%2 == 1 {
				o = Outcome{Record: r, Row: row, Policy: policy, Outcome: "rejected", Reason: "rate_limit", HitTokens: Unknown,
					Preemptions: Unknown, Affinity: nan, TTFTs: nan, E2Es: nan, GatewayWaitS: nan, EngineWaitS: nan,
					Score: nan, Margin: nan, RetryAfterS: 2.5}
			}
			all = append(all, o)
			row++
		}
	}
	return all
}

func writeOutcomes(t *testing.T, name string, m Meta, all []Outcome) []byte {
	t.Helper()
	var file bytes.Buffer
	w, err := NewOutcomeWriter(&file, name, m)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range all {
		if err := w.Write(o); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

func TestOutcomesCSV(t *testing.T) {
	tr := read(t, []byte(goodRow+goodRow), Options{})
	rows, err := csv.NewReader(bytes.NewReader(writeOutcomes(t, "o.csv", tr.Meta, outcomes(tr, "score:aff=1,q=2")))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	want := [][]string{
		strings.Split(outcomeHeader, ","),
		{"0", "score:aff=1,q=2", "0", "r1", "completed", "", "1040", "2", "0", "0.5", "0.25", "1.5", "0", "0.125", "0", "-8.5", "r0", "0.0000001", "aff=8.4,q=-0.6", "0", ""},
		{"1", "score:aff=1,q=2", "0", "", "rejected", "rate_limit", "1040", "2", "", "", "", "", "", "", "", "", "", "", "", "0", "2.5"},
	}
	if d := cmp.Diff(want, rows); d != "" {
		t.Error(d)
	}
	if got := string(writeOutcomes(t, "o.csv", tr.Meta, nil)); got != outcomeHeader+"\n" {
		t.Errorf("without rows: %q, want the header", got)
	}
}

func TestOutcomesJSON(t *testing.T) {
	tr := read(t, []byte(goodRow+goodRow), Options{})
	lines := strings.Split(string(writeOutcomes(t, "o.JSONL", tr.Meta, outcomes(tr, `a"b`))), "\n")
	want := `{"row":1,"policy":"a\"b","arrival_s":0,"replica":null,"status":"rejected","reason":"rate_limit","prompt_tokens":1040,"output_tokens":2,"hit_tokens":null,"affinity":null,"ttft_s":null,"e2e_s":null,"gateway_wait_s":null,"engine_wait_s":null,"preemptions":null,"score":null,"runner_up":null,"margin":null,"terms":null,"retries":0,"retry_after_s":2.5}`
	if lines[1] != want {
		t.Errorf("got  %s\nwant %s", lines[1], want)
	}
	var object map[string]any
	if err := json.Unmarshal([]byte(lines[0]), &object); err != nil || object["ttft_s"] != 0.25 || object["hit_tokens"] != 0.0 {
		t.Errorf("%s: %v", lines[0], err)
	}
	if d := cmp.Diff(map[string]any{"aff": 8.4, "q": -0.6}, object["terms"]); d != "" {
		t.Errorf("terms: %s", d)
	}
}

// Terms are an object of plain numbers, in their own order.
func TestOutcomesJSONTerms(t *testing.T) {
	for terms, want := range map[termList]string{
		"aff=9.89,load=-0.06": `{"aff":9.89,"load":-0.06}`,
		"q=-1e-07":            `{"q":-0.0000001}`,
		"kv=-Inf,q=NaN":       `{"kv":null,"q":null}`,
	} {
		if got := string(appendTerms(nil, terms)); got != want {
			t.Errorf("%s: got %s, want %s", terms, got, want)
		}
	}
}

// Outcomes as text are no trace, and are not taken for a broken one.
func TestOutcomesAreNoTrace(t *testing.T) {
	tr := read(t, []byte(goodRow), Options{})
	want := "f: this is a file of outcomes; only outcomes written as .parquet can be replayed"
	for _, name := range []string{"o.csv", "o.jsonl"} {
		for _, format := range []string{"", "mooncake", "azure"} {
			content := writeOutcomes(t, name, tr.Meta, outcomes(tr, "a"))
			if _, err := load("f", bytes.NewReader(content), Options{Format: format}); err == nil || err.Error() != want {
				t.Errorf("%s as %q: got %v, want %s", name, format, err, want)
			}
		}
	}
}

// The Parquet file has the same columns first, with the same values, and opens as the trace that was played.
func TestOutcomesParquet(t *testing.T) {
	tr, err := Open("testdata/small.jsonl", Options{})
	if err != nil {
		t.Fatal(err)
	}
	tr.extra.status.put(2, ClientAbort)
	file := writeOutcomes(t, "o.parquet", tr.Meta, outcomes(tr, "a"))
	var names []string
	f, err := parquet.OpenFile(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range f.Root().Columns() {
		names = append(names, c.Name())
	}
	if got := strings.Join(names[:len(outcomeColumns)], ","); got != outcomeHeader {
		t.Errorf("columns %s, want %s first", got, outcomeHeader)
	}
	rows := rawRows(t, file)
	for i, o := range outcomes(tr, "a") {
		for _, c := range outcomeColumns {
			want := c.value(&o)
			if terms, ok := want.(termList); ok {
				want = string(terms)
			}
			if got := plain(rows[i][c.name]); got != want {
				t.Errorf("row %d, %s: %v, want %v", i, c.name, got, want)
			}
		}
	}
	again := read(t, file, Options{})
	if again.Digest != tr.Digest || len(again.Notes) > 2 {
		t.Errorf("as a trace: digest %s, want %s; notes %q", again.Digest, tr.Digest, again.Notes)
	}
	if again.Meta != tr.Meta {
		t.Errorf("as a trace: meta %+v, want %+v", again.Meta, tr.Meta)
	}
	for i, r := range slices.Collect(again.Records()) {
		if want := tr.extra.status.at(i); r.Status != want {
			t.Errorf("as a trace: row %d has status %v, want the trace's own, %v", i, r.Status, want)
		}
	}
	two := read(t, writeOutcomes(t, "o.parquet", tr.Meta, outcomes(tr, "a", "b")), Options{})
	if note := `the file has the outcomes of several policies: the trace is made of the rows of the first, "a"`; two.Digest != tr.Digest || two.Notes[0] != note {
		t.Errorf("two policies: digest %s, want %s; notes %q", two.Digest, tr.Digest, two.Notes)
	}
}

// plain widens what the Parquet library returns.
func plain(v any) any {
	switch v := v.(type) {
	case int32:
		return int64(v)
	case []byte:
		return string(v)
	}
	return v
}

func TestOutcomeEndings(t *testing.T) {
	want := "o.txt: outcomes cannot be written to a file with this ending (have .parquet, .jsonl, .csv)"
	if err := CheckOutcomeName("o.txt"); err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	if err := CheckOutcomeName("dir/o.parquet"); err != nil {
		t.Error(err)
	}
}
