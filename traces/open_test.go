package traces

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go"
)

const (
	goodRow = `{"timestamp":0,"input_length":1040,"output_length":2,"hash_ids":[0,1,2]}` + "\n"
	header  = "TIMESTAMP,ContextTokens,GeneratedTokens\n"
)

// Bad content is an error that says where, what was found and what was wanted.
func TestBadContent(t *testing.T) {
	for _, tc := range []struct {
		name, content, want string
	}{
		{"empty", "", "f: the file is empty, want a trace"},
		{"blank", " \n\n", "f: the file is empty, want a trace"},
		{"blank and long", strings.Repeat(" \n", 9000), "f: the file is empty, want a trace"},
		{"byte order mark", "\xef\xbb\xbf", "f: the file is empty, want a trace"},
		{"byte order mark and blank", "\xef\xbb\xbf\r\n", "f: the file is empty, want a trace"},
		{"after long white space", strings.Repeat("\n \n", 5000) + "x", `f: unknown trace format: it starts with "x", which is none of parquet, mooncake, azure; if it is one of them, say which with --trace-format`},
		{"line after long white space", strings.Repeat("\n \n", 5000) + goodRow + "{", "f:10002: the line is no JSON object: unexpected end of JSON input near \"{\""},
		{"byte of gzip", "\x1f", "f: the gzip data ends too early: the file is incomplete"},
		{"bytes of zstd", "\x28\xb5", "f: the zstd data ends too early: the file is incomplete"},
		{"byte of nothing", "(", `f: unknown trace format: it starts with "(", which is none of parquet, mooncake, azure; if it is one of them, say which with --trace-format`},
		{"start of Parquet", "PAR1", "f: the Parquet data is broken or incomplete: 4 bytes are too short to be Parquet"},
		{"another format", "a,b,c\n1,2,3\n", `f: unknown trace format: it starts with "a,b,c", which is none of parquet, mooncake, azure; if it is one of them, say which with --trace-format`},
		{"seconds and small blocks", `{"chat_id":1,"timestamp":0.5,"input_length":5,"hash_ids":[1]}`, `f: unknown trace format: it starts with "{\"chat_id\":1,\"timestamp\":0.5,\"input_leng"..., which is none of parquet, mooncake, azure; if it is one of them, say which with --trace-format`},
		{"header only", header, "f: no requests, want at least 1"},

		{"list", "[" + strings.TrimSpace(goodRow) + "]", "f: the file is a JSON array, want one JSON object a line (jq -c '.[]' makes that of it)"},
		{"list over lines", "[\n  {\n", "f: the file is a JSON array, want one JSON object a line (jq -c '.[]' makes that of it)"},
		{"object over lines", "{\n  \"timestamp\": 0,\n", "f: the first line is only a brace, want one JSON object a line (jq -c . makes that of it)"},

		{"torn line", goodRow + `{"timestamp":0,"inp`, `f:2: the line is no JSON object: unexpected end of JSON input near "stamp\":0,\"inp" (after the key "timestamp")`},
		{"minus infinity", strings.Replace(goodRow, `:2,`, `:-Infinity,`, 1), `f:1: the line is no JSON object: invalid character 'I' in numeric literal near "ut_length\":-Infinity,\"ha" (after the key "output_length"); JSON has no NaN and no Infinity`},
		{"no key", "{;" + goodRow, "f:1: the line is no JSON object: invalid character ';' looking for beginning of object key string near \"{;{\\\"timestamp\""},
		{"number twice", strings.Replace(goodRow, `{`, `{"input_length":5,`, 1), "f:1: input_length is given twice"},
		{"name twice", strings.Replace(goodRow, `{`, `{"model":"","model":"m",`, 1), "f:1: model is given twice"},
		{"ids twice", strings.Replace(goodRow, `{`, `{"hash_ids":[],`, 1), "f:1: hash_ids is given twice"},
		{"key twice in two spellings", strings.Replace(goodRow, `{`, `{"\u0069nput_length":5,`, 1), "f:1: input_length is given twice"},
		{"other key twice", strings.Replace(goodRow, `{`, `{"x":[{"x":1}],"x":2,`, 1), "f:1: x is given twice"},
		{"hash_id", strings.Replace(goodRow, "hash_ids", "hash_id", 1), `f:1: unknown key "hash_id"; did you mean "hash_ids"?`},
		{"Hash_IDs", strings.Replace(goodRow, "hash_ids", "Hash_IDs", 1), `f:1: unknown key "Hash_IDs"; did you mean "hash_ids"?`},
		{"input_lenght", goodRow + strings.Replace(goodRow, "input_length", "input_lenght", 1), `f:2: unknown key "input_lenght"; did you mean "input_length"?`},
		{"no object", goodRow + "[1]\n", `f:2: the line is "[1]", want a JSON object: json: cannot unmarshal array into Go value of type map[string]json.RawMessage`},
		{"no time", goodRow + `{"input_length":5,"output_length":2}`, "f:2: timestamp is missing, want a number of milliseconds"},
		{"no prompt", `{"timestamp":5,"output_length":2}`, "f:1: input_length is missing, want a number of tokens"},
		{"no output", `{"timestamp":5,"input_length":2}`, "f:1: output_length is missing, want a number of tokens"},
		{"time not a number", strings.Replace(goodRow, `:0,"i`, `:"now","i`, 1), `f:1: timestamp is "now", want a number of milliseconds`},
		{"time null", strings.Replace(goodRow, `:0,"i`, `:null,"i`, 1), `f:1: timestamp is null, want a number of milliseconds`},
		{"time NaN", strings.Replace(goodRow, `:0,"i`, `:NaN,"i`, 1), `f:1: the line is no JSON object: invalid character 'N' looking for beginning of value near "\"timestamp\":NaN,\"input_l" (after the key "timestamp"); JSON has no NaN and no Infinity`},
		{"time infinite", strings.Replace(goodRow, `:0,"i`, `:1e999,"i`, 1), `f:1: timestamp is 1e999, want at most 4320000000 (50 days, in milliseconds; --speed cannot help: cut the trace) or an epoch in milliseconds`},
		{"time negative", strings.Replace(goodRow, `:0,"i`, `:-1,"i`, 1), `f:1: timestamp is -1, want at least 0`},
		{"time far", strings.Replace(goodRow, `:0,"i`, `:12345678901,"i`, 1), `f:1: timestamp is 12345678901, want at most 4320000000 (50 days, in milliseconds; --speed cannot help: cut the trace) or an epoch in milliseconds`},
		{"time in microseconds", strings.Replace(goodRow, `:0,"i`, `:1772442900000000,"i`, 1), `f:1: timestamp is 1772442900000000, want at most 4320000000 (50 days, in milliseconds; --speed cannot help: cut the trace) or an epoch in milliseconds; is it in microseconds since 1970?`},
		{"time in nanoseconds", strings.Replace(goodRow, `:0,"i`, `:1.7724429e18,"i`, 1), `f:1: timestamp is 1.7724429e18, want at most 4320000000 (50 days, in milliseconds; --speed cannot help: cut the trace) or an epoch in milliseconds; is it in nanoseconds since 1970?`},
		{"time in later row", goodRow + strings.Replace(goodRow, `:0,"i`, `:1772442900000,"i`, 1), `f:2: timestamp is 1772442900000, want at most 4320000000 (50 days, in milliseconds; --speed cannot help: cut the trace) or an epoch in milliseconds`},
		{"time -infinite", strings.Replace(goodRow, `:0,"i`, `:-1e999,"i`, 1), `f:1: timestamp is -1e999, want at least 0`},
		{"time in seconds", strings.Replace(goodRow, `:0,"i`, `:1772442900,"i`, 1), `f:1: timestamp is 1772442900, which looks like seconds since 1970; want milliseconds`},
		{"model not a string", strings.Replace(goodRow, `"hash`, `"model":["m"],"hash`, 1), `f:1: model is ["m"], want a string`},
		{"prompt 0", strings.Replace(goodRow, "1040", "0", 1), "f:1: input_length is 0, want at least 1"},
		{"prompt negative", strings.Replace(goodRow, "1040", "-3", 1), "f:1: input_length is -3, want at least 1"},
		{"prompt absurd", strings.Replace(goodRow, "1040", "100000001", 1), "f:1: input_length is 100000001, want at most 100000000"},
		{"prompt over 64 bits", strings.Replace(goodRow, "1040", "99999999999999999999", 1), "f:1: input_length is 99999999999999999999, want at most 100000000"},
		{"prompt not whole", strings.Replace(goodRow, "1040", "1040.5", 1), "f:1: input_length is 1040.5, want a whole number of tokens"},
		{"prompt wraps 32 bits", strings.Replace(goodRow, "1040", "4294968336", 1), "f:1: input_length is 4294968336, want at most 100000000"},
		{"output negative", strings.Replace(goodRow, ":2,", ":-1,", 1), "f:1: output_length is -1, want at least 0"},
		{"ids null", strings.Replace(goodRow, "[0,1,2]", "null", 1), "f:1: hash_ids is null, want a list of whole numbers"},
		{"id not whole", strings.Replace(goodRow, "[0,1,2]", "[0,1,2.5]", 1), "f:1: hash_ids[2] is 2.5, want a whole number of 64 bits"},
		{"id too large", strings.Replace(goodRow, "[0,1,2]", "[18446744073709551616,1,2]", 1), "f:1: hash_ids[0] is 18446744073709551616, want a whole number of 64 bits"},
		{"too few ids", `{"timestamp":0,"input_length":9000,"output_length":2,"hash_ids":[0,1,2,3,4,5,6,7,8,9,10,11]}`,
			"f:1: 12 hash ids cannot cover 9000 tokens in blocks of 512 (18 needed); a block size of 750 to 818 would fit (693 to 750 if the last, partly filled block has no id); did you mean --trace-block-size 768?"},
		{"too many ids", `{"timestamp":0,"input_length":1000,"output_length":2,"hash_ids":[0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15]}`,
			"f:1: 16 hash ids are too many for 1000 tokens in blocks of 512 (2 needed); a block size of 63 to 66 would fit (59 to 62 if the last, partly filled block has no id); did you mean --trace-block-size 64?"},
		{"more ids than tokens", strings.Replace(goodRow, "1040", "2", 1), "f:1: 3 hash ids are too many for 2 tokens in blocks of 512 (1 needed); no block size fits"},
		{"block size", strings.Replace(goodRow, `"hash`, `"block_size":0,"hash`, 1), "f:1: block_size is 0, want at least 1"},
		{"block size changes", goodRow + strings.Replace(goodRow, `"hash`, `"block_size":347,"hash`, 1),
			"f:2: block_size is 347, want 512 as in the rows before"},
		{"no ids", strings.Replace(goodRow, "[0,1,2]", "[]", 1),
			"f:1: 0 hash ids cannot cover 1040 tokens in blocks of 512 (3 needed); leave hash_ids out if the identity is unknown"},
		{"both rules", goodRow + `{"timestamp":0,"input_length":1040,"output_length":2,"hash_ids":[0,1]}`,
			"f:2: 2 hash ids for 1040 tokens in blocks of 512: this row has none, which is floor, but line 1 says ceil; want one rule in a file"},

		{"no column", "TIMESTAMP,ContextTokens\n", `f:1: the header is "TIMESTAMP,ContextTokens", want a column GeneratedTokens`},
		{"short row", header + "2023-11-16 18:17:03.9799600,5", "f:2: the row has 2 fields, want 3 as in the header"},
		{"no date", header + "18:17:03,5,6", `f:2: TIMESTAMP is "18:17:03", want a time like 2023-11-16 18:17:03.9799600`},
		{"wild date", header + "1823-11-16 18:17:03,5,6", `f:2: TIMESTAMP is "1823-11-16 18:17:03", want a year from 1970 to 2200`},
		{"far date", header + "2023-11-16 18:17:03,5,6\n2024-11-16 18:17:03,5,6", `f:3: TIMESTAMP is "2024-11-16 18:17:03", 366.0 days from the first row (2023-11-16 18:17:03), want at most 50; --speed cannot help: cut the trace`},
		{"long span", header + "2023-11-16 18:17:03,5,6\n2023-10-16 18:17:03,5,6\n2023-12-16 18:17:03,5,6", "f: the requests span 61.0 days, want at most 50; --speed cannot help: cut the trace"},
		{"empty field", header + "2023-11-16 18:17:03,,6", "f:2: ContextTokens is empty, want a whole number of tokens"},
		{"no tokens", header + "\n2023-11-16 18:17:03,0,6", "f:3: ContextTokens is 0, want at least 1"},
		{"text", header + "2023-11-16 18:17:03,5,six", "f:2: GeneratedTokens is six, want a whole number of tokens"},
		{"infinite", header + "2023-11-16 18:17:03,Inf,6", "f:2: ContextTokens is Inf, want a whole number of tokens"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := load("f", strings.NewReader(tc.content), Options{})
			if err == nil || err.Error() != tc.want {
				t.Errorf("%q\n got %v\nwant %s", tc.content, err, tc.want)
			}
		})
	}
}

