package traces

import (
	"errors"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go"
)

// group reads the columns of a row group by name and keeps the first error.
type group struct {
	file *parquet.File
	rg   parquet.RowGroup
	err  error
}

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

func (g *group) fail(name, format string, args ...any) {
	if g.err == nil {
		g.err = fmt.Errorf("column %s %s", name, fmt.Sprintf(format, args...))
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

// ints reads a column of whole numbers, null as Unknown. It is all Unknown if the file has no such column.
func (g *group) ints(name string) column[int64] {
	out := column[int64]{missing: Unknown}
	c := g.leaf(name)
	if c == nil || g.err != nil {
		return out
	}
	if k := c.Type().Kind(); k != parquet.Int32 && k != parquet.Int64 {
		g.fail(name, "is of type %v, want INT64", c.Type())
		return out
	}
	fill(g, name, c, &out, whole)
	return out
}

func whole(v parquet.Value) int64 {
	switch v.Kind() {
	case parquet.Int64:
		return v.Int64()
	case parquet.Int32:
		return int64(v.Int32())
	}
	return Unknown
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
	})
	return out
}

// fill fills a column from a leaf with one value a row.
func fill[T comparable](g *group, name string, c *parquet.Column, out *column[T], get func(parquet.Value) T) {
	row := 0
	g.pages(name, c, func(p parquet.Page) error {
		if p.NumNulls() == p.NumValues() {
			row += int(p.NumValues())
			return nil
		}
		if out.values == nil {
			out.values = make([]T, 0, g.rg.NumRows())
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

// lists reads a column of lists of whole numbers, null as nil. It returns nil if the file has no such column.
func (g *group) lists(name string) [][]int64 {
	c := g.leaf(name)
	if c == nil || g.err != nil {
		return nil
	}
	if c.Type().Kind() != parquet.Int64 || c.MaxRepetitionLevel() != 1 {
		g.fail(name, "is %v, want a list of INT64", c)
		return nil
	}
	l := listReader{
		full:     byte(c.MaxDefinitionLevel()),
		nullable: g.file.Root().Column(name).Optional(),
		starts:   make([]int, 0, g.rg.NumRows()+1),
		null:     make([]bool, 0, g.rg.NumRows()),
		ids:      make([]int64, 0, min(g.rg.ColumnChunks()[c.Index()].NumValues(), groupBlocks)),
	}
	g.pages(name, c, l.page)
	g.count(name, len(l.starts))
	return l.lists()
}

// listReader puts a column's lists together from levels and values
// (https://github.com/apache/parquet-format/blob/master/LogicalTypes.md#lists).
type listReader struct {
	full     byte // definition level of a value
	nullable bool // level 0 is a null list; otherwise an empty one

	ids    []int64
	starts []int
	null   []bool
}

var errNullBlock = errors.New("a block id is null")

func (l *listReader) page(p parquet.Page) error {
	rep, def := p.RepetitionLevels(), p.DefinitionLevels()
	if len(rep) != len(def) {
		return errors.New("levels are missing")
	}
	if err := l.data(p); err != nil {
		return err
	}
	at := len(l.ids)
	for _, d := range def {
		if d == l.full {
			at--
		}
	}
	if at < 0 {
		return errors.New("values are missing")
	}
	for i, d := range def {
		if rep[i] == 0 {
			l.starts = append(l.starts, at)
			l.null = append(l.null, d == 0 && l.nullable)
		}
		switch {
		case d == l.full:
			at++
		case rep[i] != 0 || d > 1 || d == 1 && !l.nullable:
			return errNullBlock
		}
	}
	return nil
}

// data appends a page's values, without nulls.
func (l *listReader) data(p parquet.Page) error {
	if p.Dictionary() == nil {
		data := p.Data()
		l.ids = append(l.ids, data.Int64()...)
		return nil
	}
	return values(p, func(v parquet.Value) {
		if !v.IsNull() {
			l.ids = append(l.ids, v.Int64())
		}
	})
}

// lists cuts the ids at the starts of the rows. Each list has room for one more, a partial block.
func (l *listReader) lists() [][]int64 {
	out := make([][]int64, len(l.starts))
	room := make([]int64, len(l.ids)+len(l.starts))
	for i, from := range l.starts {
		to := len(l.ids)
		if i+1 < len(l.starts) {
			to = l.starts[i+1]
		}
		if !l.null[i] {
			n := copy(room, l.ids[from:to])
			out[i], room = room[:n:n+1], room[n+1:]
		}
	}
	return out
}
