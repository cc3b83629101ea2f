package calibrate

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

func (l *Log) readCSV(data []byte, o ReadOptions) error {
	c := csv.NewReader(bytes.NewReader(data))
	c.ReuseRecord = true
	head, err := c.Read()
	if err != nil {
		return l.badCSV(err)
	}
	if name := twice(head); name != "" {
		return fmt.Errorf("%s:1: two columns are called %s, want one", l.Name, name)
	}
	column, at := header(slices.Clone(head))
	use, err := l.reader(column, o)
	if err != nil {
		return fmt.Errorf("%s:1: %w", l.Name, err)
	}
	for {
		cells, err := c.Read()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return l.badCSV(err)
		}
		line, _ := c.FieldPos(0)
		r := &row{at: fmt.Sprintf("%s:%d", l.Name, line), line: int64(line), column: column}
		for f := range at {
			if at[f] >= 0 {
				r.text[f] = strings.TrimSpace(cells[at[f]])
			}
		}
		if err := use(r); err != nil {
			return err
		}
	}
}

// badCSV puts the place before an error of the CSV reader.
func (l *Log) badCSV(err error) error {
	var p *csv.ParseError
	if !errors.As(err, &p) {
		return fmt.Errorf("%s: %w", l.Name, err)
	}
	if errors.Is(err, csv.ErrFieldCount) {
		return fmt.Errorf("%s:%d: the row has more or fewer cells than the header has columns", l.Name, p.Line)
	}
	return fmt.Errorf("%s:%d: %w", l.Name, p.StartLine, p.Err)
}

// twice returns a column that is read and stands in the header more than once, "" if there is none.
func twice(head []string) string {
	for _, c := range columns {
		if i := slices.Index(head, c.name); i >= 0 && slices.Contains(head[i+1:], c.name) {
			return c.name
		}
	}
	return ""
}

func (l *Log) readLines(data []byte, o ReadOptions) error {
	var use func(*row) error
	var column [numFields]int
	line := int64(0)
	for text := range bytes.Lines(data) {
		line++
		if text = bytes.TrimSpace(text); len(text) == 0 {
			continue
		}
		at := fmt.Sprintf("%s:%d", l.Name, line)
		var object map[string]json.RawMessage
		if err := json.Unmarshal(text, &object); err != nil {
			return fmt.Errorf("%s: %w", at, err)
		}
		if use == nil {
			var have []string
			for _, c := range columns {
				if _, ok := object[c.name]; ok {
					have = append(have, c.name)
				}
			}
			column, _ = header(have)
			var err error
			if use, err = l.reader(column, o); err != nil {
				return fmt.Errorf("%s: %w", at, err)
			}
		}
		r, err := l.object(at, line, column, object)
		if err != nil {
			return err
		}
		if err := use(r); err != nil {
			return err
		}
	}
	return nil
}

// object makes a row of a JSON object.
func (l *Log) object(at string, line int64, column [numFields]int, object map[string]json.RawMessage) (*row, error) {
	r := &row{at: at, line: line, column: column}
	for f, c := range column {
		if c < 0 {
			continue
		}
		raw := string(object[columns[c].name])
		if raw == "null" {
			raw = ""
		}
		if strings.HasPrefix(raw, `"`) {
			var text string
			if err := json.Unmarshal([]byte(raw), &text); err != nil {
				return nil, fmt.Errorf("%s: %w", at, err)
			}
			raw = text
		}
		r.text[f] = raw
	}
	if ids, ok := object["hash_ids"]; ok {
		if err := json.Unmarshal(ids, &r.blocks); err != nil {
			return nil, fmt.Errorf("%s: hash_ids: %w", at, err)
		}
	}
	return r, nil
}
