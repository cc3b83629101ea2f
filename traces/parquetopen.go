package traces

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
)

var parquetMagic = []byte("PAR1")

// openParquet opens the file itself, or all of what comes through a pipe or out of a packed file.
func openParquet(in *input) (f *parquet.File, err error) {
	raw, size := in.raw, in.size
	if raw == nil {
		all, err := io.ReadAll(in.r)
		if err != nil {
			return nil, err
		}
		raw, size = bytes.NewReader(all), int64(len(all))
	}
	footer, err := footerStart(raw, size)
	if err != nil {
		return nil, fmt.Errorf("the Parquet data is broken or incomplete: %w", err)
	}
	err = guard(func() error {
		f, err = parquet.OpenFile(raw, size, parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
		if err != nil {
			return fmt.Errorf("the Parquet data is broken or incomplete: %w", err)
		}
		return checkWhole(raw, footer, f.Metadata())
	})
	return f, err
}

// guard turns a panic into an error: the library panics on some broken files.
func guard(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the Parquet data is broken: %v", p)
		}
	}()
	return f()
}

// footerStart finds the footer: the file ends with its length and the magic bytes
// (https://github.com/apache/parquet-format#file-format).
func footerStart(raw io.ReaderAt, size int64) (int64, error) {
	if size < 12 {
		return 0, fmt.Errorf("%d bytes are too short to be Parquet", size)
	}
	var end [8]byte
	if _, err := raw.ReadAt(end[:], size-8); err != nil && err != io.EOF {
		return 0, err
	}
	if !bytes.Equal(end[4:], parquetMagic) {
		return 0, fmt.Errorf("it ends with %q, want %q", end[4:], parquetMagic)
	}
	n := int64(binary.LittleEndian.Uint32(end[:]))
	if n > size-12 {
		return 0, fmt.Errorf("its footer is said to have %d bytes, but the file has %d", n, size)
	}
	return size - 8 - n, nil
}

var errSeveral = errors.New("these are several Parquet files one after another, of which only the last has an index here; want one file, or each by itself")

// checkWhole tells files one after another: the index at the end counts bytes from the start of the last one.
func checkWhole(raw io.ReaderAt, footer int64, m *format.FileMetaData) error {
	first, end := footer, int64(len(parquetMagic))
	for _, rg := range m.RowGroups {
		for i := range rg.Columns {
			c := &rg.Columns[i]
			first = min(first, chunkStart(&c.MetaData))
			end = max(end, chunkStart(&c.MetaData)+c.MetaData.TotalCompressedSize,
				c.ColumnIndexOffset+int64(c.ColumnIndexLength), c.OffsetIndexOffset+int64(c.OffsetIndexLength))
		}
	}
	if first < footer && first != int64(len(parquetMagic)) {
		return fmt.Errorf("the first row group starts at byte %d, want 4: %w", first, errSeveral)
	}
	var head [4]byte
	if before := footer - end; before > 0 {
		if _, err := raw.ReadAt(head[:], before); err == nil && bytes.Equal(head[:], parquetMagic) {
			return errSeveral
		}
	}
	return nil
}
