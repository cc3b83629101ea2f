package traces

import (
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding"
	"github.com/parquet-go/parquet-go/format"
)

// group reads the columns of a row group by name and keeps the first error.
type group struct {
	file *parquet.File
	rg   parquet.RowGroup
	meta *format.RowGroup
	err  error
}

func (g *group) has(name string) bool { return g.file.Root().Column(name) != nil }

// leaf finds a column's leaf: the column itself, or what is inside a list.
func (g *group) leaf(name string) *parquet.Column {
	c := g.file.Root().Column(name)
	for c != nil && !c.Leaf() {
		if len(c.Columns()) != 1 {
			g.fail(name, "is a group of several columns, want a list")
			return nil
		}
		c = c.Columns()[0]
	}
	return c
}

func (g *group) fail(name, what string, args ...any) {
	if g.err == nil {
		g.err = fmt.Errorf("column %s %w", name, fmt.Errorf(what, args...))
	}
}

// required reads a column that every file must have, in every row.
func (g *group) required(name string) column[int64] {
	c := g.file.Root().Column(name)
	if c == nil {
		g.fail(name, "is missing")
	}
	return g.ints(name)
}

// given reads a column that has a number in every row if the file has it, and is all missing if not.
func (g *group) given(name string, missing int64) column[int64] {
	if !g.has(name) {
		return column[int64]{missing: missing}
	}
	return g.ints(name)
}

// null stands for a missing number. It is not Unknown, which a file may not say in any other way.
const null = math.MinInt64

func nullUnknown(v int64) int64 {
	if v == null {
		return Unknown
	}
	return v
}

// ints reads a column of whole numbers. It is all null if the file has no such column.
func (g *group) ints(name string) column[int64] {
	out := column[int64]{missing: null}
	c := g.leaf(name)
	if c == nil || g.err != nil {
		return out
	}
	if k := c.Type().Kind(); k != parquet.Int32 && k != parquet.Int64 {
		g.fail(name, "is of type %v, want INT64", c.Type())
		return out
	}
	fill(g, name, c, &out, whole, wholes)
	return out
}

// wholes appends a page of plain numbers without nulls at once. It reports false for other pages.
func wholes(p parquet.Page, out []int64) ([]int64, bool) {
	if p.Dictionary() != nil || p.NumNulls() > 0 {
		return out, false
	}
	data := p.Data()
	switch data.Kind() {
	case encoding.Int64:
		return append(out, data.Int64()...), true
	case encoding.Int32:
		for _, v := range data.Int32() {
			out = append(out, int64(v))
		}
		return out, true
	}
	return out, false
}

func whole(v parquet.Value) int64 {
	switch v.Kind() {
	case parquet.Int64:
		return v.Int64()
	case parquet.Int32:
		return int64(v.Int32())
	}
	return null
}

// strings reads a column of texts, null as "". It is all "" if the file has no such column.
func (g *group) strings(name string) column[string] {
	out := column[string]{}
	c := g.leaf(name)
	if c == nil || g.err != nil {
		return out
	}
	if k := c.Type().Kind(); k != parquet.ByteArray {
		g.fail(name, "is of type %v, want STRING", c.Type())
		return out
	}
	known := map[string]string{}
	fill(g, name, c, &out, func(v parquet.Value) string {
		s, ok := known[string(v.ByteArray())]
		if !ok {
			s = string(v.ByteArray())
			known[s] = s
		}
		return s
	}, nil)
	return out
}

// fill fills a column from a leaf with one value a row. all, if given, takes a page at once where it can.
func fill[T comparable](g *group, name string, c *parquet.Column, out *column[T], get func(parquet.Value) T, all func(parquet.Page, []T) ([]T, bool)) {
	row := 0
	g.pages(name, c, func(p parquet.Page) error {
		if p.NumNulls() == p.NumValues() {
			row += int(p.NumValues())
			return nil
		}
		if out.values == nil {
			out.values = make([]T, 0, hint(g.rg.NumRows()))
		}
		if all != nil {
			out.pad(row)
			if v, ok := all(p, out.values); ok {
				out.values = v
				row = len(v)
				return nil
			}
		}
		return values(p, func(v parquet.Value) {
			out.put(row, get(v))
			row++
		})
	})
	g.count(name, row)
}

// count holds a column to the number of rows.
func (g *group) count(name string, rows int) {
	if int64(rows) != g.rg.NumRows() {
		g.fail(name, "has %d rows, want %d", rows, g.rg.NumRows())
	}
}

// pages hands the pages of a column to f, one by one.
func (g *group) pages(name string, c *parquet.Column, f func(parquet.Page) error) {
	if g.err != nil {
		return
	}
	if err := checkChunk(g.file, g.file.Size(), &g.meta.Columns[c.Index()].MetaData); err != nil {
		g.fail(name, "%w", err)
		return
	}
	pages := g.rg.ColumnChunks()[c.Index()].Pages()
	defer pages.Close()
	for {
		p, err := pages.ReadPage()
		if errors.Is(err, io.EOF) {
			return
		}
		if err == nil {
			err = f(p)
			parquet.Release(p)
		}
		if err != nil {
			g.fail(name, "cannot be read: %v", err)
			return
		}
	}
}

// values hands the values of a page to f, one by one.
func values(p parquet.Page, f func(parquet.Value)) error {
	var buf [256]parquet.Value
	r := p.Values()
	for {
		n, err := r.ReadValues(buf[:])
		for _, v := range buf[:n] {
			f(v)
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if n == 0 {
			return io.ErrNoProgress
		}
	}
}
