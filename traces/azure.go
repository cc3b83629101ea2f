package traces

import (
	"bytes"
	"errors"
	"fmt"
	"iter"
	"strings"
	"time"
)

// azureColumns are the columns of the Azure LLM inference traces
// (https://github.com/Azure/AzurePublicDataset, 2023 and 2024). Others are ignored.
var azureColumns = [...]string{"TIMESTAMP", "ContextTokens", "GeneratedTokens"}

// detectAzure looks for the column names in the first line.
func detectAzure(head []byte) bool {
	first, _, _ := bytes.Cut(head, []byte{'\n'})
	return bytes.Contains(first, []byte("ContextTokens")) && bytes.Contains(first, []byte("TIMESTAMP"))
}

func readAzure(in *input) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		in.meta.TimeUnitSource = "datetime"
		a := azure{in: in}
		for l, err := range in.lines() {
			if err != nil {
				yield(Record{}, err)
				return
			}
			if a.fields == 0 {
				if err := a.header(l.text); err != nil {
					yield(Record{}, in.errorf(l.number, "%w", err))
					return
				}
				continue
			}
			r, err := a.record(l)
			if err != nil {
				yield(r, in.errorf(l.number, "%w", err))
				return
			}
			if !yield(r, nil) {
				return
			}
		}
	}
}

// azure reads rows one by one.
type azure struct {
	in     *input
	fields int                    // in a row, from the header
	place  [len(azureColumns)]int // of the columns in a row
	start  time.Time
	row    [][]byte
}

func (a *azure) header(text []byte) error {
	names := strings.Split(string(text), ",")
	for i, want := range azureColumns {
		a.place[i] = -1
		for j, n := range names {
			if strings.Trim(strings.TrimSpace(n), `"`) == want {
				a.place[i] = j
			}
		}
		if a.place[i] < 0 {
			return fmt.Errorf("the header is %s, want a column %s", excerpt(text), want)
		}
	}
	a.fields = len(names)
	return nil
}

func (a *azure) record(l line) (Record, error) {
	r := NewRecord()
	r.Line = l.number
	a.split(l.text)
	if len(a.row) != a.fields {
		return r, fmt.Errorf("the row has %d fields, want %d as in the header", len(a.row), a.fields)
	}
	err := a.time(&r, a.row[a.place[0]])
	if err != nil {
		return r, err
	}
	if r.PromptTokens, err = csvTokens(azureColumns[1], a.row[a.place[1]], 1); err != nil {
		return r, err
	}
	r.OutputTokens, err = csvTokens(azureColumns[2], a.row[a.place[2]], 0)
	return r, err
}

// split cuts a row at its commas, white space and quotes around fields off. No field of this format has a comma.
func (a *azure) split(text []byte) {
	a.row = a.row[:0]
	for f := range bytes.SplitSeq(text, []byte{','}) {
		a.row = append(a.row, bytes.Trim(bytes.TrimSpace(f), `"`))
	}
}

// time reads a time of day, UTC if it names no zone, and makes it one since the first row. A row before the first has
// a negative arrival.
func (a *azure) time(r *Record, text []byte) error {
	t, err := parseDate(string(text))
	if err != nil {
		return fmt.Errorf("TIMESTAMP is %q, want a time like 2023-11-16 18:17:03.9799600", quoteShort(text))
	}
	if a.start.IsZero() {
		if t.Year() < 1970 || t.Year() > 2200 {
			return fmt.Errorf("TIMESTAMP is %q, want a year from 1970 to 2200", quoteShort(text))
		}
		a.start = t
		a.in.meta.T0UnixNs, a.in.meta.TimeResolution = t.UnixNano(), resolution(string(text))
	}
	d := t.Sub(a.start)
	if d > maxArrival || d < -maxArrival {
		return fmt.Errorf("TIMESTAMP is %q, %.1f days from the first row (%s), want at most %d; %s",
			quoteShort(text), days(d.Abs()), a.start.UTC().Format(time.DateTime), maxDays, limitHint)
	}
	r.ArrivalNs = d.Nanoseconds()
	return nil
}

// parseDate takes fractions of any length up to 9 digits, with or without a zone.
func parseDate(s string) (time.Time, error) {
	for _, layout := range []string{time.DateTime, "2006-01-02 15:04:05Z07:00", "2006-01-02T15:04:05Z07:00", "2006-01-02T15:04:05"} {
		if t, err := time.Parse(layout, s); err == nil {
			return t, nil
		}
	}
	return time.Time{}, errors.New("not a time")
}

// resolution is what the digits behind the second resolve, nanoseconds.
func resolution(s string) int64 {
	_, part, _ := strings.Cut(s, ".")
	unit := int64(time.Second)
	for i := 0; i < len(part) && part[i] >= '0' && part[i] <= '9' && unit > 1; i++ {
		unit /= 10
	}
	return unit
}

func csvTokens(name string, raw []byte, least int64) (int32, error) {
	if len(raw) == 0 {
		return 0, fmt.Errorf("%s is empty, want a whole number of tokens", name)
	}
	return tokenField(name, raw, least)
}
