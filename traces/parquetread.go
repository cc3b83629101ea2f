package traces

import (
	"bytes"
	"fmt"
	"iter"

	"github.com/parquet-go/parquet-go"
)

// hint bounds how much room a file's own claim about its size makes.
func hint(n int64) int { return int(max(0, min(n, 1<<22))) }

func detectParquet(head []byte) bool { return bytes.HasPrefix(head, parquetMagic) }

func readParquet(in *input) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		in.sum = nil // provenance is that of the source, not of this file
		p := parquetReader{in: in, yield: yield}
		if err := p.read(); err != nil {
			yield(Record{}, fmt.Errorf("%s: %w", in.name, err))
		}
	}
}

// parquetReader reads a file row group by row group, each column at once.
type parquetReader struct {
	in    *input
	file  *parquet.File
	yield func(Record, error) bool
	row   int64 // rows before the current group

	stopped bool // no more records are wanted

	prefixes prefixes // of all rows before, in a compact file

	policy string // an outcome file's first policy
	others bool   // rows of other policies were passed over
}

func (p *parquetReader) read() error {
	var err error
	if p.file, err = openParquet(p.in); err != nil {
		return err
	}
	meta, err := parseMeta(p.file.Lookup)
	if err != nil {
		return err
	}
	p.in.meta = meta
	p.in.rows = hint(p.file.NumRows())
	if limit := p.in.o.Limit; limit > 0 {
		p.in.rows = min(p.in.rows, limit)
	}
	if meta.BlockSize == 0 {
		p.in.meta.BlockSize = int32(p.in.o.BlockSize)
	}
	for i, rg := range p.file.RowGroups() {
		g := group{file: p.file, rg: rg, meta: &p.file.Metadata().RowGroups[i]}
		var rows *rows
		if err := guard(func() error { rows = g.rows(); return g.err }); err != nil {
			return err
		}
		if p.records(rows); p.stopped {
			return nil
		}
		p.row += rg.NumRows()
	}
	if p.others {
		p.in.note("the file has the outcomes of several policies: the trace is made of the rows of the first, %q", p.policy)
	}
	return nil
}

// records yields the rows of a group. Their places are rows of the file, counted from 1.
func (p *parquetReader) records(rows *rows) {
	for i := range rows.n {
		p.in.place = p.row + int64(i) + 1
		err := p.expand(rows, i)
		if err == nil && p.skip(rows, i) {
			continue
		}
		r := Record{}
		if err == nil {
			r, err = p.record(rows, i)
		}
		if err != nil {
			err = p.in.errorf(p.in.place, "%w", err)
		}
		if !p.yield(r, err) || err != nil {
			p.stopped = true
			return
		}
	}
}

// expand completes the blocks of a row in a compact file.
func (p *parquetReader) expand(rows *rows, i int) error {
	if !rows.compact {
		return nil
	}
	if rows.blocks == nil {
		rows.blocks = make([][]int64, rows.n)
	}
	if err := p.prefixes.add(nullUnknown(rows.prefixRow.at(i)), nullUnknown(rows.prefixBlocks.at(i)), rows.blocks[i]); err != nil {
		return err
	}
	rows.blocks[i] = p.prefixes.last()
	return nil
}

func (p *parquetReader) record(rows *rows, i int) (Record, error) {
	r, err := rows.record(i, p.in.place)
	if err != nil || r.Blocks == nil {
		return r, err
	}
	if _, err := tailOf(len(r.Blocks), r.PromptTokens, p.in.meta.BlockSize); err != nil {
		return r, err
	}
	if tail := p.in.meta.BlockTail; tail != TailCeil && tail != TailFloor {
		return r, fmt.Errorf("the row has blocks, but the file's key \"block_tail\" is %q, want %s or %s", tail, TailCeil, TailFloor)
	}
	return r, nil
}

// skip passes over the rows of an outcome file that are not the first policy's.
func (p *parquetReader) skip(rows *rows, i int) bool {
	if !rows.outcomes {
		return false
	}
	policy := rows.policy.at(i)
	if p.policy == "" {
		p.policy = policy
	}
	p.others = p.others || policy != p.policy
	return policy != p.policy
}
