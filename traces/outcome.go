package traces

import (
	"fmt"
	"io"
	"math"
	"path/filepath"
	"strings"
)

// Outcome is a request and what became of it under one policy.
type Outcome struct {
	Record
	Row          int64 // in the trace, 0-based
	Policy       string
	Replica      string // "" if it was never dispatched
	Outcome      string // "completed" or "rejected"
	Reason       string // of a rejection, "" if there was none
	HitTokens    int32  // prompt tokens served from the cache at the first admission, Unknown if nobody knows
	Preemptions  int32
	Retries      int32   // times that it was sent again after a crash
	Affinity     float64 // the router's belief, 0..1; NaN where there is none, as for all numbers below
	TTFTs        float64 // s
	E2Es         float64 // s
	GatewayWaitS float64
	EngineWaitS  float64
	Score        float64
	Margin       float64
	RetryAfterS  float64 // s that a request was told to wait that was refused for its tenant's rate
	RunnerUp     string  // replica, "" if there was none
	Terms        string  // such as "aff=8.4,q=-0.6", "" if there are none
}

// outcomeColumns are the columns of an outcome file, in order. A value is a string, an int64, a float64, or nil if it
// is not known; the terms are a termList.
var outcomeColumns = []struct {
	name  string
	value func(*Outcome) any
}{
	{"row", func(o *Outcome) any { return o.Row }},
	{"policy", func(o *Outcome) any { return o.Policy }},
	{"arrival_s", func(o *Outcome) any { return o.arrivalS() }},
	{"replica", func(o *Outcome) any { return text(o.Replica) }},
	{"status", func(o *Outcome) any { return o.Outcome }},
	{"reason", func(o *Outcome) any { return text(o.Reason) }},
	{"prompt_tokens", func(o *Outcome) any { return int64(o.PromptTokens) }},
	{"output_tokens", func(o *Outcome) any { return integer(o.OutputTokens) }},
	{"hit_tokens", func(o *Outcome) any { return integer(o.HitTokens) }},
	{"affinity", func(o *Outcome) any { return real(o.Affinity) }},
	{"ttft_s", func(o *Outcome) any { return real(o.TTFTs) }},
	{"e2e_s", func(o *Outcome) any { return real(o.E2Es) }},
	{"gateway_wait_s", func(o *Outcome) any { return real(o.GatewayWaitS) }},
	{"engine_wait_s", func(o *Outcome) any { return real(o.EngineWaitS) }},
	{"preemptions", func(o *Outcome) any { return integer(o.Preemptions) }},
	{"score", func(o *Outcome) any { return real(o.Score) }},
	{"runner_up", func(o *Outcome) any { return text(o.RunnerUp) }},
	{"margin", func(o *Outcome) any { return real(o.Margin) }},
	{"terms", func(o *Outcome) any {
		if o.Terms == "" {
			return nil
		}
		return termList(o.Terms)
	}},
	{"retries", func(o *Outcome) any { return int64(o.Retries) }},
	{"retry_after_s", func(o *Outcome) any { return real(o.RetryAfterS) }},
}

// termList is an outcome's terms, such as "aff=8.4,q=-0.6". JSON has an object of them and other formats the text.
type termList string

func (o *Outcome) arrivalS() float64 { return float64(o.ArrivalNs) / 1e9 }

func text(s string) any {
	if s == "" {
		return nil
	}
	return s
}

func integer(v int32) any {
	if v == Unknown {
		return nil
	}
	return int64(v)
}

func real(v float64) any {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return v
}

// outcomeSink writes outcomes in one format.
type outcomeSink interface {
	write(*Outcome) error
	close() error
}

// outcomeFormats has a row for each format.
var outcomeFormats = []struct {
	ending string
	open   func(io.Writer, Meta) outcomeSink
}{
	{".parquet", newParquetOutcomes},
	{".jsonl", newJSONOutcomes},
	{".csv", newCSVOutcomes},
}

// CheckOutcomeName says what is wrong with the name of an outcome file.
func CheckOutcomeName(name string) error {
	_, err := NewOutcomeWriter(io.Discard, name, Meta{})
	return err
}

// OutcomeWriter writes outcomes, one row a request and policy.
type OutcomeWriter struct{ sink outcomeSink }

// NewOutcomeWriter returns a writer in the format that the name's ending says. Meta is that of the trace: with it a
// Parquet file of outcomes can be opened as a trace again.
func NewOutcomeWriter(w io.Writer, name string, m Meta) (*OutcomeWriter, error) {
	var endings []string
	for _, f := range outcomeFormats {
		if strings.EqualFold(filepath.Ext(name), f.ending) {
			return &OutcomeWriter{f.open(w, m)}, nil
		}
		endings = append(endings, f.ending)
	}
	return nil, fmt.Errorf("%s: outcomes cannot be written to a file with this ending (have %s)", name, strings.Join(endings, ", "))
}

// Write adds a row.
func (w *OutcomeWriter) Write(o Outcome) error { return w.sink.write(&o) }

// Close writes what is still buffered. It does not close the file below.
func (w *OutcomeWriter) Close() error { return w.sink.close() }
