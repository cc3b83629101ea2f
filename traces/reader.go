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
)

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
	place int64  // line or row of the current record, from 1
	blank int64  // lines of white space before the content, already passed over
	long  []byte // a line that r's buffer does not hold, reused
	rows  int    // how many are expected, 0 if nobody knows
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

// format finds the format by name or content.
func (in *input) format() (*Format, error) {
	head, err := in.head()
	if err != nil {
		return nil, err
	}
	if err := checkHead(head); err != nil {
		return nil, err
	}
	if in.o.Format != "" {
		return byName(in.o.Format)
	}
	return byContent(head)
}

var errEmpty = errors.New("the file is empty, want a trace")

// head returns the first bytes of the content, white space before it cut off.
func (in *input) head() ([]byte, error) {
	for {
		head, err := in.r.Peek(4096)
		if err != nil && err != io.EOF {
			return nil, err
		}
		if text := bytes.TrimLeft(bytes.TrimPrefix(head, bom), " \t\r\n"); len(text) > 0 {
			return text, nil
		}
		if err == io.EOF {
			return nil, errEmpty
		}
		in.blank += int64(bytes.Count(head, []byte{'\n'}))
		if _, err := in.r.Discard(len(head)); err != nil {
			return nil, err
		}
	}
}

// errorf returns an error that names the place.
func (in *input) errorf(line int64, format string, args ...any) error {
	return fmt.Errorf("%s:%d: %w", in.name, line, fmt.Errorf(format, args...))
}

func (in *input) note(format string, args ...any) {
	in.notes = append(in.notes, fmt.Sprintf(format, args...))
}
