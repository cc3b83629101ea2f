package traces

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"

	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// The library makes room for what a file says of its sizes before it has read the data, so that a broken byte can ask
// for any amount of memory. What is said is held against these bounds and against the bytes that are there first.
const (
	maxChunk  = 1 << 31 // bytes of a column in a row group, unpacked
	maxPage   = 1 << 28 // bytes of a page, unpacked
	maxValues = 1 << 26 // values of a page
)

// codecs have the most bytes that one packed byte can stand for. Others of the format's codecs are refused: the
// library cannot bound what it unpacks from LZ4_RAW, and the rest are rare or obsolete.
var codecs = map[format.CompressionCodec]int64{
	format.Uncompressed: 1,
	format.Snappy:       64,        // a copy of 64 bytes takes 2 or 3 (https://github.com/google/snappy/blob/main/format_description.txt)
	format.Gzip:         1032,      // https://zlib.net/zlib_tech.html
	format.Zstd:         1<<15 + 1, // a block of 128 KiB takes 4 bytes (https://www.rfc-editor.org/rfc/rfc8878#section-3.1.1.2)
}

// chunkGuard checks what a column's part of a row group says of its sizes, before it is unpacked.
type chunkGuard struct {
	file   io.ReaderAt
	codec  format.CompressionCodec
	at     int64 // the next page
	end    int64
	header format.PageHeader
	body   []byte // the first bytes of the page's data, levels passed over
}

// checkChunk reads the page headers of a column chunk in a file of a size.
func checkChunk(file io.ReaderAt, size int64, m *format.ColumnMetaData) error {
	grow, ok := codecs[m.Codec]
	if !ok {
		return fmt.Errorf("is compressed with %v, want UNCOMPRESSED, SNAPPY, GZIP or ZSTD", m.Codec)
	}
	g := chunkGuard{file: file, codec: m.Codec, at: chunkStart(m)}
	if m.TotalCompressedSize < 0 || g.at < 0 || g.at > size || m.TotalCompressedSize > size-g.at {
		return fmt.Errorf("has %d bytes from byte %d, but the file has %d", m.TotalCompressedSize, g.at, size)
	}
	if most := min(grow*size, maxChunk); m.TotalUncompressedSize < 0 || m.TotalUncompressedSize > most {
		return fmt.Errorf("has %d bytes unpacked, want at most %d of a file of %d bytes", m.TotalUncompressedSize, most, size)
	}
	g.end = g.at + m.TotalCompressedSize
	for g.at < g.end {
		if err := g.page(grow); err != nil {
			return err
		}
	}
	return nil
}

// chunkStart is where a chunk's first page is.
func chunkStart(m *format.ColumnMetaData) int64 {
	if m.DictionaryPageOffset != 0 {
		return m.DictionaryPageOffset
	}
	return m.DataPageOffset
}

// page checks the next page.
func (g *chunkGuard) page(grow int64) error {
	start := g.at
	if err := g.next(); err != nil {
		return fmt.Errorf("has a bad page header at byte %d: %w", start, err)
	}
	packed, unpacked := int64(g.header.CompressedPageSize), int64(g.header.UncompressedPageSize)
	if packed < 0 || packed > g.end-g.at {
		return fmt.Errorf("has a page of %d bytes at byte %d, where %d are left", packed, start, g.end-g.at)
	}
	if most := min(grow*packed+64, maxPage); unpacked < 0 || unpacked > most {
		return fmt.Errorf("has a page of %d bytes unpacked at byte %d, want at most %d of %d bytes", unpacked, start, most, packed)
	}
	if n := g.values(); n < 0 || n > maxValues {
		return fmt.Errorf("has a page of %d values at byte %d, want at most %d", n, start, maxValues)
	}
	if says := unpackedSize(g.codec, g.body); says > unpacked {
		return fmt.Errorf("has a page of %d bytes unpacked at byte %d, but its data is of %d", unpacked, start, says)
	}
	g.at += packed
	return nil
}

// next reads a page header, and moves to the data behind it.
func (g *chunkGuard) next() error {
	var err error
	for window := int64(1 << 12); ; window <<= 4 {
		buf := make([]byte, min(window, g.end-g.at))
		if _, err := g.file.ReadAt(buf, g.at); err != nil && err != io.EOF {
			return err
		}
		r := new(thrift.CompactProtocol).NewReaderFromBytes(buf)
		g.header = format.PageHeader{}
		if err = thrift.NewDecoder(r).Decode(&g.header); err == nil {
			g.at += int64(r.BytesRead())
			g.body = g.skipLevels(buf[r.BytesRead():])
			return nil
		}
		if int64(len(buf)) < window || window >= 1<<20 {
			return err
		}
	}
}

// skipLevels passes over what comes before the packed data: the levels of the newer kind of page. It returns nothing
// for a page that is not packed.
func (g *chunkGuard) skipLevels(data []byte) []byte {
	h := g.header.DataPageHeaderV2
	if !h.Valid {
		return data
	}
	levels := int64(h.V.RepetitionLevelsByteLength) + int64(h.V.DefinitionLevelsByteLength)
	if levels < 0 || levels > int64(len(data)) || h.V.IsCompressed.Valid && !h.V.IsCompressed.V {
		return nil
	}
	return data[levels:]
}

// values is the number of values that the page says it has.
func (g *chunkGuard) values() int32 {
	switch h := &g.header; {
	case h.DataPageHeader.Valid:
		return h.DataPageHeader.V.NumValues
	case h.DataPageHeaderV2.Valid:
		return h.DataPageHeaderV2.V.NumValues
	case h.DictionaryPageHeader.Valid:
		return h.DictionaryPageHeader.V.NumValues
	}
	return 0
}

// unpackedSize is the size that packed data says it has unpacked, 0 if it says none.
func unpackedSize(codec format.CompressionCodec, data []byte) int64 {
	n := uint64(0)
	switch codec {
	case format.Snappy:
		n, _ = binary.Uvarint(data)
	case format.Zstd:
		var h zstd.Header
		if h.Decode(data) == nil && h.HasFCS {
			n = h.FrameContentSize
		}
	}
	return int64(min(n, math.MaxInt64))
}
