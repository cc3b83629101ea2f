package calibrate

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// field is something that a log says of a request or a step.
type field int

const (
	fArrival field = iota
	fPrompt
	fOutput
	fTTFT
	fE2E
	fWait // at the gateway: part of TTFT and E2E that is not the server's
	fPromptID
	fSession
	fReplica
	fStatus
	fPolicy
	fHit
	fRow     // in the trace that was replayed
	fSeconds // a step's
	fPrefill
	fPrefillSeqs
	fDecode
	fKV
	fContext
	fModel
	fGPU
	fTP
	numFields
)

// columns are the names under which logs have the fields, the one to say first, and for times the unit in seconds.
var columns = []struct {
	field field
	name  string
	unit  float64
}{
	{fArrival, "arrival_s", 1}, {fArrival, "arrival_ms", 1e-3}, {fArrival, "arrival_us", 1e-6}, {fArrival, "arrival_ns", 1e-9},
	{fArrival, "arrival", 1}, {fArrival, "start_time", 1}, {fArrival, "timestamp", 1e-3},
	{fPrompt, "prompt_tokens", 0}, {fPrompt, "input_tokens", 0}, {fPrompt, "input_length", 0}, {fPrompt, "input_len", 0}, {fPrompt, "prompt_len", 0},
	{fOutput, "output_tokens", 0}, {fOutput, "completion_tokens", 0}, {fOutput, "output_length", 0}, {fOutput, "output_len", 0},
	{fTTFT, "ttft_s", 1}, {fTTFT, "ttft_ms", 1e-3}, {fTTFT, "ttft", 1}, {fTTFT, "ttft_ns_obs", 1e-9},
	{fE2E, "e2e_s", 1}, {fE2E, "e2e_ms", 1e-3}, {fE2E, "e2e", 1}, {fE2E, "latency_s", 1}, {fE2E, "latency_ms", 1e-3}, {fE2E, "e2e_ns_obs", 1e-9},
	{fWait, "gateway_wait_s", 1},
	{fPromptID, "prompt_id", 0}, {fSession, "session", 0}, {fSession, "session_id", 0}, {fSession, "conversation_id", 0}, {fReplica, "replica", 0}, {fReplica, "replica_obs", 0}, {fStatus, "status", 0}, {fPolicy, "policy", 0},
	{fHit, "hit_tokens", 0}, {fHit, "cached_tokens", 0}, {fHit, "cached_tokens_obs", 0},
	{fRow, "row", 0},
	{fSeconds, "seconds", 1}, {fSeconds, "step_s", 1}, {fSeconds, "step_ms", 1e-3},
	{fPrefill, "prefill_tokens", 0}, {fPrefillSeqs, "prefill_seqs", 0}, {fPrefillSeqs, "prefill_reqs", 0},
	{fDecode, "decode_seqs", 0}, {fKV, "kv_tokens", 0}, {fKV, "decode_kv_tokens", 0}, {fContext, "context", 0},
	{fModel, "model", 0}, {fGPU, "gpu", 0}, {fGPU, "hardware", 0}, {fTP, "tp", 0},
}

// names lists the columns of a field for messages.
func names(f field) string {
	var out []string
	for _, c := range columns {
		if c.field == f {
			out = append(out, c.name)
		}
	}
	return strings.Join(out, ", ")
}

// row is a row of a log: a text for each field, "" where there is none. The first that cannot be read is kept as the
// error.
type row struct {
	at     string // file:line
	line   int64
	text   [numFields]string
	column [numFields]int // of columns, -1 if the log has none
	blocks []int64
	err    error
}

// header finds the fields of named columns. Of two columns of the same field the first in the list counts.
func header(have []string) (column [numFields]int, at [numFields]int) {
	for f := range column {
		column[f], at[f] = -1, -1
	}
	for c := len(columns) - 1; c >= 0; c-- {
		if i := slices.Index(have, columns[c].name); i >= 0 {
			column[columns[c].field], at[columns[c].field] = c, i
		}
	}
	return column, at
}

func (r *row) has(f field) bool { return r.column[f] >= 0 && r.text[f] != "" }

func (r *row) bad(f field, wanted string) {
	if r.err == nil {
		r.err = fmt.Errorf("%s: %s is %q, want %s", r.at, columns[r.column[f]].name, short(r.text[f]), wanted)
	}
}

// short cuts a text that is too long to show.
func short(text string) string {
	const longest = 60
	if len(text) > longest {
		return text[:longest] + "..."
	}
	return text
}

// most bounds numbers of a log: seconds of a time, tokens.
const most = 1e9

// seconds reads a time, NaN if there is none.
func (r *row) seconds(f field) float64 {
	if !r.has(f) {
		return math.NaN()
	}
	v, err := strconv.ParseFloat(r.text[f], 64)
	v *= columns[r.column[f]].unit
	if err != nil || !(v >= 0 && v <= 10*most) {
		r.bad(f, "a time of at least 0")
		return 0
	}
	return v
}

// whole reads a count, missing if there is none. Numbers such as 12.0 count as whole.
func (r *row) whole(f field, least, missing int64) int64 {
	if !r.has(f) {
		return missing
	}
	v, err := strconv.ParseFloat(r.text[f], 64)
	if err != nil || v != math.Trunc(v) || !(v >= float64(least) && v <= 1e12) {
		r.bad(f, fmt.Sprintf("a whole number of at least %d", least))
		return least
	}
	return int64(v)
}

// reader returns what makes something of each row: steps, if there is a column for their time, or requests.
func (l *Log) reader(column [numFields]int, o ReadOptions) (func(*row) error, error) {
	has := func(f field) bool { return column[f] >= 0 }
	if has(fSeconds) && (has(fPrefill) || has(fDecode)) {
		return l.stepReader(column, o)
	}
	for _, w := range []struct {
		f    field
		what string
	}{{fArrival, "arrivals"}, {fPrompt, "prompt lengths"}, {fOutput, "output lengths"}, {fTTFT, "times to first token"}, {fE2E, "end-to-end times"}} {
		if !has(w.f) {
			return nil, fmt.Errorf("the log has no %s, want a column %s", w.what, names(w.f))
		}
	}
	return func(r *row) error { return l.addRequest(r, o) }, nil
}

func (l *Log) stepReader(column [numFields]int, o ReadOptions) (func(*row) error, error) {
	for _, f := range []field{fPrefill, fDecode, fKV} {
		if column[f] < 0 {
			return nil, fmt.Errorf("the steps have no column %s, want it: a step's time says nothing without what was in it", names(f))
		}
	}
	return func(r *row) error { return l.addStep(r, o.Only) }, nil
}
