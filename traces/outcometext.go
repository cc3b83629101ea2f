package traces

import (
	"bufio"
	"encoding/csv"
	"io"
	"strconv"
	"strings"
)

// jsonOutcomes writes an object a line, null for what is not known.
type jsonOutcomes struct {
	w   *bufio.Writer
	buf []byte
}

func newJSONOutcomes(w io.Writer, _ Meta) outcomeSink { return &jsonOutcomes{w: bufio.NewWriter(w)} }

func (j *jsonOutcomes) write(o *Outcome) error {
	b := j.buf[:0]
	for i, c := range outcomeColumns {
		b = append(b, `{,`[min(i, 1)])
		b = strconv.AppendQuote(b, c.name)
		b = append(b, ':')
		switch v := c.value(o).(type) {
		case nil:
			b = append(b, "null"...)
		case string:
			b = appendString(b, v)
		case termList:
			b = appendTerms(b, v)
		default:
			b = appendNumber(b, v)
		}
	}
	j.buf = append(b, "}\n"...)
	_, err := j.w.Write(j.buf)
	return err
}

func (j *jsonOutcomes) close() error { return j.w.Flush() }

// appendTerms writes terms as an object of numbers, null for one that is none.
func appendTerms(b []byte, terms termList) []byte {
	b = append(b, '{')
	for i, term := range strings.Split(string(terms), ",") {
		if i > 0 {
			b = append(b, ',')
		}
		name, value, _ := strings.Cut(term, "=")
		b = append(appendString(b, name), ':')
		x, err := strconv.ParseFloat(value, 64)
		if err != nil || real(x) == nil {
			b = append(b, "null"...)
			continue
		}
		b = appendNumber(b, x)
	}
	return append(b, '}')
}

func appendNumber(b []byte, v any) []byte {
	if n, ok := v.(int64); ok {
		return strconv.AppendInt(b, n, 10)
	}
	return strconv.AppendFloat(b, v.(float64), 'f', -1, 64)
}

// csvOutcomes writes a header and a line a row, an empty field for what is not known.
type csvOutcomes struct {
	w      *csv.Writer
	fields []string
	begun  bool
}

func newCSVOutcomes(w io.Writer, _ Meta) outcomeSink { return &csvOutcomes{w: csv.NewWriter(w)} }

func (c *csvOutcomes) header() error {
	if c.begun {
		return nil
	}
	c.begun = true
	names := make([]string, len(outcomeColumns))
	for i, col := range outcomeColumns {
		names[i] = col.name
	}
	return c.w.Write(names)
}

func (c *csvOutcomes) write(o *Outcome) error {
	if err := c.header(); err != nil {
		return err
	}
	c.fields = c.fields[:0]
	for _, col := range outcomeColumns {
		switch v := col.value(o).(type) {
		case nil:
			c.fields = append(c.fields, "")
		case string:
			c.fields = append(c.fields, v)
		case termList:
			c.fields = append(c.fields, string(v))
		default:
			c.fields = append(c.fields, string(appendNumber(nil, v)))
		}
	}
	return c.w.Write(c.fields)
}

func (c *csvOutcomes) close() error {
	if err := c.header(); err != nil {
		return err
	}
	c.w.Flush()
	return c.w.Error()
}
