package traces

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"
	"slices"
)

// digest hashes what a replay depends on. Blocks go in as the forest, which is numbered by first appearance: equal
// requests give equal digests whatever ids a file used for their blocks.
func digest(t *Trace) string {
	d := digester{h: sha256.New()}
	d.text("triage/trace/digest/v1")
	d.number(int64(t.Meta.BlockSize))
	d.number(int64(t.Len()))
	last := int64(0)
	for _, a := range t.ArrivalNs {
		d.number(a - last)
		last = a
	}
	columns := t.int32Columns()
	if last := len(columns) - 1; !slices.ContainsFunc(*columns[last], func(name int32) bool { return name != 0 }) {
		columns = columns[:last]
	}
	for _, c := range columns {
		d.column(*c)
	}
	for row := range t.extra.empty.values {
		if t.extra.empty.at(row) {
			d.number(int64(row))
		}
	}
	d.number(int64(len(t.Strings)))
	for _, s := range t.Strings {
		d.text(s)
	}
	d.number(int64(len(t.Forest.Parent)))
	d.column(t.Forest.Parent)
	d.column(t.Forest.End)
	return "sha256:" + hex.EncodeToString(d.sum())
}

// digester hashes numbers and texts through a buffer.
type digester struct {
	h   hash.Hash
	buf []byte
}

func (d *digester) number(v int64) {
	d.buf = binary.AppendVarint(d.buf, v)
	if len(d.buf) > 1<<14 {
		d.flush()
	}
}

func (d *digester) column(c []int32) {
	for _, v := range c {
		d.number(int64(v))
	}
}

func (d *digester) text(s string) {
	d.number(int64(len(s)))
	d.buf = append(d.buf, s...)
}

func (d *digester) flush() {
	d.h.Write(d.buf)
	d.buf = d.buf[:0]
}

func (d *digester) sum() []byte {
	d.flush()
	return d.h.Sum(nil)
}
