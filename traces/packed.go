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

var (
	gzipMagic = []byte{0x1f, 0x8b}
	zstdMagic = []byte{0x28, 0xb5, 0x2f, 0xfd}
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
		return errEmpty
	case starts(head, gzipMagic):
		z, err := gzip.NewReader(packed)
		if err != nil {
			return unpackError("gzip", err)
		}
		z.Multistream(false)
		in.r = bufio.NewReaderSize(&gzipMembers{z, packed}, 1<<16)
	case len(head) > 1 && starts(head, zstdMagic):
		z, err := zstd.NewReader(packed, zstd.WithDecoderConcurrency(1))
		if err != nil {
			return unpackError("zstd", err)
		}
		in.r = bufio.NewReaderSize(&zstdFrames{z, packed}, 1<<16)
	default:
		in.r = packed
		in.raw, in.size = seekable(r)
	}
	return nil
}

// starts reports whether content starts with magic bytes, or is no more than a part of them.
func starts(head, magic []byte) bool {
	n := min(len(head), len(magic))
	return bytes.Equal(head[:n], magic[:n])
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

// gzipMembers unpacks gzip members, one after another. Zero bytes behind the last are padding, as for GNU gzip.
type gzipMembers struct {
	z      *gzip.Reader
	packed *bufio.Reader
}

func (g *gzipMembers) Read(p []byte) (int, error) {
	for {
		n, err := g.z.Read(p)
		switch {
		case err != nil && err != io.EOF:
			return n, unpackError("gzip", err)
		case n > 0 || err == nil:
			return n, nil // at its end, the member says so again
		}
		if err := g.next(); err != nil {
			return 0, err
		}
	}
}

// next begins the next member. The error is io.EOF if there is none.
func (g *gzipMembers) next() error {
	head, err := g.packed.Peek(len(gzipMagic))
	if err != nil && err != io.EOF {
		return err
	}
	if !bytes.Equal(head, gzipMagic) {
		n, zero, err := drain(g.packed)
		if err == nil && zero {
			return io.EOF
		}
		return errors.Join(err, junk("gzip", n))
	}
	if err := g.z.Reset(g.packed); err != nil {
		return unpackError("gzip", err)
	}
	g.z.Multistream(false)
	return nil
}

// drain reads the rest, counts its bytes and says whether all of them are zero.
func drain(r io.Reader) (n int64, zero bool, err error) {
	buf, zero := make([]byte, 1<<12), true
	for {
		k, err := r.Read(buf)
		n += int64(k)
		zero = zero && len(bytes.Trim(buf[:k], "\x00")) == 0
		if err == io.EOF {
			return n, zero, nil
		}
		if err != nil {
			return n, zero, err
		}
	}
}

// zstdFrames unpacks zstd frames, one after another.
type zstdFrames struct {
	z      *zstd.Decoder
	packed *bufio.Reader
}

func (z *zstdFrames) Read(p []byte) (int, error) {
	n, err := z.z.Read(p)
	if errors.Is(err, zstd.ErrMagicMismatch) { // not of the first frame, by which the packing was told
		rest, _, err := drain(z.packed)
		return n, errors.Join(err, junk("zstd", rest+int64(len(zstdMagic))))
	}
	if err != nil && err != io.EOF {
		err = unpackError("zstd", err)
	}
	return n, err
}

func junk(how string, n int64) error {
	if n == 1 {
		return fmt.Errorf("1 byte follows the end of the %s data", how)
	}
	return fmt.Errorf("%d bytes follow the end of the %s data", n, how)
}

func unpackError(how string, err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return fmt.Errorf("the %s data ends too early: the file is incomplete", how)
	}
	return fmt.Errorf("the %s data is broken: %w", how, err)
}
