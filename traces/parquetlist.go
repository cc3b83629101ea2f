package traces

import (
	"errors"

	"github.com/parquet-go/parquet-go"
)

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