func TestSmallMooncake(t *testing.T) {
	tr, err := Open("testdata/small.jsonl", Options{})
	if err != nil {
		t.Fatal(err)
	}
	if want := []int64{0, 12e6, 12e6, 40_500_000, 41e6}; !slices.Equal(tr.ArrivalNs, want) {
		t.Errorf("arrivals %v, want %v", tr.ArrivalNs, want)
	}
	// [0 1] then 2, 3 or [5 6]; 4 is a root of its own.
	if want := []int32{1024, 1040, 1300, 16, 2048}; !slices.Equal(tr.Forest.End, want) {
		t.Errorf("ends %v, want %v", tr.Forest.End, want)
	}
	if want := []int32{3, 1, 1, 1, 1}; !slices.Equal(tr.Forest.Walks, want) {
		t.Errorf("walks %v, want %v", tr.Forest.Walks, want)
	}
	if want := []int32{1, 2, 3, 4, -1}; !slices.Equal(tr.Leaf, want) {
		t.Errorf("leaves %v, want %v", tr.Leaf, want)
	}
	want := []string{
		"the file does not say how many tokens a hash id covers: 512, the format's usual size, fits every row",
		"1 of 5 requests have no prefix identity: hits and affinity are unknown for them",
		"1 of 5 requests have 0 output tokens: read as 1",
	}
	if d := cmp.Diff(want, tr.Notes); d != "" {
		t.Error(d)
	}
	if tr.Output[3] != 1 || tr.Identified(4) || tr.Name != "small.jsonl" || tr.Meta.BlockTail != TailCeil {
		t.Errorf("output %d, identified %v, name %q, tail %q", tr.Output[3], tr.Identified(4), tr.Name, tr.Meta.BlockTail)
	}
	// (1024 + 1024) of 1040 + 1300 + 16 + 2048 tokens
	if got, want := tr.InfiniteHitRatio(), 2048.0/4404; got != want {
		t.Errorf("infinite hit ratio %v, want %v", got, want)
	}
}

