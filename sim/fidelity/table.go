package fidelity

import (
	"compress/gzip"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// row is a line of a CSV file whose columns are read by name. The first that cannot be read is kept as the error.
type row struct {
	file  string
	line  int
	names []string
	cells []string
	err   error
}

// eachRow reads a CSV file, unpacked if it ends in .gz, that has at least the columns wanted.
func eachRow(file string, wanted []string, use func(*row) error) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	var in io.Reader = f
	if strings.HasSuffix(file, ".gz") {
		if in, err = gzip.NewReader(f); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
	}
	return scan(filepath.Base(file), in, wanted, use)
}

func scan(name string, in io.Reader, wanted []string, use func(*row) error) error {
	c := csv.NewReader(in)
	names, err := c.Read()
	if err == io.EOF {
		return fmt.Errorf("%s:1: the file is empty, want a header with %s", name, strings.Join(wanted, ", "))
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	for _, w := range wanted {
		if !slices.Contains(names, w) {
			return fmt.Errorf("%s:1: column %s is missing", name, w)
		}
	}
	for {
		cells, err := c.Read()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		line, _ := c.FieldPos(0)
		r := &row{file: name, line: line, names: names, cells: cells}
		if err := use(r); err != nil {
			return err
		}
		if r.err != nil {
			return r.err
		}
	}
}

// text returns a cell, "" if there is no such column.
func (r *row) text(name string) string {
	if i := slices.Index(r.names, name); i >= 0 {
		return r.cells[i]
	}
	return ""
}

// bad keeps the first error of the row.
func (r *row) bad(name, wanted string) {
	if r.err == nil {
		r.err = fmt.Errorf("%s: %s is %q, want %s", r.at(), name, r.text(name), wanted)
	}
}

// at is where the row stands.
func (r *row) at() string { return fmt.Sprintf("%s:%d", r.file, r.line) }

// full returns a cell that must not be empty.
func (r *row) full(name string) string {
	s := r.text(name)
	if s == "" {
		r.bad(name, "some text")
	}
	return s
}

// whole returns an integer from low up.
func (r *row) whole(name string, low int) int {
	n, err := strconv.Atoi(r.text(name))
	if err != nil || n < low || n > math.MaxInt32 {
		r.bad(name, fmt.Sprintf("a whole number of at least %d", low))
	}
	return n
}

// wholeOr is whole with a value for an empty cell.
func (r *row) wholeOr(name string, low, empty int) int {
	if r.text(name) == "" {
		return empty
	}
	return r.whole(name, low)
}

// number returns a number from 0 up.
func (r *row) number(name string) float64 {
	v, err := strconv.ParseFloat(r.text(name), 64)
	if err != nil || !(v >= 0) || math.IsInf(v, 0) {
		r.bad(name, "a number of at least 0")
	}
	return v
}

// numberOr is number with a value for an empty cell.
func (r *row) numberOr(name string, empty float64) float64 {
	if r.text(name) == "" {
		return empty
	}
	return r.number(name)
}

// oneOf returns a cell that must be among names.
func (r *row) oneOf(name string, names ...string) string {
	s := r.text(name)
	if !slices.Contains(names, s) {
		r.bad(name, "one of "+strings.Join(names, ", "))
	}
	return s
}

// optional makes nothing of a file that is not there.
func optional(err error) error {
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}
