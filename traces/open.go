package traces

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// Options say how to read a trace. The zero value detects everything.
type Options struct {
	Format    string // by name; "" detects it from the content
	BlockSize int    // tokens behind one block id, where the file does not say; 0 takes the format's default
	Limit     int    // read only the first rows of the file; 0 reads all

	Adapters Adapters // an overlay that Open lays over what was read
}

// Open loads a trace: a file, "-" for standard input, or "demo" for the embedded one. Files may be packed with gzip
// or zstd.
func Open(name string, o Options) (*Trace, error) {
	t, err := openPlain(name, o)
	if err != nil || o.Adapters.None() {
		return t, err
	}
	return t.WithAdapters(o.Adapters)
}

// openPlain loads a trace as it is.
func openPlain(name string, o Options) (*Trace, error) {
	switch name {
	case "demo":
		return openDemo(o)
	case "-":
		return load("stdin", os.Stdin, o)
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, fileError(name, err)
	}
	defer f.Close()
	t, err := load(name, f, o)
	if err != nil {
		return nil, err
	}
	t.Name = filepath.Base(name)
	return t, nil
}

func fileError(name string, err error) error {
	var p *os.PathError
	if errors.As(err, &p) {
		err = p.Err
	}
	return fmt.Errorf("%s: %w", name, err)
}

// load reads a whole trace. Its errors start with the name.
func load(name string, r io.Reader, o Options) (*Trace, error) {
	rd, err := NewReader(name, r, o)
	if err != nil {
		return nil, err
	}
	b := NewBuilder(rd.in.meta)
	b.rebase = true
	for rec, err := range rd.Records() {
		if err != nil {
			return nil, err
		}
		b.follow(&rd.in.meta, rd.in.rows)
		if err := b.Add(rec); err != nil {
			return nil, rd.in.errorf(rd.in.place, "%w", err)
		}
	}
	return b.finish(name, rd)
}

// follow takes over what a reader learned at its first rows.
func (b *Builder) follow(m *Meta, rows int) {
	if b.t.Len() == 0 {
		b.t.Meta = *m
		b.rebase = m.T0UnixNs != Unknown
		b.Grow(rows)
	}
	b.t.Meta.BlockSize, b.forest.block = m.BlockSize, m.BlockSize // the first row with ids may say it
}

func (b *Builder) finish(name string, rd *Reader) (*Trace, error) {
	tail := b.t.Meta.BlockTail
	b.t.Meta = rd.Meta()
	b.t.Meta.BlockTail = tail
	b.notes = rd.Notes()
	t, err := b.Build()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	t.Name = name
	return t, nil
}