// CRLF, no line end at the end, seven digits, UTC, over a leap day.
func TestSmallAzure(t *testing.T) {
	tr, err := Open("testdata/small.csv", Options{})
	if err != nil {
		t.Fatal(err)
	}
	if want := []int64{0, 12_000_100, 12_000_100}; !slices.Equal(tr.ArrivalNs, want) {
		t.Errorf("arrivals %v, want %v", tr.ArrivalNs, want)
	}
	if want := []int32{20, 31, 1}; !slices.Equal(tr.Output, want) {
		t.Errorf("outputs %v, want %v", tr.Output, want)
	}
	if want := []int64{2, 3, 4}; !slices.Equal(tr.Line, want) {
		t.Errorf("lines %v, want %v", tr.Line, want)
	}
	m := tr.Meta
	if m.T0UnixNs != 1709251199_999999900 || m.TimeResolution != 100 || m.BlockTail != TailNone || m.BlockSize != 0 {
		t.Errorf("meta %+v", m)
	}
	if !slices.Contains(tr.Notes, "3 of 3 requests have no prefix identity: hits and affinity are unknown for them") {
		t.Errorf("notes %q", tr.Notes)
	}
}

// A wall clock that runs back moves time 0, aloud; a zone counts.
func TestAzureOutOfOrder(t *testing.T) {
	tr := read(t, []byte(header+"2024-05-10 00:00:05.5+00:00,10,1\n2024-05-10 02:00:04+02:00,20,2\n"), Options{})
	if !slices.Equal(tr.ArrivalNs, []int64{0, 1_500_000_000}) || !slices.Equal(tr.Prompt, []int32{20, 10}) {
		t.Errorf("arrivals %v, prompts %v", tr.ArrivalNs, tr.Prompt)
	}
	if tr.Meta.T0UnixNs != 1715299204_000000000 {
		t.Errorf("t0 %d", tr.Meta.T0UnixNs)
	}
	if tr.Notes[0] != "the first row is not the earliest: time 0 is 1.5s before it" {
		t.Errorf("notes %q", tr.Notes)
	}
}

