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
		starts:   make([]int, 0, hint(g.rg.NumRows())),
		null:     make([]bool, 0, hint(g.rg.NumRows())),
		ids:      make([]int64, 0, hint(g.rg.ColumnChunks()[c.Index()].NumValues()+g.rg.NumRows())),
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

	ids    []int64 // of all rows, a free place after each: a partial block may follow
	starts []int
	null   []bool
}

var errNullBlock = errors.New("a block id is null")

func (l *listReader) page(p parquet.Page) error {
	rep, def := p.RepetitionLevels(), p.DefinitionLevels()
	if len(rep) != len(def) {
		return errors.New("levels are missing")
	}
	ids, err := blockIDs(p)
	if err != nil {
		return err
	}
	for i := 0; i < len(def); {
		if rep[i] == 0 {
			l.begin(def[i] == 0 && l.nullable)
		}
		if def[i] != l.full {
			if rep[i] != 0 || def[i] > 1 || def[i] == 1 && !l.nullable {
				return errNullBlock
			}
			i++
			continue
		}
		n := 1 // values in a row
		for i+n < len(def) && def[i+n] == l.full && rep[i+n] != 0 {
			n++
		}
		if n > len(ids) {
			return errors.New("values are missing")
		}
		l.ids, ids = append(l.ids, ids[:n]...), ids[n:]
		i += n
	}
	return nil
}

// begin starts the next row's list.
func (l *listReader) begin(null bool) {
	if len(l.starts) > 0 {
		l.ids = append(l.ids, 0)
	}
	l.starts = append(l.starts, len(l.ids))
	l.null = append(l.null, null)
}

// blockIDs returns a page's values, without nulls. They are valid as long as the page.
func blockIDs(p parquet.Page) ([]int64, error) {
	if p.Dictionary() == nil {
		data := p.Data()
		return data.Int64(), nil
	}
	var ids []int64
	err := values(p, func(v parquet.Value) {
		if !v.IsNull() {
			ids = append(ids, v.Int64())
		}
	})
	return ids, err
}

// lists cuts the ids at the starts of the rows. Each list has room for one more.
func (l *listReader) lists() [][]int64 {
	l.ids = append(l.ids, 0)
	out := make([][]int64, len(l.starts))
	for i, from := range l.starts {
		to := len(l.ids) - 1
		if i+1 < len(l.starts) {
			to = l.starts[i+1] - 1
		}
		if !l.null[i] {
			out[i] = l.ids[from : to : to+1]
		}
	}
	return out
}
