package traces

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

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