func TestMooncakeEpoch(t *testing.T) {
	tr := read(t, []byte(`{"timestamp":1772442900000.25,"input_length":5,"output_length":2}
{"timestamp":1772442900001,"input_length":5,"output_length":2}`), Options{})
	if !slices.Equal(tr.ArrivalNs, []int64{0, 750_000}) || tr.Meta.T0UnixNs != 1772442900_000250000 {
		t.Errorf("arrivals %v, t0 %d", tr.ArrivalNs, tr.Meta.T0UnixNs)
	}
	if tr.Notes[0] != "timestamps are read as milliseconds since 1970 (2026-03-02T09:15:00Z); time 0 is the first row" {
		t.Errorf("notes %q", tr.Notes)
	}
}

// A trace that starts late is not moved, but noted.
func TestLateStart(t *testing.T) {
	tr := read(t, []byte(`{"timestamp":1178625,"input_length":5,"output_length":2}`), Options{})
	if tr.ArrivalNs[0] != 1178625e6 || !strings.HasPrefix(tr.Notes[1], "the first request arrives 19m38.625s after time 0") {
		t.Errorf("arrival %d, notes %q", tr.ArrivalNs[0], tr.Notes)
	}
}

// A byte order mark, CRLF, blank lines, spaces, other keys and any order of keys change nothing.
func TestMooncakeSpellings(t *testing.T) {
	want := read(t, []byte(goodRow+goodRow), Options{}).Digest
	other := "\xef\xbb\xbf" + strings.TrimSpace(goodRow) + "\r\n\r\n" +
		"\t{ \"other\": \"a\", \"hash_ids\": [ 0 , 1,2], \"output_length\": 2, \"timestamp\": 0.0e3,\"input_length\" : 1.04e3 } "
	if got := read(t, []byte(other), Options{}).Digest; got != want {
		t.Errorf("digest %s, want %s", got, want)
	}
}

