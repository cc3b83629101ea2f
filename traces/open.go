package traces

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"iter"
	"os"
	"path/filepath"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// Options say how to read a trace. The zero value detects everything.
type Options struct {
	Format    string // by name; "" detects it from the content
	BlockSize int    // tokens behind one block id, where the file does not say; 0 takes the format's default
	Limit     int    // read only the first rows of the file; 0 reads all
}

// Open loads a trace: a file, "-" for standard input, or "demo" for the embedded one. Files may be packed with gzip
// or zstd.
func Open(name string, o Options) (*Trace, error) {
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
		b.forest.block = m.BlockSize
		b.rebase = m.T0UnixNs != Unknown
		b.Grow(rows)
	}
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

// Reader reads the rows of one trace.
type Reader struct {
	format *Format
	in     *input
}

// input is what a format reads from and what it says about the trace beside the rows.
type input struct {
	name  string
	r     *bufio.Reader
	raw   io.ReaderAt // the file itself if it can be read at any place; nil otherwise
	size  int64       // of raw
	sum   hash.Hash   // over the bytes as stored, nil where nobody asks
	under io.Reader   // the stored bytes on their way into sum
	o     Options
	place int64 // line or row of the current record, from 1
	rows  int   // how many are expected, 0 if nobody knows
	meta  Meta
	notes []string
}

// NewReader returns a reader of r's records. Errors start with the name, the records' with name:line.
func NewReader(name string, r io.Reader, o Options) (*Reader, error) {
	if o.BlockSize < 0 || o.BlockSize > 1<<20 {
		return nil, fmt.Errorf("block size is %d, want 1 to %d", o.BlockSize, 1<<20)
	}
	in := &input{name: name, o: o, sum: sha256.New(), meta: Meta{T0UnixNs: Unknown, TimeResolution: Unknown}}
	if err := in.open(r); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	f, err := in.format()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	in.meta.SourceFormat = f.Name
	return &Reader{format: f, in: in}, nil
}

// Read returns the records of r in a format, "" to detect it. The first error ends the sequence.
func Read(format string, r io.Reader, o Options) iter.Seq2[Record, error] {
	o.Format = format
	return func(yield func(Record, error) bool) {
		rd, err := NewReader("input", r, o)
		if err != nil {
			yield(Record{}, err)
			return
		}
		rd.Records()(yield)
	}
}

// Records yields the rows in file order, one at a time. The first error ends them.
func (r *Reader) Records() iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		n := 0
		for rec, err := range r.format.read(r.in) {
			if !yield(rec, err) || err != nil {
				return
			}
			if n++; n == r.in.o.Limit {
				r.in.sum = nil // the rest is not read
				return
			}
		}
	}
}

// Meta returns what the file says of itself. It is complete after the last record.
func (r *Reader) Meta() Meta {
	m := r.in.meta
	if m.SourceSHA256 == "" && r.in.sum != nil {
		if _, err := io.Copy(io.Discard, r.in.under); err == nil {
			m.SourceSHA256 = hex.EncodeToString(r.in.sum.Sum(nil))
		}
	}
	return m
}

// Notes returns what was inferred or doubtful. It is complete after the last record.
func (r *Reader) Notes() []string { return r.in.notes }

// open looks through gzip and zstd.
func (in *input) open(r io.Reader) error {
	in.under = io.TeeReader(r, in.sum)
	packed := bufio.NewReaderSize(in.under, 1<<16)
	head, err := packed.Peek(4)
	if err != nil && err != io.EOF {
		return err
	}
	switch {
	case len(head) == 0:
		return errors.New("the file is empty, want a trace")
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b}):
		z, err := gzip.NewReader(packed)
		if err != nil {
			return unpackError("gzip", err)
		}
		in.r = bufio.NewReaderSize(unpacking{"gzip", z}, 1<<16)
	case bytes.HasPrefix(head, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		z, err := zstd.NewReader(packed, zstd.WithDecoderConcurrency(1))
		if err != nil {
			return unpackError("zstd", err)
		}
		in.r = bufio.NewReaderSize(unpacking{"zstd", z}, 1<<16)
	default:
		in.r = packed
		in.raw, in.size = seekable(r)
	}
	return nil
}

// seekable returns a regular file's contents for reading at any place.
func seekable(r io.Reader) (io.ReaderAt, int64) {
	switch f := r.(type) {
	case *os.File:
		if st, err := f.Stat(); err == nil && st.Mode().IsRegular() {
			return f, st.Size()
		}
	case *bytes.Reader:
		return f, f.Size()
	}
	return nil, 0
}

// format finds the format by name or content.
func (in *input) format() (*Format, error) {
	head, err := in.r.Peek(4096)
	if err != nil && err != io.EOF {
		return nil, err
	}
	if len(bytes.TrimSpace(head)) == 0 {
		return nil, errors.New("the file is empty, want a trace")
	}
	if in.o.Format != "" {
		return byName(in.o.Format)
	}
	return byContent(head)
}

// unpacking names the packing in the errors of an unpacked stream.
type unpacking struct {
	how string
	r   io.Reader
}

func (u unpacking) Read(p []byte) (int, error) {
	n, err := u.r.Read(p)
	if err != nil && err != io.EOF {
		err = unpackError(u.how, err)
	}
	return n, err
}

func unpackError(how string, err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return fmt.Errorf("the %s data ends too early: the file is incomplete", how)
	}
	return fmt.Errorf("the %s data is broken: %w", how, err)
}

// errorf returns an error that names the place.
func (in *input) errorf(line int64, format string, args ...any) error {
	return fmt.Errorf("%s:%d: %w", in.name, line, fmt.Errorf(format, args...))
}

func (in *input) note(format string, args ...any) {
	in.notes = append(in.notes, fmt.Sprintf(format, args...))
}
