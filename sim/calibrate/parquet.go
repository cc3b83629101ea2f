package calibrate

import (
	"bytes"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go"

	"github.com/seed-2cee110a/triage/traces"
)

// readParquet reads columns of single values. Where the file is a trace or outcomes of this project, its blocks say
// which prompts are alike.
func (l *Log) readParquet(data []byte, o ReadOptions) (err error) {
	defer func() { // the library panics on some broken files
		if p := recover(); p != nil {
			err = fmt.Errorf("%s: the Parquet data is broken: %v", l.Name, p)
		}
	}()
	f, err := parquet.OpenFile(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return fmt.Errorf("%s: the Parquet data is broken or incomplete: %w", l.Name, err)
	}
	var have []string
	leaf := map[int]int{} // column of a value to index in have
	for i, path := range f.Schema().Columns() {
		if len(path) == 1 {
			leaf[i] = len(have)
			have = append(have, path[0])
		}
	}
	column, at := header(have)
	use, err := l.reader(column, o)
	if err != nil {
		return fmt.Errorf("%s: %w", l.Name, err)
	}
	blocks, err := l.blocks(data, o)
	if err != nil {
		return err
	}
	line := int64(0)
	for _, g := range f.RowGroups() {
		rows := g.Rows()
		buffer := make([]parquet.Row, 256)
		for {
			n, err := rows.ReadRows(buffer)
			for _, values := range buffer[:n] {
				line++
				r := &row{at: fmt.Sprintf("%s:%d", l.Name, line), line: line, column: column, blocks: blocks[line]}
				r.fill(values, leaf, at)
				if err := use(r); err != nil {
					rows.Close()
					return err
				}
			}
			if err == io.EOF {
				break
			}
			if err != nil {
				return fmt.Errorf("%s: %w", l.Name, err)
			}
		}
		if err := rows.Close(); err != nil {
			return fmt.Errorf("%s: %w", l.Name, err)
		}
	}
	return nil
}

// fill takes the texts of a row's values.
func (r *row) fill(values parquet.Row, leaf map[int]int, at [numFields]int) {
	for _, v := range values {
		i, ok := leaf[v.Column()]
		if !ok || v.IsNull() {
			continue
		}
		for f := range at {
			if at[f] == i {
				r.text[f] = v.String()
			}
		}
	}
}

// blocks returns the prompts' blocks by row, if the file is one of this project's.
func (l *Log) blocks(data []byte, o ReadOptions) (map[int64][]int64, error) {
	out := map[int64][]int64{}
	if l.prompts != nil {
		return out, nil
	}
	rd, err := traces.NewReader(l.Name, bytes.NewReader(data), traces.Options{BlockSize: o.BlockSize})
	if err != nil {
		return out, nil // a file of somebody else
	}
	for rec, err := range rd.Records() {
		if err != nil {
			return map[int64][]int64{}, nil
		}
		if len(rec.Blocks) > 0 {
			out[rec.Line] = append([]int64(nil), rec.Blocks...)
		}
	}
	l.blockSize = rd.Meta().BlockSize
	return out, nil
}