// Names go with their requests; keys that nothing is made of are told.
func TestMooncakeNames(t *testing.T) {
	tr := read(t, []byte(`{"timestamp":0,"input_length":5,"output_length":2,"model":"m","tenant":"a","session_id":7,"x":1}
{"timestamp":1,"input_length":5,"output_length":2,"model":"m","adapter":"l","session_id":null,"x":1,"a":0}`), Options{})
	var got []string
	for r := range tr.Records() {
		got = append(got, r.Model+"|"+r.Adapter+"|"+r.Tenant+"|"+r.Session)
	}
	if want := []string{"m||a|7", "m|l||"}; !slices.Equal(got, want) {
		t.Errorf("names %q, want %q", got, want)
	}
	if want := []string{"1 of 2 rows have a, of which nothing is made", "2 of 2 rows have x, of which nothing is made"}; !slices.Equal(tr.Notes[:2], want) {
		t.Errorf("notes %q, want %q first", tr.Notes, want)
	}
}

// An hour of requests with times in seconds looks like a burst of seconds.
func TestMooncakeSeconds(t *testing.T) {
	var b strings.Builder
	for i := range 200 {
		fmt.Fprintf(&b, `{"timestamp":%d,"input_length":5,"output_length":2}`+"\n", i)
	}
	if tr := read(t, []byte(b.String()), Options{}); tr.Notes[0] != "200 requests within 199ms: timestamps are read as milliseconds; are they seconds?" {
		t.Errorf("notes %q", tr.Notes)
	}
}

func TestFloorTrace(t *testing.T) {
	tr := read(t, []byte(`{"timestamp":0,"input_length":1040,"output_length":2,"hash_ids":[0,1]}
{"timestamp":1,"input_length":100,"output_length":2,"hash_ids":[]}`), Options{})
	if tr.Meta.BlockTail != TailFloor || tr.Forest.End[0] != 1024 || tr.Leaf[1] != -1 || !tr.Identified(1) {
		t.Errorf("tail %s, ends %v, leaves %v", tr.Meta.BlockTail, tr.Forest.End, tr.Leaf)
	}
	if got := slices.Collect(tr.Records())[1].Blocks; got == nil || len(got) != 0 {
		t.Errorf("blocks of the short prompt are %v, want none, known", got)
	}
}

func TestPacked(t *testing.T) {
	want := read(t, []byte(goodRow+goodRow), Options{}).Digest
	var gz, zs bytes.Buffer
	g := gzip.NewWriter(&gz)
	g.Write([]byte(goodRow + goodRow))
	g.Close()
	z, _ := zstd.NewWriter(&zs)
	z.Write([]byte(goodRow + goodRow))
	z.Close()
	for how, packed := range map[string][]byte{"gzip": gz.Bytes(), "zstd": zs.Bytes()} {
		if got := read(t, packed, Options{}).Digest; got != want {
			t.Errorf("%s: digest %s, want %s", how, got, want)
		}
		for cut := 5; cut < len(packed); cut++ {
			_, err := load("f.gz", bytes.NewReader(packed[:cut]), Options{})
			if err == nil || !strings.HasPrefix(err.Error(), "f.gz:") || !strings.HasSuffix(err.Error(), "the "+how+" data ends too early: the file is incomplete") {
				t.Fatalf("%s cut to %d of %d bytes: %v", how, cut, len(packed), err)
			}
		}
	}
}

