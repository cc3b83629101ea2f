package traces

import (
	"bufio"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
)

// digest hashes what a replay depends on. Blocks go in as the forest, which is numbered by first appearance: equal
// requests give equal digests whatever ids a file used for their blocks.
func digest(t *Trace) string {
	h := sha256.New()
	w := bufio.NewWriterSize(h, 1<<14)
	var buf [binary.MaxVarintLen64]byte
	put := func(v int64) { w.Write(buf[:binary.PutVarint(buf[:], v)]) }
	w.WriteString("triage/trace/digest/v1\n")
	put(int64(t.Meta.BlockSize))
	put(int64(t.Len()))
	last := int64(0)
	for _, a := range t.ArrivalNs {
		put(a - last)
		last = a
	}
	for _, c := range [][]int32{t.Prompt, t.Output, t.MaxTokens, t.Model, t.Adapter, t.Tenant, t.Session, t.SLO, t.Leaf} {
		for _, v := range c {
			put(int64(v))
		}
	}
	for row := range t.Len() {
		if t.extra.empty.at(row) {
			put(int64(row))
		}
	}
	put(int64(len(t.Strings)))
	for _, s := range t.Strings {
		put(int64(len(s)))
		w.WriteString(s)
	}
	put(int64(len(t.Forest.Parent)))
	for n, p := range t.Forest.Parent {
		put(int64(p))
		put(int64(t.Forest.End[n]))
	}
	w.Flush()
	return "sha256:" + hex.EncodeToString(h.Sum(nil))
}
