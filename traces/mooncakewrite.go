package traces

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
)

func writeMooncake(w io.Writer, t *Trace) error {
	b := bufio.NewWriterSize(w, 1<<16)
	var buf []byte
	for r := range t.Records() {
		buf = appendMooncake(buf[:0], &r, t.Meta.BlockSize)
		if _, err := b.Write(buf); err != nil {
			return err
		}
	}
	return b.Flush()
}

// appendMooncake writes a row. A block size that is not the format's usual one goes with every row, as an extra key, so
// that a slice of the file still has it.
func appendMooncake(b []byte, r *Record, blockSize int32) []byte {
	b = append(b, `{"timestamp": `...)
	b = appendMs(b, r.ArrivalNs)
	b = append(b, `, "input_length": `...)
	b = strconv.AppendInt(b, int64(r.PromptTokens), 10)
	b = append(b, `, "output_length": `...)
	b = strconv.AppendInt(b, int64(max(r.OutputTokens, 1)), 10)
	if r.Blocks != nil && blockSize != mooncakeBlock {
		b = append(b, `, "block_size": `...)
		b = strconv.AppendInt(b, int64(blockSize), 10)
	}
	if r.Blocks != nil {
		b = append(b, `, "hash_ids": [`...)
		for i, id := range r.Blocks {
			if i > 0 {
				b = append(b, ", "...)
			}
			b = strconv.AppendInt(b, id, 10)
		}
		b = append(b, ']')
	}
	for _, n := range nameKeys {
		if name := *n.at(r); name != "" {
			b = fmt.Appendf(b, ", %q: ", n.key)
			b = appendString(b, name)
		}
	}
	return append(b, "}\n"...)
}

// appendString writes a string as JSON.
func appendString(b []byte, s string) []byte {
	text, err := json.Marshal(s)
	if err != nil {
		panic("traces: a string has no JSON: " + err.Error())
	}
	return append(b, text...)
}

// appendMs writes nanoseconds as milliseconds, exactly.
func appendMs(b []byte, ns int64) []byte {
	b = strconv.AppendInt(b, ns/1e6, 10)
	if part := ns % 1e6; part != 0 {
		b = append(b, '.')
		b = append(b, strings.TrimRight(fmt.Sprintf("%06d", part), "0")...)
	}
	return b
}

// lostInMooncake names the columns that the format has no place for.
func lostInMooncake(t *Trace) []string {
	var lost []string
	for _, c := range []struct {
		name string
		col  []int32
		none int32
	}{
		{"max_tokens", t.MaxTokens, Unknown},
	} {
		if countEqual(c.col, c.none) < len(c.col) {
			lost = append(lost, c.name)
		}
	}
	if countEqual(t.Output, Unknown) > 0 {
		lost = append(lost, "output_tokens (unknown ones become 1)")
	}
	return lost
}