// A key may come again inside of a value, or as one.
func TestKeysInValues(t *testing.T) {
	for _, key := range []string{`"x":{"x":1,"input_length":2}`, `"x":["x","x",{"a":1},"y"],"y":1`, `"x":"y\",\"y","y":"\\"`} {
		if _, err := load("f", strings.NewReader(strings.Replace(goodRow, "{", "{"+key+",", 1)), Options{}); err != nil {
			t.Errorf("%s: %v", key, err)
		}
	}
}

// An unknown key that is close to a known one is no slip if the row has that one too, or if a short word differs much.
func TestOtherKeys(t *testing.T) {
	for _, key := range []string{`"hash_id":7`, `"node":"n"`, `"delay":5`, `"turn":1`, `"session":"s"`} {
		tr, err := load("f", strings.NewReader(strings.Replace(goodRow, "{", "{"+key+",", 1)), Options{})
		if err != nil || !strings.Contains(strings.Join(tr.Notes, "; "), "of which nothing is made") {
			t.Errorf("%s: %v", key, err)
		}
	}
}

// Packed data may go on with more of its kind, and gzip with padding; anything else after it is an error.
func TestPackedEnds(t *testing.T) {
	pack := map[string]func() []byte{
		"gzip": func() []byte {
			var b bytes.Buffer
			z := gzip.NewWriter(&b)
			z.Write([]byte(goodRow))
			z.Close()
			return b.Bytes()
		},
		"zstd": func() []byte {
			var b bytes.Buffer
			z, _ := zstd.NewWriter(&b)
			z.Write([]byte(goodRow))
			z.Close()
			return b.Bytes()
		},
	}
	zeros := string(make([]byte, 70_000))
	for _, tc := range []struct {
		how, after, want string
	}{
		{"gzip", "", ""},
		{"gzip", zeros, ""},
		{"gzip", "x", "f: 1 byte follows the end of the gzip data"},
		{"gzip", "\x1f", "f: 1 byte follows the end of the gzip data"},
		{"gzip", goodRow, fmt.Sprintf("f: %d bytes follow the end of the gzip data", len(goodRow))},
		{"gzip", zeros + "x", "f: 70001 bytes follow the end of the gzip data"},
		{"gzip", "\x1f\x8b", "f: the gzip data ends too early: the file is incomplete"},
		{"zstd", "", ""},
		{"zstd", goodRow, fmt.Sprintf("f: %d bytes follow the end of the zstd data", len(goodRow))},
		{"zstd", zeros, "f: 70000 bytes follow the end of the zstd data"},
	} {
		content := append(append(pack[tc.how](), pack[tc.how]()...), tc.after...)
		tr, err := load("f", bytes.NewReader(content), Options{})
		switch {
		case tc.want == "" && (err != nil || tr.Len() != 2):
			t.Errorf("%s and %d bytes: %v, want 2 requests", tc.how, len(tc.after), err)
		case tc.want == "" && tr.Meta.SourceSHA256 != fmt.Sprintf("%x", sha256.Sum256(content)):
			t.Errorf("%s and %d bytes: the hash is not that of the whole file", tc.how, len(tc.after))
		case tc.want != "" && (err == nil || err.Error() != tc.want):
			t.Errorf("%s and %d bytes\n got %v\nwant %s", tc.how, len(tc.after), err, tc.want)
		}
	}
}

// pieces hands out a few bytes at a time.
type pieces struct {
	r     *bytes.Reader
	piece int
}

func (c pieces) Read(p []byte) (int, error) { return c.r.Read(p[:min(len(p), c.piece)]) }

// Lines longer than any buffer are whole, whatever the pieces in which they come; too long ones and torn ones are
// errors at their own line.
func TestLongLines(t *testing.T) {
	long := strings.Replace(goodRow, "}", strings.Repeat(" ", 300_000)+"}", 1)
	want := read(t, []byte(goodRow+goodRow+goodRow), Options{}).Digest
	for _, piece := range []int{700, 1 << 16, 1 << 20} {
		tr, err := load("f", pieces{bytes.NewReader([]byte(long + goodRow + strings.TrimSpace(long))), piece}, Options{})
		if err != nil || tr.Digest != want {
			t.Errorf("in pieces of %d: %v", piece, err)
		}
	}
	endless := goodRow + "{" + strings.Repeat(" ", maxLine)
	if _, err := load("f", strings.NewReader(endless), Options{}); err == nil || err.Error() != "f:2: the line is longer than 67108864 bytes; want one request a line" {
		t.Errorf("a line without an end: %v", err)
	}
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	z.Write([]byte(goodRow + long))
	z.Close()
	torn := packed.Bytes()[:packed.Len()-12]
	if _, err := load("f", bytes.NewReader(torn), Options{}); err == nil || !strings.HasSuffix(err.Error(), "the gzip data ends too early: the file is incomplete") {
		t.Errorf("a torn long line: %v", err)
	}
}

func TestOpenErrors(t *testing.T) {
	for _, tc := range []struct {
		name string
		o    Options
		want string
	}{
		{"testdata/none.jsonl", Options{}, "testdata/none.jsonl: no such file or directory"},
		{"testdata/small.jsonl", Options{Format: "moncake"}, `testdata/small.jsonl: unknown trace format "moncake" (have parquet, mooncake, azure; did you mean "mooncake"?)`},
		{"testdata/small.jsonl", Options{Format: "azure"}, `testdata/small.jsonl:1: the header is "{\"timestamp\": 0, \"input_length\": 1040, \""..., want a column TIMESTAMP`},
		{"testdata/small.jsonl", Options{BlockSize: -1}, "block size is -1, want 1 to 1048576"},
		{"testdata", Options{}, "testdata: read testdata: is a directory"},
	} {
		if _, err := Open(tc.name, tc.o); err == nil || err.Error() != tc.want {
			t.Errorf("%s\n got %v\nwant %s", tc.name, err, tc.want)
		}
	}
}

func TestLimit(t *testing.T) {
	for _, name := range []string{"testdata/small.jsonl", "demo"} {
		tr, err := Open(name, Options{Limit: 3})
		if err != nil || tr.Len() != 3 || tr.Meta.RowsIn < 3 {
			t.Errorf("%s: %d requests, error %v, want 3", name, tr.Len(), err)
		}
	}
}

// The source is named by the bytes as stored, packed or not; a part of it has no name.
func TestSourceHash(t *testing.T) {
	content, err := os.ReadFile("testdata/small.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	z.Write(content)
	z.Close()
	for _, stored := range [][]byte{content, packed.Bytes()} {
		if got, want := read(t, stored, Options{}).Meta.SourceSHA256, fmt.Sprintf("%x", sha256.Sum256(stored)); got != want {
			t.Errorf("hash %s, want %s", got, want)
		}
	}
	if got := read(t, content, Options{Limit: 2}).Meta.SourceSHA256; got != "" {
		t.Errorf("hash of a part %s, want none", got)
	}
}

// Reading is a stream: a bad line is met only when one gets there.
func TestReadStreams(t *testing.T) {
	n := 0
	for _, err := range Read("mooncake", strings.NewReader(goodRow+goodRow+"bad"), Options{}) {
		if err != nil {
			if n != 2 || !strings.HasPrefix(err.Error(), "input:3: ") {
				t.Errorf("after %d records: %v", n, err)
			}
			return
		}
		n++
	}
	t.Error("the bad line was not met")
}

func TestFormatOf(t *testing.T) {
	for name, want := range map[string]string{"a.parquet": "parquet", "b.jsonl": "mooncake"} {
		if got, err := FormatOf(name); err != nil || got != want {
			t.Errorf("%s: %s, %v, want %s", name, got, err, want)
		}
	}
	if _, err := FormatOf("a.csv"); err == nil || err.Error() != "a.csv: no trace format to write has this ending (have .parquet, .jsonl)" {
		t.Error(err)
	}
	if err := Write("azure", &bytes.Buffer{}, nil); err == nil || err.Error() != "format azure can be read but not written (parquet, mooncake can)" {
		t.Error(err)
	}
}

// foreign is a Parquet file by another writer: other types and encodings, another order, more columns.
type foreign struct {
	Extra  string  `parquet:"extra"`
	Prompt *int64  `parquet:"prompt_tokens,optional"`
	Blocks []int64 `parquet:"blocks,optional,list" parquet-element:",dict"`
	Model  string  `parquet:"model,dict"`
	At     int64   `parquet:"arrival_ns,dict"`
}

func foreignFile(t *testing.T, rows []foreign, meta map[string]string) []byte {
	t.Helper()
	var file bytes.Buffer
	options := []parquet.WriterOption{parquet.DataPageVersion(1)}
	for k, v := range meta {
		options = append(options, parquet.KeyValueMetadata(k, v))
	}
	w := parquet.NewGenericWriter[foreign](&file, options...)
	if _, err := w.Write(rows); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

func TestForeignParquet(t *testing.T) {
	tokens := int64(40)
	rows := []foreign{
		{At: 0, Prompt: &tokens, Blocks: []int64{7, 8}, Model: "m"},
		{At: 1, Prompt: &tokens, Blocks: nil, Model: "m"},
		{At: 2, Prompt: &tokens, Blocks: []int64{7, 9}, Model: "n"},
	}
	meta := map[string]string{"schema": "triage/trace/v1.7", "block_size": "16", "block_tail": "floor", "new_key": "x"}
	tr := read(t, foreignFile(t, rows, meta), Options{})
	if tr.Len() != 3 || tr.Identified(1) || tr.Leaf[2] != 1 || tr.Forest.Parent[1] != -1 || tr.Line[2] != 3 {
		t.Errorf("leaves %v, forest %+v", tr.Leaf, tr.Forest)
	}
	for _, tc := range []struct {
		name   string
		change func(rows []foreign, meta map[string]string)
		want   string
	}{
		{"newer", func(_ []foreign, m map[string]string) { m["schema"] = "triage/trace/v2" }, `f: schema is "triage/trace/v2", written by a newer version: this one reads up to triage/trace/v1`},
		{"no schema", func(_ []foreign, m map[string]string) { delete(m, "schema") }, `f: the file has no key "schema", want triage/trace/v1: it is no trace of this project`},
		{"other schema", func(_ []foreign, m map[string]string) { m["schema"] = "x/v1" }, `f: schema is "x/v1", want triage/trace/v1`},
		{"no block size", func(_ []foreign, m map[string]string) { delete(m, "block_size") }, `f:1: 2 hash ids, but the file has no block_size; want --trace-block-size`},
		{"bad block size", func(_ []foreign, m map[string]string) { m["block_size"] = "-4" }, `f: key "block_size" is "-4", want 0 to 1048576`},
		{"no tail", func(_ []foreign, m map[string]string) { delete(m, "block_tail") }, `f:1: the row has blocks, but the file's key "block_tail" is "", want ceil or floor`},
		{"tail of no blocks", func(_ []foreign, m map[string]string) { m["block_tail"] = "none" }, `f:1: the row has blocks, but the file's key "block_tail" is "none", want ceil or floor`},
		{"bad tail", func(_ []foreign, m map[string]string) { m["block_tail"] = "round" }, `f: key "block_tail" is "round", want ceil, floor, none`},
		{"no prompt", func(r []foreign, _ map[string]string) { r[1].Prompt = nil }, "f:2: prompt_tokens is null, want a number"},
		{"negative time", func(r []foreign, _ map[string]string) { r[2].At = -5 }, "f:3: arrival_ns is -5, want at least 0"},
		{"too few", func(r []foreign, _ map[string]string) { r[2].Blocks = r[2].Blocks[:1] }, "f:3: 1 hash ids cannot cover 40 tokens in blocks of 16 (3 needed); a block size of 40 or more would fit (21 to 40 if the last, partly filled block has no id)"},
	} {
		r, m := slices.Clone(rows), map[string]string{}
		for k, v := range meta {
			m[k] = v
		}
		tc.change(r, m)
		if _, err := load("f", bytes.NewReader(foreignFile(t, r, m)), Options{}); err == nil || err.Error() != tc.want {
			t.Errorf("%s\n got %v\nwant %s", tc.name, err, tc.want)
		}
	}
}

// A file cut anywhere is an error with its name, from a file and from a pipe.
func TestCutParquet(t *testing.T) {
	whole := write(t, "parquet", read(t, []byte(goodRow+goodRow), Options{}))
	for cut := 4; cut < len(whole); cut += 37 {
		name := filepath.Join(t.TempDir(), "cut.parquet")
		if err := os.WriteFile(name, whole[:cut], 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(name, Options{}); err == nil || !strings.HasPrefix(err.Error(), name+": the Parquet data is broken") {
			t.Fatalf("cut to %d of %d bytes: %v", cut, len(whole), err)
		}
		if _, err := load("pipe", bytes.NewBuffer(whole[:cut]), Options{}); err == nil || !strings.HasPrefix(err.Error(), "pipe: ") {
			t.Fatalf("cut to %d of %d bytes: %v", cut, len(whole), err)
		}
	}
}
